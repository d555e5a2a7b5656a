"""Sampled sequences are as frequent as they are probable."""

from __future__ import annotations

import numpy as np
import pytest

import certus
from tests.chain.lattices import Problem, random_problem
from tests.reference.chain import Floats, all_scores, log_sum

DRAWS = 20_000


def frequencies(problem: Problem, seed: int) -> Floats:
    """(L, ..., L): how often each sequence was drawn."""
    drawn = problem.chain.sample(problem.emissions, DRAWS, seed=seed)
    counts = np.zeros((problem.scores.labels,) * problem.scores.length)
    np.add.at(counts, tuple(drawn.T), 1)
    return counts


@pytest.mark.parametrize("seed", range(30))
def test_frequencies(seed: int) -> None:
    """Within five standard deviations, sequence by sequence; the forbidden ones never."""
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, int(rng.integers(1, 4)), int(rng.integers(1, 5)))
    totals = all_scores(problem.scores)
    if totals.max() == -np.inf:
        with pytest.raises(certus.Infeasible):
            problem.chain.sample(problem.emissions)
        return
    probability = np.exp(totals - log_sum(totals))
    counts = frequencies(problem, seed)
    deviation = np.sqrt(DRAWS * probability * (1 - probability))
    assert (np.abs(counts - DRAWS * probability) <= 5 * deviation + 1).all(), problem
    assert (counts[totals == -np.inf] == 0).all()


def test_extreme_scores_leave_one_sequence() -> None:
    emissions = np.array([[0, 1e4, -np.inf], [1e4, 0, -1e4], [-np.inf, 0, -1e4]])
    drawn = certus.Chain(np.zeros((3, 3))).sample(emissions, 100, seed=1)
    assert (drawn == [1, 0, 1]).all()


def test_long_sentences_have_the_marginals_as_frequencies() -> None:
    rng = np.random.default_rng(2)
    chain, emissions = certus.Chain(rng.normal(size=(20, 20))), rng.normal(size=(50, 20))
    drawn = chain.sample(emissions, 5000, seed=3)
    expected = chain.marginals(emissions).probabilities
    counts = (drawn[:, :, None] == np.arange(20)).sum(axis=0)
    deviation = np.sqrt(5000 * expected * (1 - expected))
    assert (np.abs(counts - 5000 * expected) <= 5 * deviation + 1).all()


def test_seeds() -> None:
    chain, emissions = certus.Chain(np.zeros((5, 5))), np.zeros((6, 5))
    first = chain.sample(emissions, 10, seed=1)
    assert (first == chain.sample(emissions, 10, seed=1)).all()
    assert (first == chain.sample(emissions, 10, seed=np.random.default_rng(1))).all()
    assert (first != chain.sample(emissions, 10, seed=2)).any()
    assert (first != chain.sample(emissions, 10)).any()


def test_shapes() -> None:
    chain = certus.Chain(np.zeros((5, 5), np.float32))
    assert chain.sample(np.zeros((6, 5), np.float32)).shape == (1, 6)
    assert chain.sample([], 3).shape == (3, 0)
