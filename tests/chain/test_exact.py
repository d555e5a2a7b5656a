"""Every method equals brute force, exactly, on very many small problems."""

from __future__ import annotations

import os

import numpy as np
import pytest

import certus
from certus.chain import Auto, Beam
from tests.chain.checks import MANY, VARIANTS, check
from tests.chain.lattices import SHAPES, Problem, given, random_problem
from tests.reference.chain import Floats, all_scores, best_of, best_scores

PROBLEMS = int(os.environ.get("CERTUS_PROBLEMS", 100_000))  # one is a lattice decoded by one method for one k
SEEDS = 50


def check_certificate(problem: Problem, best: Floats) -> None:
    """The answer, on which all methods agree, is proven by the independent checker, too."""
    found = problem.chain.decode(problem.emissions, infeasible="return", certificate=True)
    verdict = certus.verify((problem.chain, problem.emissions), found)
    assert verdict.proven, (problem, verdict)
    assert verdict.score == (best[0] if len(best) else None)


def decode_all(problem: Problem, best: Floats) -> int:
    """Decode by every method for every k; return how many answers equal the reference exactly."""
    for method in VARIANTS:
        check(problem, method, 1, best)
    for k in (2, 3, 10):
        for method in MANY:
            check(problem, method, k, best)
    narrow = sum(isinstance(method, Beam) and method.width < problem.scores.labels for method in VARIANTS)
    return len(VARIANTS) - narrow + 3 * len(MANY)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_brute_force(seed: int, tally: list[int]) -> None:
    rng = np.random.default_rng(seed)
    equal = 0
    while equal < PROBLEMS / SEEDS:
        problem = random_problem(rng, int(rng.integers(1, 7)), int(rng.integers(1, 7)))
        best = best_of(all_scores(problem.scores), 10)
        equal += decode_all(problem, best)
        check_certificate(problem, best)
    tally.append(equal)


@pytest.mark.parametrize("seed", range(10))
def test_dynamic_program(seed: int) -> None:
    """More labels: padded vector tails, pruning, and matrices that are found to be sparse."""
    rng = np.random.default_rng(1000 + seed)
    for _ in range(max(1, PROBLEMS // 2000)):
        problem = random_problem(rng, int(rng.integers(2, 4)), int(rng.integers(7, 41)))
        decode_all(problem, best_scores(problem.scores, 10))


@pytest.mark.parametrize("seed", range(10))
def test_auto(seed: int) -> None:
    """Enough labels that ``auto`` prunes, in lattices of every kind."""
    rng = np.random.default_rng(2000 + seed)
    for _ in range(max(1, PROBLEMS // 250)):
        length, labels = int(rng.integers(1, 6)), int(rng.integers(150, 241))
        shape = rng.choice([*SHAPES, "any"])
        if shape == "any":
            problem = random_problem(rng, length, labels)
        else:
            problem = given(rng, SHAPES[shape](rng, length, labels))
        best = best_scores(problem.scores, 10)
        for k in (1, 2, 3, 10):
            check(problem, Auto(), k, best)


def test_the_references_agree() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        scores = random_problem(rng, int(rng.integers(1, 6)), int(rng.integers(1, 5))).scores
        assert best_of(all_scores(scores), 10).tolist() == best_scores(scores, 10).tolist()


@pytest.mark.parametrize("method", ["carpediem", "viterbi", "viterbi-astar"])
def test_large_transitions_cancel_no_small_ones(method: str) -> None:
    """Scores of paths are sums of their own scores, whatever the largest transition into a label."""
    transitions = np.array([[0.0, 1.0, -1.0], [0.0, 0.5, 0.25], [1e30, 1e30, 1e30]])
    for size in (1.0, 1e30, 1e60):
        chain = certus.Chain(transitions * np.array([[1.0], [1.0], [size]]))
        found = chain.decode(np.array([[0.0, 0.25, -1e95], [0.0, 0.0, 0.0]]), method=method)
        assert found.labels.tolist() == [0, 1]
        assert found.score == found.bound == 1.0


@pytest.mark.parametrize("method", ["astar", "kbest-astar"])
def test_paths_that_rounding_puts_in_another_order_are_compared_again(method: str) -> None:
    """Scores that no good path has make bounds so large that a worse way to a label is taken first."""
    emissions = np.array([[0, 7e143], [0, 0], [0, -4e276], [0, 0], [0, 0], [3e134, 0], [0, 1e148]])
    transitions = np.zeros((6, 2, 2))
    transitions[0, 1, 0] = 1e75
    transitions[1] = [[0, 9.8e191], [-4.5e123, 0]]
    transitions[2, 1, 0] = -1.7e294
    transitions[3] = [[-5.2e170, 6.5e156], [0, 1.5e15]]
    transitions[4, 1, 1] = -3.6e221
    found = certus.decode(emissions, transitions, method=method)
    best = certus.decode(emissions, transitions, method="viterbi")
    assert found.score == best.score > 0
