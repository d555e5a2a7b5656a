"""Trees of any depth: read, written, drawn, copied, compared, learned from and parsed."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import pytest
from typer.testing import CliRunner

from certus.cli.app import app
from certus.evaluation.evalb import compare
from certus.formats import brackets
from certus.syntax import Grammar, Tree, annotate, binarize, prepare_tree, unbinarize

DEPTH = 5000
CHAIN = "(S " * DEPTH + "(N dog)" + ")" * DEPTH
COMB = "(S (N a) (D b) " * 2000 + "(N dog)" + ")" * 2000


@pytest.mark.parametrize("text", [CHAIN, COMB], ids=["chain", "comb"])
def test_every_transformation(text: str) -> None:
    tree = Tree.parse(text)
    assert str(tree) == text
    assert copy.deepcopy(tree) == copy.copy(tree) == pickle.loads(pickle.dumps(tree)) == tree
    assert hash(tree) == hash(Tree.parse(text))
    prepared = prepare_tree(tree)
    assert prepared is not None
    assert prepared.words == tree.words
    for direction in ("right", "left", "head"):
        assert unbinarize(binarize(annotate(tree, 2, ["split-in"]), direction, 1)) == tree
    assert Tree.parse(brackets.indent_tree(tree)) == tree
    assert compare([tree], [tree]).total.f1 == 1.0


def test_drawing() -> None:
    tree = Tree.parse(CHAIN)
    assert tree.pretty().count("S") == tree.svg().count(">S<") == DEPTH


def test_learning_and_parsing() -> None:
    tree = Tree.parse(CHAIN)
    grammar = Grammar.fit([tree, Tree.parse("(S (N dog) (V barks))")])
    assert grammar.parse(["dog"]).value.words == ["dog"]


def test_commands(tmp_path: Path) -> None:
    file, model = tmp_path / "deep.mrg", tmp_path / "model"
    file.write_text(f"{CHAIN}\n{COMB}\n(S (N dog) (V barks))\n", encoding="utf-8")
    for arguments in (
        ["evaluate", str(file), str(file)],
        ["train", "parser", str(file), "-o", str(model)],
        ["parse", str(model), "dog barks", "--pretty"],
    ):
        done = CliRunner().invoke(app, arguments)
        assert done.exit_code == 0, done.output
