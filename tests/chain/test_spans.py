"""Spans are those of conlleval."""

from __future__ import annotations

import random

import pytest

from certus.chain.spans import find_spans, is_tag
from certus.evaluation import Span
from tests.reference import conlleval


@pytest.mark.parametrize(
    ("tags", "found"),
    [
        ("", []),
        ("O O", []),
        ("B-A I-A O B-B", [(0, 2, "A"), (3, 4, "B")]),
        ("B-A B-A", [(0, 1, "A"), (1, 2, "A")]),
        ("I-A I-A B-A I-B", [(0, 2, "A"), (2, 3, "A"), (3, 4, "B")]),  # IOB1: B only between neighbours
        ("O I-A O", [(1, 2, "A")]),
        ("B-A I-B", [(0, 1, "A"), (1, 2, "B")]),
        ("S-A B-A I-A E-A S-A", [(0, 1, "A"), (1, 4, "A"), (4, 5, "A")]),
        ("U-A B-A I-A L-A U-A", [(0, 1, "A"), (1, 4, "A"), (4, 5, "A")]),
        ("E-A E-A", [(0, 1, "A"), (1, 2, "A")]),
        ("B I O B", [(0, 2, ""), (3, 4, "")]),
        ("B-cell-type I-cell-type", [(0, 2, "cell-type")]),
    ],
)
def test_hand_worked(tags: str, found: list[tuple[int, int, str]]) -> None:
    assert find_spans(tags.split()) == [Span(*span) for span in found]


@pytest.mark.parametrize("marks", ["BIO", "BIOES"])
@pytest.mark.parametrize("types", [["A"], ["A", "B", "C"], [""]])
def test_counts_equal_those_of_conlleval(marks: str, types: list[str]) -> None:
    tags = ["O", *(f"{m}-{t}" if t else m for m in marks if m != "O" for t in types)]
    source = random.Random(7)
    for _ in range(3000):
        gold = source.choices(tags, k=source.randrange(8))
        guess = [tag if source.random() < 0.7 else source.choice(tags) for tag in gold]
        ours, theirs = find_spans(gold), find_spans(guess)
        hits = len(set(ours) & set(theirs))
        assert (hits, len(theirs), len(ours)) == conlleval.counts(gold, guess), (gold, guess)


def test_what_is_a_tag() -> None:
    assert all(map(is_tag, ["O", "B-NP", "I", "S-x-y", "L-A", "U-A"]))
    assert not any(map(is_tag, ["", "NN", "X-NP", "B-", "IN", "OO"]))
