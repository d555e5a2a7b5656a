"""The intersected dynamic program and the integer program equal brute force; the linear one bounds it."""

from __future__ import annotations

import numpy as np
import pytest

from certus.syntax import intersected, program
from certus.syntax.packed import Pair, Problem
from tests.syntax.joint_problems import best, problem, sequences, toy, trees


def assert_pair(pair: Pair, given: Problem, wanted: float) -> None:
    """The score is that of the edges, words and arcs of the pair."""
    assert pair.score == pytest.approx(wanted, abs=1e-6)
    forest = given.forest
    words = [n for n, t in enumerate(forest.position) if pair.tags[t] == forest.tag[n]]
    used = {0, *forest.left[pair.edges].tolist(), *forest.right[pair.edges].tolist()} - {-1}
    assert len(set(forest.head[pair.edges].tolist())) == len(pair.edges)
    assert used == set(forest.head[pair.edges].tolist()) | set(forest.word[words].tolist())


@pytest.mark.parametrize("seed", range(400))
def test_the_intersected_program_equals_brute_force(seed: int) -> None:
    given = toy(seed)
    packed = problem(given, weight := 1 + seed % 2)
    wanted = best(given, weight)
    pair = intersected.solve(packed)
    if wanted == -np.inf:
        assert pair is None
    else:
        assert pair is not None
        assert pair.score == wanted
        assert_pair(pair, packed, wanted)
        scores, tags = sequences(given), tuple(pair.tags.tolist())
        assert max(s for y, s in trees(given) if y == tags) + weight * scores[tags] == wanted


@pytest.mark.parametrize("seed", range(60))
def test_highs_equals_brute_force(seed: int) -> None:
    given = toy(seed)
    packed = problem(given)
    wanted = best(given)
    whole = program.solve(packed, integer=True)
    relaxed = program.solve(packed, integer=False)
    if wanted == -np.inf:
        assert whole is None
        return
    assert whole is not None
    assert relaxed is not None
    assert whole.pair is not None
    assert_pair(whole.pair, packed, wanted)
    assert relaxed.score >= wanted - 1e-6
    if relaxed.pair is not None:
        assert_pair(relaxed.pair, packed, wanted)
