"""A factor graph of coreference, as AD3 has it: pairs of mentions, and a clause for every three of them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from certus.relax import OPTIMIZERS, Decomposition, JointSolution
from certus.relax.parts import TablePart
from certus.relax.solution import Handle


def make_coreference(mentions: int, seed: int) -> Decomposition:
    """Whether two mentions are the same is a variable; of three pairs, not exactly two may be."""
    pairs = {pair: n for n, pair in enumerate(itertools.combinations(range(mentions), 2))}
    problem = Decomposition()
    scores = np.random.default_rng(seed).normal(size=len(pairs))
    sides: list[list[tuple[Handle, str]]] = [[(problem.add(TablePart([0.0, x])), "0")] for x in scores]
    for a, b, c in itertools.combinations(range(mentions), 3):
        for apart in range(3):
            clause = np.zeros((2, 2, 2))
            clause[tuple(int(k != apart) for k in range(3))] = -np.inf
            part = problem.add(TablePart(clause))
            for k, pair in enumerate(((a, b), (b, c), (a, c))):
                sides[pairs[pair]].append((part, str(k)))
    for side in sides:
        problem.agree(*side)
    return problem


def solve(seed: int, optimizer: str) -> JointSolution:
    return make_coreference(6, seed).solve(optimizer=optimizer, max_iterations=300)


@pytest.mark.limits(seconds=300)
@pytest.mark.parametrize("optimizer", [name for name in OPTIMIZERS if name != "bundle"])
def test_there_is_an_answer_from_the_first_iterations_on(optimizer: str) -> None:
    found = make_coreference(10, 0).solve(optimizer=optimizer, max_iterations=2)
    assert found.value
    assert -np.inf < found.score <= found.bound


@pytest.mark.limits(seconds=300)
def test_auto_proves_what_its_parts_prove() -> None:
    for seed in range(3):
        auto, part = (solve(seed, name) for name in ("auto", "subgradient"))
        assert auto.optimal
        assert not part.optimal or part.score == pytest.approx(auto.score)
