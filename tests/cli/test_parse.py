"""The commands ``certus train parser``, ``certus parse``, and ``certus evaluate`` on trees."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from certus.cli import main
from certus.cli.app import app
from certus.cli.parse import Tally
from certus.formats import brackets
from certus.syntax import GrammarOptions, prepare_tree
from tests.syntax import invented_trees


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cli")
    brackets.write(invented_trees.trees(150), folder / "train.mrg")
    brackets.write(invented_trees.trees(20, seed=1), folder / "gold.mrg", pretty=True)
    files = [str(folder / name) for name in ("train.mrg", "gold.mrg", "p.certus")]
    options = ["--splits", "none", "--horizontal", "1"]
    result = CliRunner().invoke(
        app, ["train", "parser", files[0], "--dev", files[1], "-o", files[2], *options]
    )
    assert result.exit_code == 0, result.output
    assert "estimating a grammar from 150 trees" in result.stderr
    assert "symbols" in result.stderr
    assert "dev F1" in result.stderr
    return folder


def run(*arguments: object, stdin: str | None = None) -> tuple[str, str]:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)
    assert result.exit_code == 0, result.output
    return result.stdout, result.stderr


def test_trees_are_parsed_again_and_scored(folder: Path) -> None:
    _, told = run(
        "parse", folder / "p.certus", folder / "gold.mrg", "-o", folder / "out.mrg", "--threads", "2"
    )
    assert told == "20 sentences, 20 proven optimal\n"
    found = list(brackets.read(folder / "out.mrg"))
    gold = [prepare_tree(tree) for tree in brackets.read(folder / "gold.mrg")]
    assert [tree.words for tree in found] == [tree.words for tree in gold if tree]
    shown, _ = run("evaluate", folder / "gold.mrg", folder / "out.mrg")
    assert shown.split()[:3] == ["trees", "F1", "%"]
    figures = json.loads(run("evaluate", folder / "gold.mrg", folder / "out.mrg", "--json")[0])
    assert figures["all"]["sentences"] == 20
    assert figures["all"]["f1"] > 0.8
    assert f"{100 * figures['all']['f1']:.2f}" in shown


def test_help_tells_the_defaults() -> None:
    shown = CliRunner().invoke(app, ["train", "parser", "--help"], env={"COLUMNS": "300"}).stdout
    usual = GrammarOptions()
    for name in ("horizontal", "min_hidden", "rare", "trusted"):
        line = next(line for line in shown.splitlines() if f"--{name.replace('_', '-')} " in line)
        assert f"; {getattr(usual, name)} by default." in line
    assert f"{usual.vertical}, the default, " in shown
    assert f"{usual.direction} (the default)" in shown


def test_a_tagger_of_trees(folder: Path) -> None:
    model, tagged = folder / "t.certus", folder / "tagged.conllu"
    run("train", "tagger", folder / "train.mrg", "--target", "xpos", "--learner", "hmm", "-o", model, "-q")
    run("tag", model, folder / "gold.mrg", "-o", tagged)
    figures = json.loads(run("evaluate", folder / "gold.mrg", tagged, "--json")[0])
    assert figures["sentences"] == 20
    assert figures["accuracy"]["xpos"]["accuracy"] > 0.8


def test_text(folder: Path) -> None:
    out, _ = run("parse", folder / "p.certus", "the dog sees the owl .", "-q")
    assert out.startswith("(TOP (S (NP (DT the) (NN dog)) (VP (VBZ sees)")
    assert (
        out
        == run(
            "parse",
            folder / "p.certus",
            stdin="the dog sees the owl .\n",
        )[0]
    )
    out, _ = run("parse", folder / "p.certus", "the dog sees the owl .", "-k", "3")
    rows = [line.split("\t") for line in out.strip().split("\n")]
    assert [row[0] for row in rows] == ["1", "2", "3"][: len(rows)]
    assert [row[2] for row in rows] == ["optimal"] * len(rows)
    assert sorted((float(row[1]) for row in rows), reverse=True) == [float(row[1]) for row in rows]
    drawn, _ = run("parse", folder / "p.certus", "the dog sees the owl .", "--pretty", "--scores")
    assert drawn.startswith("1\t-")
    assert "╭" in drawn


def test_sentences_without_a_tree_are_named(folder: Path) -> None:
    for k in (1, 2):
        out, told = run("parse", folder / "p.certus", "the dog sees the owl .", ". . .", "-k", k)
        assert "(TOP (. .) (. .) (. .))" in out
        assert told.startswith("2 sentences, 1 proven optimal; 1 not derived by the grammar")
        assert told.endswith(": 2\n")


def test_what_is_not_proven_is_not_said_to_have_no_tree() -> None:
    tally = Tally()
    for proven, derived in ((True, True), (False, True), (False, False)):
        tally.add(proven, derived)
    assert tally.summarize() == (
        "3 sentences, 1 proven optimal; 1 not derived by the grammar and covered by pieces: 3"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["parse", "EN", "x"], "holds no parser"),
        (["tag", "P", "x"], "p.certus holds no tagger; train one with certus train tagger"),
        (["tag", "P", "x", "--consistent"], "p.certus holds no tagger; train one with certus train tagger"),
        (["parse", "P", "absent.txt"], "there is no file absent.txt"),
        (["evaluate", "GOLD", "GOLD", "--train", "GOLD"], "without --train"),
        (
            ["evaluate", "GOLD", "TRAIN"],
            "the gold ones end before tree 21 in gold.mrg, and there are 150 in train.mrg",
        ),
        (["train", "parser", "TRAIN", "-o", "x", "--splits", "owl"], "no split 'owl'"),
        (["train", "parser", "BAD", "-o", "x"], "bad.mrg:2: the bracket that opens here is never closed"),
    ],
)
def test_mistakes(
    arguments: list[str],
    message: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from certus.models.loading import find_default_tagger

    (folder / "bad.mrg").write_text("(S (NN x))\n(S (NN x)\n", encoding="utf-8")
    files = {
        "EN": find_default_tagger(),
        "P": "p.certus",
        "GOLD": "gold.mrg",
        "TRAIN": "train.mrg",
        "BAD": "bad.mrg",
    }
    monkeypatch.chdir(folder)
    monkeypatch.setattr("sys.argv", ["certus", *(files.get(one, one) for one in arguments)])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == (1 if "BAD" in arguments else 2)
    assert message in capsys.readouterr().err
