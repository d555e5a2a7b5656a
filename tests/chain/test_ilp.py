"""Integer programming solvers, which know nothing of chains, find the same optimum."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import certus
from certus.chain import METHODS, Labels
from tests.chain.lattices import integers, random_problem
from tests.reference.chain import Scores
from tests.reference.cp_sat import solve_programs
from tests.reference.ilp import solve, state, translate

TAGS = ["O", *(f"{prefix}-{kind}" for kind in "XYZ" for prefix in "BILU")]


def agrees(found: certus.Solution[Labels], optimum: float | None, *, exact: bool) -> bool:
    if optimum is None:
        return found.status is certus.Status.INFEASIBLE
    tolerance = 1e-6
    equal = abs(found.score - optimum) < tolerance or not exact
    return equal and found.score - tolerance <= optimum <= found.bound + tolerance


@pytest.mark.parametrize("seed", range(12))
def test_every_method(seed: int) -> None:
    problem = random_problem(np.random.default_rng(seed), 8, 12)
    optimum = solve(problem.scores)
    for name, method in METHODS.items():
        found = problem.chain.decode(problem.emissions, method=name, infeasible="return")
        assert agrees(found, optimum, exact=method.exact), (name, found, optimum, problem)


def test_a_second_referee() -> None:
    problems = [random_problem(np.random.default_rng(seed), 6, 9) for seed in range(100, 120)]
    optima = solve_programs([translate(state(problem.scores)) for problem in problems])
    assert any(optimum is not None for optimum in optima)
    for problem, optimum in zip(problems, optima, strict=True):
        for name, method in METHODS.items():
            found = problem.chain.decode(problem.emissions, method=name, infeasible="return")
            assert agrees(found, optimum, exact=method.exact), (name, found, optimum, problem)


@pytest.mark.parametrize("seed", range(4))
def test_real_scores(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores = Scores(*(rng.normal(size=size) for size in ((9, 14), (8, 14, 14), 14, 14)))
    chain = certus.Chain(scores.transitions, scores.start, scores.end)
    optimum = solve(scores)
    for name, method in METHODS.items():
        assert agrees(chain.decode(scores.emissions, method=name), optimum, exact=method.exact), name


@pytest.mark.parametrize("seed", range(6))
def test_constraints(seed: int) -> None:
    """Legal BILOU sequences in which each position may have some of the labels only."""
    rng = np.random.default_rng(seed)
    labels = len(TAGS)
    automaton, mask = certus.bilou(TAGS), rng.random((8, labels)) < 0.7
    emissions, transitions = integers(rng, (8, labels), 9), integers(rng, (labels, labels), 9)
    optimum = solve(
        Scores(
            np.where(mask, emissions, -np.inf),
            np.where(automaton.legal, transitions, -np.inf),
            np.where(automaton.start, 0, -np.inf),
            np.where(automaton.end, 0, -np.inf),
        )
    )
    chain = certus.Chain(transitions).constrain(automaton)
    for name, method in METHODS.items():
        options: Any = {"method": name, "allowed": mask, "infeasible": "return"}
        assert agrees(chain.decode(emissions, **options), optimum, exact=method.exact), name
