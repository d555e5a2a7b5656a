"""Dependency trees: what is one, what crosses, how they are read and drawn."""

from __future__ import annotations

import itertools

import pytest

from certus.annotation.dependencies import Dependencies, find_crossing, find_fault, read_dependencies
from certus.errors import FormatError
from certus.formats import build
from tests.reference.dependency import is_projective, is_tree


@pytest.mark.parametrize("words", [1, 2, 3, 4])
def test_trees_and_crossings_are_those_of_the_definition(words: int) -> None:
    for heads in itertools.product(range(words + 1), repeat=words):
        fault = find_fault(heads)
        assert (fault is None) == is_tree(heads)
        if fault is None:
            assert (find_crossing(heads) == 0) == is_projective(heads)


def test_a_crossing_needs_four_words_or_a_word_above_the_root() -> None:
    assert Dependencies((0, 1), ("root", "x")).is_projective
    assert not Dependencies((3, 0, 2), ("x", "root", "y")).is_projective


@pytest.mark.parametrize(
    ("heads", "line", "said"),
    [
        ("2 1 0", 1, "cycle"),
        ("0 2 1", 2, "it is its own head"),
        ("0 1 7", 3, "its head is 7, but the sentence has 3 words"),
        ("0 _ 1", 2, "the head of word 2 is '_', not a number"),
        ("0 -1 1", 2, "the head of word 2 is '-1', not a number"),
    ],
)
def test_what_is_no_tree_is_refused_with_its_line(heads: str, line: int, said: str) -> None:
    sentence = build(["a", "b", "c"], {"head": heads.split()})
    sentence.source = "bad.conllu"
    with pytest.raises(FormatError, match=said) as caught:
        read_dependencies(sentence)
    assert f"bad.conllu:{line}:" in str(caught.value)


def test_drawings() -> None:
    words = ["Dogs", "chase", "the", "cat", "&"]
    tree = Dependencies((2, 0, 4, 2, 2), ("nsubj", "root", "det", "obj", "punct"))
    assert tree.pretty(words).split("\n") == [
        "─┮",
        " │ ╭─╼ Dogs  nsubj",
        " ╰─┾ chase  root",
        "   │ ╭─╼ the  det",
        "   ├─┶ cat  obj",
        "   ╰─╼ &  punct",
    ]
    picture = tree.svg(words)
    assert picture.count("<path") == 1 + len(words)
    assert "&amp;" in picture
