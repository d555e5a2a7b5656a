"""What is called optimal is the best tree, whatever the magnitudes of scores: tiny, and beside penalties.

Scores are whole numbers, or these times a power of two, so that sums are exact and answers are equal.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

import certus
from certus import _native
from tests.reference.dependency import make_problem
from tests.syntax.dependency.campaign import KINDS, all_trees, check_scores, draw

PROBLEMS = int(os.environ.get("CERTUS_PROBLEMS", "2000")) // 10
PENALTIES = pytest.mark.parametrize("penalty", [-1e4, -1e6, -1e9, -1e11])
POWERS = pytest.mark.parametrize("power", [-1000, -300, -60, 30])
PROJECTIVE = pytest.mark.parametrize("projective", [False, True])


def draw_scores(random: np.random.Generator, penalty: float) -> dict[str, Any]:
    """Return scores of which some are a penalty."""
    arrays = draw(random, int(random.integers(2, 6)), str(random.choice(KINDS)))
    share = random.choice([0.05, 0.3, 0.6])
    return {
        name: np.where((random.random(array.shape) < share) | np.isinf(array), penalty, array)
        for name, array in arrays.items()
    }


@PROJECTIVE
@PENALTIES
def test_penalties(projective: bool, penalty: float) -> None:
    random = np.random.default_rng(3)
    for number in range(PROBLEMS):
        arrays = draw_scores(random, penalty)
        fault = check_scores(arrays, projective=projective, single=bool(number % 2))
        assert fault is None, (number, fault, arrays)


@PROJECTIVE
@POWERS
def test_powers_of_two(projective: bool, power: int) -> None:
    random = np.random.default_rng(4)
    for number in range(PROBLEMS):
        arrays = draw(random, int(random.integers(2, 6)), str(random.choice(KINDS)))
        arrays = {name: array * 2.0**power for name, array in arrays.items()}
        fault = check_scores(arrays, projective=projective, single=bool(number % 2))
        assert fault is None, (number, fault, arrays)


@PROJECTIVE
@pytest.mark.parametrize("scale", [-1e9, 2.0**-100])
def test_single_precision(projective: bool, scale: float) -> None:
    """Numbers of float32 that add up exactly in float64."""
    random = np.random.default_rng(5)
    for number in range(PROBLEMS):
        if scale < 0:
            arrays = draw_scores(random, scale)
        else:
            arrays = draw(random, int(random.integers(2, 6)), str(random.choice(KINDS)))
            arrays = {name: array * scale for name, array in arrays.items()}
        arrays = {name: array.astype(np.float32).astype(np.float64) for name, array in arrays.items()}
        best = certus.Trees(projective=projective).decode(
            infeasible="return", **{name: array.astype(np.float32) for name, array in arrays.items()}
        )
        trees = all_trees(len(arrays["arcs"]))
        top = trees.score(arrays)[trees.projective | (not projective)].max()
        assert best.score == top == best.bound, (number, best, top)


@PENALTIES
def test_the_method_of_the_paper(penalty: float) -> None:
    """What it calls proven is the best tree, and its bound holds."""
    random = np.random.default_rng(6)
    for _ in range(PROBLEMS // 4):
        problem = make_problem(random, 4, order="sgt", share=1.0)
        for scores in (problem.arc_scores, problem.siblings, problem.grandparents, problem.grandsiblings):
            if scores is not None:
                scores[np.isinf(scores) | (random.random(scores.shape) < 0.3)] = penalty
        best = max(score for score, _ in problem.score_all(False, False))
        result = problem.native.decode(False, np.inf, 1 << 40, 50, np.empty(4, np.int32))
        assert result.bound >= best
        assert result.end is not _native.DualEnd.PROVEN or result.score == best


@PENALTIES
def test_limits_of_time(penalty: float) -> None:
    """A tree is not called optimal at a scale at which it is not."""
    random = np.random.default_rng(7)
    for _ in range(PROBLEMS // 4):
        arrays = draw_scores(random, penalty)
        best = all_trees(len(arrays["arcs"])).score(arrays).max()
        for seconds in (0.0, 1e-4):
            found = certus.Trees().decode(seconds=seconds, **arrays)
            assert found.score <= best <= found.bound
            assert not found.optimal or found.score == best


def test_first_bounds_of_scores_of_all_sizes() -> None:
    """The first bound holds where numbers of very different sizes cancel out, and proves nothing wrong."""
    random = np.random.default_rng(9)
    for _ in range(4 * PROBLEMS):
        arrays = {
            name: np.copysign(10 ** random.uniform(-300, 90, array.shape), random.normal(size=array.shape))
            for name, array in draw(random, int(random.integers(2, 4)), str(random.choice(KINDS))).items()
        }
        best = all_trees(len(arrays["arcs"])).score(arrays).max()
        for seconds in (0.0, 1e-4, None):
            found = certus.Trees().decode(seconds=seconds, **arrays)
            assert found.score <= best + 1e-10 * abs(best)
            assert best - 1e-10 * abs(best) <= found.bound < np.inf
            assert not found.optimal or found.score == pytest.approx(best, rel=1e-9, abs=0)


def test_real_penalties() -> None:
    """Penalties and -inf in their place have the same best trees, of which all are proven."""
    random = np.random.default_rng(8)
    trees = certus.Trees()
    for penalty in (-1e6, -1e9, -1e12, -1e15):
        for _ in range(50):
            arcs, siblings = random.normal(size=(5, 6)), random.normal(size=(6, 6, 6))
            drawn = random.random(siblings.shape) < 0.3
            found = trees.decode(arcs, np.where(drawn, penalty, siblings))
            best = trees.decode(arcs, np.where(drawn, -np.inf, siblings), infeasible="return")
            assert found.optimal
            assert best.status is certus.Status.INFEASIBLE or found.heads.tolist() == best.heads.tolist()
