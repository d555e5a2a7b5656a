"""The field of consensus nodes by itself: every labelling is tried; and it serves as a part."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from certus.corpus import Agreement, Mrf
from certus.errors import InvalidInput
from certus.part import Forbidden


def brute(
    agreement: Agreement,
    nodes: list[int],
    candidates: list[list[int]],
    groups: list[int],
    seen: list[Any],
    u: Any,
) -> float:
    """The best score plus adjustments."""
    labels, count = len(groups), 1 + max([*nodes, *(node for node, *_ in seen)])

    def value(word: int, consensus: int) -> float:
        if consensus == labels:
            return agreement.null
        if word == consensus:
            return agreement.same
        return agreement.close if groups[word] == groups[consensus] else 0.0

    first = np.concatenate([[0], np.cumsum([len(several) for several in candidates])])
    most = -np.inf
    for z in product(range(labels + 1), repeat=count):
        total = sum(times * value(label, z[node]) for node, label, times in seen)
        for w, several in enumerate(candidates):
            total += max(value(label, z[nodes[w]]) + u[first[w] + i] for i, label in enumerate(several))
        most = max(most, total)
    return most


@pytest.mark.parametrize("seed", range(4))
def test_it_equals_brute_force(seed: int) -> None:
    dice = np.random.default_rng(seed)
    for _ in range(100):
        labels, words = int(dice.integers(1, 4)), int(dice.integers(1, 6))
        null, close, same = sorted(dice.integers(0, 5, 3).tolist())
        agreement = Agreement(same, close, null)
        nodes = dice.integers(0, 3, words).tolist()
        candidates = [dice.integers(0, labels, dice.integers(1, 4)).tolist() for _ in range(words)]
        groups = dice.integers(0, labels, labels).tolist()
        seen = [
            (int(dice.integers(3)), int(dice.integers(labels)), int(dice.integers(1, 3)))
            for _ in range(dice.integers(0, 3))
        ]
        mrf = Mrf(agreement, nodes, candidates, labels, groups=groups, observed=seen)
        u = dice.integers(-4, 5, mrf.spaces["candidates"][0]).astype(float)
        choice = mrf.maximize({"candidates": u})
        added = float((choice.indicators["candidates"] * u).sum())
        assert choice.score + added == brute(agreement, nodes, candidates, groups, seen, u)
        assert choice.indicators["candidates"].sum() == words
        plain = mrf.maximize({})
        assert plain.score == brute(agreement, nodes, candidates, groups, seen, np.zeros(len(u)))


def test_heads_of_the_same_tag_agree() -> None:
    """As in parsing: the candidates of a word are its heads, their labels the heads' tags."""
    noun, verb = 0, 1
    mrf = Mrf(Agreement(2.0), [0, 0, 0], [[noun, noun, verb], [verb, noun], [verb]], 2)
    choice = mrf.maximize({"candidates": np.array([0.0, 1, 0, 0, 0, 0])})
    (heads, tags) = choice.value
    assert heads.tolist() == [2, 0, 0]
    assert tags.tolist() == [verb]
    assert choice.score == 6


def test_what_is_forbidden() -> None:
    mrf = Mrf(Agreement(1.0), [0, 0], [[0, 1], [1]], 2)
    choice = mrf.maximize({"candidates": np.array([0, -np.inf, 0])})
    assert choice.value[0].tolist() == [0, 0]
    with pytest.raises(Forbidden, match="all candidates"):
        mrf.maximize({"candidates": np.array([0, 0, -np.inf])})


def test_nothing_at_all() -> None:
    assert Mrf(Agreement(1.0), [], [], 2).maximize({}).score == 0


@pytest.mark.parametrize(
    ("nodes", "candidates", "more", "said"),
    [
        ([0], [[0], [1]], {}, "nodes for 1 words, and candidates for 2"),
        ([0], [[]], {}, "word 0 has no candidate"),
        ([0], [[2]], {}, "label 2 does not exist"),
        ([-1], [[0]], {}, "node -1 does not exist"),
        ([10**11], [[0]], {}, "node 100000000000 does not exist; numbers are from 0 to 16777215"),
        ([0], [[0]], {"observed": [(10**11, 0)]}, "node 100000000000 does not exist"),
        ([0], [[0]], {"observed": [(0, 5)]}, "label 5 does not exist"),
        ([0], [[0]], {"groups": [1]}, "1 items for 2 labels"),
    ],
)
def test_bad_input(nodes: list[int], candidates: list[list[int]], more: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        Mrf(Agreement(1.0), nodes, candidates, 2, **more)


def test_bad_adjustments() -> None:
    mrf = Mrf(Agreement(1.0), [0], [[0, 1]], 2)
    for wrong in (np.zeros(3), np.array([0, np.nan]), np.array([np.inf, 0])):
        with pytest.raises(InvalidInput, match="2 numbers"):
            mrf.maximize({"candidates": wrong})


@pytest.mark.parametrize("delta", [(1, 2), (1, 0, 0.5), -1, (np.inf,), "high", (), (1, 1, 1, 1), (1, -1)])
def test_bad_weights(delta: Any) -> None:
    with pytest.raises(InvalidInput):
        Agreement.of(delta)


def test_weights() -> None:
    assert Agreement.of(3) == Agreement(3.0) == Agreement.of((3, 0)) == Agreement.of(Agreement(3.0))
    assert Agreement(2.0, 1.0, 0.5).scale(2) == Agreement(4.0, 2.0, 1.0)
