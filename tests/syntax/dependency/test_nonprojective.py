"""Non-projective trees by dual decomposition, against enumeration."""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np
import pytest

from certus._native import DualEnd
from tests.reference.dependency import Heads, TreeProblem, make_problem

PROBLEMS = int(os.environ.get("CERTUS_PROBLEMS", "2000")) // 20  # per case
MOST = int(os.environ.get("CERTUS_WORDS", "4"))  # words
CASES = pytest.mark.parametrize(
    ("order", "single"),
    [(order, single) for order in ("a", "s", "g", "t", "sgt") for single in (False, True)],
)


def draw_problems(order: str, single: bool) -> Iterator[tuple[TreeProblem, dict[Heads, float]]]:
    random = np.random.default_rng(11)
    for _ in range(PROBLEMS):
        words = int(random.integers(0, MOST + 1))
        problem = make_problem(random, words, order=order, share=float(random.choice([1.0, 0.7])))
        yield problem, {heads: score for score, heads in problem.score_all(False, single)}


@CASES
def test_best_tree_is_proven(order: str, single: bool) -> None:
    for problem, trees in draw_problems(order, single):
        arc_of = np.empty(problem.arcs.words, np.int32)
        result = problem.native.decode(single, np.inf, 1 << 40, 0, arc_of)
        assert result.end is DualEnd.PROVEN
        assert result.found == bool(trees)
        if trees:
            assert result.score == result.bound == max(trees.values())
            assert trees[problem.read_heads(arc_of)] == result.score


@CASES
def test_the_method_of_the_paper(order: str, single: bool) -> None:
    """Its certificates are true, and its bounds are bounds, also where it stops early."""
    for problem, trees in draw_problems(order, single):
        arc_of = np.empty(problem.arcs.words, np.int32)
        for iterations in (1, 50):
            result = problem.native.decode(single, np.inf, 1 << 40, iterations, arc_of)
            assert result.iterations <= iterations
            if not trees:
                assert not result.found
                continue
            assert result.bound >= max(trees.values()) - 1e-9
            if result.found:
                assert trees[problem.read_heads(arc_of)] == result.score
            if result.end is DualEnd.PROVEN:
                assert result.score == max(trees.values())


@pytest.mark.parametrize("order", ["s", "t"])
def test_limits(order: str) -> None:
    random = np.random.default_rng(1)
    problem = make_problem(random, 25, order=order, largest=100)
    arc_of = np.empty(25, np.int32)
    short = problem.native.decode(False, 0.02, 1 << 40, 0, arc_of)
    few = problem.native.decode(False, np.inf, 1, 0, arc_of)
    assert short.score <= short.bound
    assert few.score <= few.bound
    assert few.nodes <= 2
    assert problem.native.score(arc_of) == few.score
