"""Bracketed trees: what is read, what is written, and what is refused, with the line."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import pytest

from certus.errors import FormatError, InvalidInput
from certus.formats import brackets, read
from certus.syntax import Tree

PENN = """
( (S
    (NP-SBJ (NNP Mr.) (NNP Vinken) )
    (VP (VBZ is)
      (NP-PRD (NN chairman) ))
    (. .) ))
( (NP (-LRB- -LRB-) (NN x) (-RRB- -RRB-)) ) (X (Y z))

"""


def test_reading(tmp_path: Path) -> None:
    path = tmp_path / "a.mrg"
    path.write_text(PENN, encoding="utf-8")
    found = [str(tree) for tree in brackets.read(path)]
    assert found == [
        "( (S (NP-SBJ (NNP Mr.) (NNP Vinken)) (VP (VBZ is) (NP-PRD (NN chairman))) (. .)))",
        "( (NP (-LRB- -LRB-) (NN x) (-RRB- -RRB-)))",
        "(X (Y z))",
    ]
    with gzip.open(tmp_path / "a.mrg.gz", "wt") as file:
        file.write(PENN)
    assert [str(tree) for tree in brackets.read(tmp_path / "a.mrg.gz")] == found
    assert [str(tree) for tree in brackets.read(io.BytesIO(PENN.encode()))] == found
    assert brackets.looks_bracketed(str(path))
    assert brackets.looks_bracketed(str(tmp_path / "a.mrg.gz"))


@pytest.mark.parametrize("text", ["( NP ( NN\n x ) )", "(NP(NN x))", "(NP\t(NN\tx\t))", "(NP (NN x))"])
def test_blanks_do_not_matter(text: str) -> None:
    assert str(Tree.parse(text)) == "(NP (NN x))"


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("(S (NN x)\n", 1, "never closed"),
        ("(S (NN x))\n(S\n  (NP (NN x))\n", 2, "never closed"),
        ("(S (NN x)))\n", 1, "never opened"),
        ("(S (NN x))\n\n)", 3, "never opened"),
        ("(S (NN x))\nword (S (NN x))", 2, "'word' stands outside"),
        ("(S\n (NP ) (NN x))", 2, "'NP' is empty"),
        ("(S ())", 1, "the constituent is empty"),
        ("(S (NN x)\n y)", 2, "'y' has no tag"),
        ("(S x (NN y))", 1, "'x' has no tag"),
        ("(S x y)", 1, "'y' has no tag"),
    ],
)
def test_refusals(text: str, line: int, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.mrg"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match=reason) as caught:
        list(brackets.read(path))
    assert caught.value.line == line
    assert str(caught.value).startswith(f"{path}:{line}: ")


def test_writing(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    trees = list(brackets.parse(PENN))
    for pretty in (False, True):
        assert brackets.write(trees, tmp_path / "b.mrg", pretty=pretty) == 3
        assert list(brackets.read(tmp_path / "b.mrg")) == trees
    assert brackets.indent_tree(trees[0]).count("\n") == 6
    brackets.write(trees[2:], "-")
    assert capsysbinary.readouterr().out == b"(X (Y z))\n"
    with pytest.raises(InvalidInput, match="2 trees, not one"):
        Tree.parse("(A b) (C d)")


def test_other_files_are_not_taken_for_trees(tmp_path: Path) -> None:
    texts = ("The dog\n", "(see above) it\n", "", "1\tdog\n", "( a )\n", "(see (Smith 2004) for more)\n")
    for text in texts:
        path = tmp_path / "other.txt"
        path.write_text(text, encoding="utf-8")
        assert not brackets.looks_bracketed(str(path))
    assert not brackets.looks_bracketed("-")
    assert not brackets.looks_bracketed("(S (NN x))")


def test_trees_are_read_as_tagged_sentences(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(PENN + "( (NP (-NONE- *)) )\n", encoding="utf-8")
    found = list(read(tmp_path / "a.txt"))
    assert [sentence.words for sentence in found] == [
        ["Mr.", "Vinken", "is", "chairman", "."],
        ["-LRB-", "x", "-RRB-"],
        ["z"],
    ]
    assert found[0].columns["xpos"] == ["NNP", "NNP", "VBZ", "NN", "."]
    assert found[0].text.startswith("1\tMr.\t_\t_\tNNP\t")
    assert found[0].source == str(tmp_path / "a.txt")
    assert [s.text for s in read(io.BytesIO(PENN.encode()), "brackets")] == [s.text for s in found]
    assert next(read(io.BytesIO(PENN.encode()), "text")).words[0] == "("


def test_trees_without_words(tmp_path: Path) -> None:
    (tmp_path / "a.mrg").write_text("( (NP (-NONE- *)) )\n", encoding="utf-8")
    with pytest.raises(FormatError, match="holds no sentence"):
        list(read(tmp_path / "a.mrg"))
