"""The layout of candidate arcs: parts of trees lie where the reference looks for them."""

from __future__ import annotations

import numpy as np
import pytest

from certus import _native
from tests.reference.dependency import TreeProblem, list_trees, make_problem


def find_arcs(problem: TreeProblem, heads: tuple[int, ...]) -> np.ndarray:
    return np.array([problem.place[head, word] for word, head in enumerate(heads, 1)], np.int32)


@pytest.mark.parametrize("order", ["a", "s", "g", "t", "sgt"])
def test_scores_of_trees(order: str) -> None:
    random = np.random.default_rng(1)
    for _ in range(20):
        problem = make_problem(random, int(random.integers(1, 5)), order=order, share=0.8)
        kinds = (problem.arc_scores, problem.siblings, problem.grandparents, problem.grandsiblings)
        for heads in list_trees(problem.arcs.words, False, False):
            if all(pair in problem.place for pair in zip(heads, range(1, len(heads) + 1), strict=True)):
                score = _native.TreeScores64(problem.arcs, *kinds).score(find_arcs(problem, heads))
                assert score == problem.score(heads)


def test_all_arcs() -> None:
    arcs = _native.DependencyArcs.all(3)
    assert arcs.heads.tolist() == [0, 0, 0, 1, 1, 2, 2, 3, 3]
    assert arcs.modifiers.tolist() == [1, 2, 3, 2, 3, 1, 3, 1, 2]
    assert len(_native.DependencyArcs.all(0)) == 0


@pytest.mark.parametrize(
    "pairs", [[(0, 2), (0, 1)], [(0, 1), (0, 1)], [(1, 1)], [(0, 3)], [(3, 1)], [(0, 0)]]
)
def test_refusals(pairs: list[tuple[int, int]]) -> None:
    heads, modifiers = (np.array([pair[i] for pair in pairs], np.int32) for i in (0, 1))
    with pytest.raises(ValueError, match="out of order or not an arc"):
        _native.DependencyArcs(2, heads, modifiers)
