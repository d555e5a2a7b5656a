"""``certus parse --with-tagger``: trained on one treebank, the two agree."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from certus import Tagger
from certus.cli.app import app
from certus.models.parser import ConstituencyParser
from certus.syntax import Tree, parse_jointly
from tests.models import invented
from tests.syntax import chunk_trees


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    folder = tmp_path_factory.mktemp("models")
    trees = folder / "train.mrg"
    trees.write_text(chunk_trees.text(150, 1), encoding="utf-8")
    parser, tagger = str(folder / "parser"), str(folder / "tagger")
    ConstituencyParser().fit(trees).save(parser)
    done = CliRunner().invoke(
        app,
        ["train", "tagger", str(trees), "--target", "xpos", "--order", "2", "--epochs", "3", "-o", tagger],
    )
    assert done.exit_code == 0, done.output
    return parser, tagger


def test_trees_are_those_of_the_joint_model(models: tuple[str, str]) -> None:
    sentences = invented.words(4, 9)
    arguments = ["parse", models[0], "--with-tagger", models[1], "--weight", "2", "--scores"]
    done = CliRunner().invoke(app, arguments, input="".join(" ".join(words) + "\n" for words in sentences))
    assert done.exit_code == 0, done.output
    lines = [line.split("\t") for line in done.stdout.splitlines() if line.startswith("1\t")]
    wanted = parse_jointly(
        ConstituencyParser.load(models[0]).grammar, Tagger.load(models[1]), sentences, weight=2, cover=True
    )
    assert [Tree.parse(line[-1]) for line in lines] == [answer.tree for answer in wanted]
    assert [float(line[1]) for line in lines] == pytest.approx([a.score for a in wanted], rel=1e-4)
    statuses = ["optimal" if a.optimal else "optimal in lattice" for a in wanted]
    assert [line[2] for line in lines] == statuses
    proven = statuses.count("optimal")
    assert proven > 0
    assert f"{proven} proven optimal" in done.stderr
    if proven < len(wanted):
        only = "proven the best within the tagger's pruned lattice only"
        assert f"{len(wanted) - proven} {only}" in done.stderr
    whole = CliRunner().invoke(app, [*arguments, "--pruning", "0", " ".join(sentences[0])])
    assert whole.stdout.split("\t")[2] == "optimal"
    assert whole.stderr == "1 sentence, 1 proven optimal\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--weight", "2"], "name one by --with-tagger"),
        (["--pruning", "0"], "name one by --with-tagger"),
        (["--with-tagger", "TAGGER", "-k", "2"], "leave -k out"),
        (["--with-tagger", "PARSER"], "holds no tagger"),
        (["--with-tagger", "TAGGER", "--weight", "0"], "weight is 0"),
    ],
)
def test_refusals(models: tuple[str, str], arguments: list[str], message: str) -> None:
    names = {"PARSER": models[0], "TAGGER": models[1]}
    done = CliRunner().invoke(app, ["parse", models[0], *(names.get(a, a) for a in arguments), "lo"])
    assert done.exit_code != 0
    assert message in " ".join((done.output + str(done.exception)).split())
