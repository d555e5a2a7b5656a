"""``certus train parser`` and ``certus parse`` with dependency trees."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from certus.cli.app import app
from certus.formats import read
from tests.models import invented
from tests.models import invented_treebank as treebank


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dependencies")
    (folder / "train.conllu").write_text(treebank.conllu(120, 1))
    (folder / "gold.conllu").write_text("# sent_id = 1\r\n" + treebank.conllu(20, 2))
    (folder / "tags.conllu").write_text(invented.conllu(120, 1))
    arguments = [
        "train.conllu",
        "--dev",
        "gold.conllu",
        "-o",
        "p.certus",
        "--hash-bits",
        "16",
        "--epochs",
        "3",
    ]
    told = run("train", "parser", *(folder / a if "." in a else a for a in arguments))[1]
    assert "epoch   3/3" in told
    assert "p.certus: 8 relations" in told
    assert "dev LAS" in told
    return folder


def run(*arguments: object, stdin: str | None = None) -> tuple[str, str]:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)
    assert result.exit_code == 0, result.output
    return result.stdout, result.stderr


def fail(*arguments: object) -> str:
    """Run a command that must fail; return what it says."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code
    return f"{result.output}{result.exception}"


def test_files_come_out_as_they_went_in(folder: Path) -> None:
    _, told = run("parse", folder / "p.certus", folder / "gold.conllu", "-o", folder / "out.conllu")
    assert told.startswith("20 sentences, 20 proven optimal")
    gold, found = (folder / "gold.conllu").read_bytes(), (folder / "out.conllu").read_bytes()
    assert [line.split(b"\t")[:6] for line in gold.split(b"\n")] == [
        line.split(b"\t")[:6] for line in found.split(b"\n")
    ]
    figures = json.loads(run("evaluate", folder / "gold.conllu", folder / "out.conllu", "--json")[0])
    assert figures["conll18"]["LAS"]["f1"] > 0.95


def test_proofs_and_ranks_are_comments(folder: Path) -> None:
    out, _ = run("parse", folder / "p.certus", folder / "gold.conllu", "-k", 3, "-q")
    (folder / "ranked.conllu").write_text(out)
    ranked = list(read(folder / "ranked.conllu"))
    assert len(ranked) > 40
    assert "# rank = 1\n# parse_score = " in ranked[0].text.replace("\r", "")
    assert "# parse_status = optimal" in ranked[1].text


def test_text_needs_a_tagger(folder: Path) -> None:
    said = fail("parse", folder / "p.certus", "lo nok .")
    assert "looks at upos, which is empty; name a tagger by --with-tagger" in said
    run(
        *("train", "tagger", folder / "tags.conllu", "--target", "upos+feats", "--learner", "hmm", "-q"),
        *("-o", folder / "t.certus"),
    )
    text = " ".join(next(iter(read(folder / "gold.conllu"))).words)
    out, _ = run("parse", folder / "p.certus", text, "--with-tagger", folder / "t.certus", "--no-pretty")
    assert "\troot\t" in out
    drawn, _ = run("parse", folder / "p.certus", text, "--with-tagger", folder / "t.certus", "--pretty")
    assert drawn.startswith("─┮\n")


def test_options_of_the_other_kind_are_refused(folder: Path) -> None:
    model = folder / "q.certus"
    said = fail("train", "parser", folder / "train.conllu", "-o", model, "--vertical", 2)
    assert "make a dependency parser, which has no --vertical" in said
    (folder / "trees.mrg").write_text("(S (N dogs) (V bark))\n")
    said = fail("train", "parser", folder / "trees.mrg", "-o", model, "--epochs", 2)
    assert "make a constituency parser, which has no --epochs" in said
    said = fail("parse", folder / "p.certus", folder / "gold.conllu", "--weight", 1)
    assert "--weight is of constituency parsers" in said


def test_bad_trees_are_named_with_their_line(folder: Path) -> None:
    (folder / "bad.conllu").write_text("1\ta\t_\tX\t_\t_\t2\tx\t_\t_\n2\tb\t_\tX\t_\t_\t1\ty\t_\t_\n\n")
    said = fail("train", "parser", folder / "bad.conllu", "-o", folder / "q.certus")
    assert "bad.conllu:1" in said
    assert "cycle" in said


def test_any_sentence_has_a_tree_at_once() -> None:
    out, told = run("parse", "Dogs chase the old cat.")
    rows = [line.split("\t") for line in out.split("\n") if line[:1].isdigit()]
    assert [row[1] for row in rows] == ["Dogs", "chase", "the", "old", "cat", "."]
    assert [row[6] for row in rows] == ["2", "0", "5", "5", "2", "2"]
    assert [row[7] for row in rows] == ["nsubj", "root", "det", "amod", "obj", "punct"]
    assert told.startswith("1 sentence, 1 proven optimal")


def test_sentences_that_are_too_long_are_named_and_the_others_parsed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("certus.learn.arcs.learner.MOST_WORDS", 12)
    gold = list(treebank.sentences(2, 2))
    long = next(treebank.long_sentences(1, 3))
    (folder / "long.conllu").write_text("".join(one.text for one in (gold[0], long, gold[1])))
    line = len(gold[0]) + 2
    told = fail("parse", folder / "p.certus", folder / "long.conllu", "-o", folder / "short.conllu")
    assert "2 sentences, 2 proven optimal" in told
    assert f"long.conllu:{line}: it has {len(long)} words, and parsers take at most 12" in told
    found = list(read(folder / "short.conllu"))
    assert [one.words for one in found] == [gold[0].words, long.words, gold[1].words]
    assert found[1].text == long.text
    assert found[2].column("head") == gold[1].column("head")
