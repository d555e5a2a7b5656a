"""What is called optimal is the best of all, whatever the magnitudes of scores: tiny, and beside penalties.

Scores are whole numbers, or these times a power of two, so that sums are exact and answers are equal.
"""

from __future__ import annotations

import os
from dataclasses import replace
from random import Random

import numpy as np
import pytest

import certus
from certus.align import Agreement
from certus.align.methods import AlignMethod
from tests.align.problems import align, make_problem, make_strict
from tests.align.test_literature import TRIED
from tests.reference.align import Floats, Problem, brute

PROBLEMS = int(os.environ.get("CERTUS_PROBLEMS", "2000")) // 10
SIZES = [(i, j) for i in range(1, 5) for j in range(1, 5) if (j + 1) ** i * (i + 1) ** j <= 1000]
PENALTIES = pytest.mark.parametrize("penalty", [-1e4, -1e6, -1e9, -1e11])
POWERS = pytest.mark.parametrize("power", [-1000, -300, -60, 30])


def add_penalties(rng: Random, problem: Problem, penalty: float) -> Problem:
    """Put penalties in the place of some scores, and of what is forbidden."""
    share = rng.choice([0.1, 0.3, 0.6])

    def add(scores: Floats | None) -> Floats | None:
        if scores is None:
            return None
        drawn = np.array([rng.random() < share for _ in range(scores.size)]).reshape(scores.shape)
        return np.where(drawn | np.isinf(scores), penalty, scores)

    source, target = add(problem.source), add(problem.target)
    assert source is not None
    assert target is not None
    return replace(
        problem,
        source=source,
        target=target,
        source_steps=add(problem.source_steps),
        target_steps=add(problem.target_steps),
    )


def multiply(problem: Problem, factor: float) -> Problem:
    """Multiply all scores."""
    source, target, source_steps, target_steps = (
        None if scores is None else scores * factor
        for scores in (problem.source, problem.target, problem.source_steps, problem.target_steps)
    )
    assert source is not None
    assert target is not None
    prices = problem.agreement
    agreement = Agreement(
        adjacent=prices.adjacent * factor, apart=prices.apart * factor, alone=prices.alone * factor
    )
    return Problem(source, target, source_steps, target_steps, agreement)


def check_all(problem: Problem, methods: dict[str, AlignMethod]) -> None:
    """Hold the answers of all methods against the best score of all."""
    best = brute(problem)
    for name, method in methods.items():
        found = align(problem, method=method)
        assert found.bound >= best, (name, problem, found, best)
        assert not found.optimal or found.score == best == found.bound, (name, problem, found, best)


@PENALTIES
def test_penalties(penalty: float) -> None:
    rng = Random(5)
    for _ in range(PROBLEMS):
        problem = add_penalties(rng, make_problem(rng, *rng.choice(SIZES)), penalty)
        found, best = align(problem), brute(problem)
        assert found.score == best == found.bound, (problem, found, best)
        assert found.optimal


@PENALTIES
def test_prices_as_penalties(penalty: float) -> None:
    rng = Random(6)
    for _ in range(PROBLEMS // 2):
        prices = Agreement(**{name: rng.choice([penalty, -1.0]) for name in ("adjacent", "apart", "alone")})
        problem = replace(make_problem(rng, *rng.choice(SIZES)), agreement=prices)
        found, best = align(problem), brute(problem)
        assert found.score == best == found.bound, (problem, found, best)


@PENALTIES
def test_penalties_by_methods_of_papers(penalty: float) -> None:
    rng = Random(7)
    for _ in range(PROBLEMS // 4):
        check_all(add_penalties(rng, make_strict(rng, *rng.choice(SIZES)), penalty), TRIED)


@POWERS
def test_powers_of_two(power: int) -> None:
    rng = Random(8)
    for _ in range(PROBLEMS // 2):
        problem = multiply(make_problem(rng, *rng.choice(SIZES)), 2.0**power)
        found, best = align(problem), brute(problem)
        assert found.score == best == found.bound, (problem, found, best)


@POWERS
def test_powers_of_two_by_methods_of_papers(power: int) -> None:
    """Steps are of the scale of ordinary scores: what they cannot prove has to be said."""
    rng = Random(9)
    for _ in range(PROBLEMS // 4):
        check_all(multiply(make_strict(rng, *rng.choice(SIZES)), 2.0**power), TRIED)


def test_a_limit_before_the_scale_is_known() -> None:
    """Without time for the search at the smaller scale, an answer is not called optimal unless it is."""
    rng = Random(10)
    for _ in range(PROBLEMS):
        problem = add_penalties(rng, make_problem(rng, *rng.choice(SIZES)), -1e11)
        hurried, best = align(problem, seconds=0.0), brute(problem)
        assert hurried.score <= best <= hurried.bound, (problem, hurried, best)
        assert not hurried.optimal or hurried.score == best


def test_real_penalties() -> None:
    """As many answers are proven with penalties as with -inf in their place."""
    rng = np.random.default_rng(1)
    for penalty in (-1e6, -1e9, -1e12):
        for _ in range(50):
            forward, backward = rng.normal(size=(2, 4, 4))
            drawn = rng.random((4, 4)) < 0.3
            found = certus.align.align_matrix(np.where(drawn, penalty, forward), backward, null=0.0)
            best = certus.align.align_matrix(np.where(drawn, -np.inf, forward), backward, null=0.0)
            assert found.optimal
            assert best.optimal
            assert found.links == best.links
