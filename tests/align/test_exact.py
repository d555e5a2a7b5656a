"""The best agreement of two directions is the best of all; CERTUS_PROBLEMS=100000 tries more of them."""

from __future__ import annotations

import os
from random import Random

import numpy as np
import pytest

import certus
from certus.align import FULL, Agreement
from tests.align.problems import align, make_problem, make_tour
from tests.reference.align import Problem, brute, score, solve

PROBLEMS = int(os.environ.get("CERTUS_PROBLEMS", "2000"))
SIZES = [(i, j) for i in range(5) for j in range(5) if (j + 1) ** i * (i + 1) ** j <= 2000]


@pytest.mark.parametrize("seed", range(4))
def test_brute_force(seed: int, tally: list[int]) -> None:
    rng = Random(seed)
    for number in range(PROBLEMS // 4):
        problem = make_problem(rng, *rng.choice(SIZES))
        found, best = align(problem), brute(problem)
        assert found.score == best == found.bound, (seed, number, problem, found, best)
        assert found.optimal == (best > -np.inf), (seed, number, problem, found)
    tally.append(PROBLEMS // 4)


@pytest.mark.parametrize("seed", range(6))
def test_integer_program(seed: int) -> None:
    problem = make_problem(Random(seed), 6 + seed % 3, 7)
    found, best = align(problem), solve(problem)
    assert (abs(found.score - best) < 1e-6 and found.optimal) or best == found.score == -np.inf


@pytest.mark.parametrize("cities", [1, 2, 4, 6, 7])
def test_travelling_salesman(cities: int) -> None:
    """Where no word may go without a link, the best path through all cities is found (appendix A)."""
    for seed in range(5):
        problem, shortest = make_tour(Random(seed), cities)
        found = align(problem)
        assert found.optimal
        assert found.score == -shortest == found.bound


def test_limits_leave_a_bound() -> None:
    """Without time, an answer is not called optimal unless its bound proves it, and the bound holds."""
    rng, unproven = Random(3), 0
    for _ in range(300):
        problem = make_problem(rng, 4, 4)
        hurried = align(problem, seconds=0.0, max_iterations=1, max_nodes=0)
        best = align(problem)
        assert hurried.score <= best.score <= hurried.bound or best.score == -np.inf
        assert not hurried.optimal or hurried.score == best.score
        unproven += not hurried.optimal
    assert unproven > 10


def test_bound_on_real_scores() -> None:
    rng = np.random.default_rng(1)
    for agreement in (FULL, Agreement(adjacent=-0.5), Agreement(adjacent=-0.5, apart=-1, alone=-1)):
        problem = Problem(
            rng.normal(size=(3, 4)), rng.normal(size=(3, 4)), rng.normal(size=(4, 4)), None, agreement
        )
        found = align(problem)
        assert found.optimal
        assert found.score == pytest.approx(brute(problem), abs=1e-9)


def test_ties_and_constant_scores() -> None:
    found = certus.align.align_matrix(np.zeros((6, 6)))
    assert found.score == 0 == found.bound
    assert found.optimal


def test_score_is_that_of_the_links() -> None:
    rng = Random(11)
    for _ in range(200):
        problem = make_problem(rng, 3, 3)
        if problem.agreement != FULL or align(problem).score == -np.inf:
            continue
        found = align(problem)
        source, target = [0, 0, 0], [0, 0, 0]
        for i, j in found.links:
            source[i], target[j] = j + 1, i + 1
        assert score(problem, source, target) == found.score
