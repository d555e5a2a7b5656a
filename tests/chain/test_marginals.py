"""Marginal probabilities equal those added up over all sequences."""

from __future__ import annotations

import numpy as np
import pytest

import certus
from tests.chain.lattices import given, integers, random_problem
from tests.reference.chain import Floats, Scores, all_scores, dies_at, log_sum, marginals


def close(found: certus.Marginals, scores: Scores) -> bool:
    total = log_sum(all_scores(scores))
    near = abs(found.log_partition - total) <= 1e-12 * max(1, abs(total))
    return near and bool(np.abs(found.probabilities - marginals(scores)).max() < 1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_enumeration(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(100):
        problem = random_problem(rng, int(rng.integers(1, 6)), int(rng.integers(1, 7)))
        position = dies_at(problem.scores)
        if position is None:
            assert close(problem.chain.marginals(problem.emissions), problem.scores), problem
        else:
            with pytest.raises(certus.Infeasible, match=f"position {position}"):
                problem.chain.marginals(problem.emissions)


def steps(rng: np.random.Generator, *shape: int) -> Floats:
    values: Floats = rng.choice([0, 1, 1e4, -1e4, -np.inf], shape)
    return values


@pytest.mark.parametrize("seed", range(10))
def test_extreme_differences(seed: int) -> None:
    """Weights that a float64 cannot hold beside one another, and forbidden ones, decide together."""
    rng = np.random.default_rng(seed)
    for _ in range(100):
        T, L = int(rng.integers(1, 6)), int(rng.integers(1, 6))
        scores = Scores(steps(rng, T, L), steps(rng, *([L, L] if rng.random() < 0.7 else [T - 1, L, L])))
        if dies_at(scores) is None:
            problem = given(rng, scores)
            assert close(problem.chain.marginals(problem.emissions), scores), problem


def test_only_the_worst_transitions_are_possible() -> None:
    """The best transition cannot be used, and exp of the others relative to it is zero."""
    transitions = np.array([[1e4, 0, -np.inf], [-np.inf, -1e4, -1e4 + 1], [0, 0, 0]])
    scores = Scores(np.zeros((4, 3)), transitions, start=np.array([-np.inf, 0, -np.inf]))
    found = certus.Chain(transitions, scores.start).marginals(scores.emissions)
    assert close(found, scores)


@pytest.mark.parametrize("labels", [17, 64, 131])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_long_sentences(labels: int, dtype: type) -> None:
    """Rows are distributions, and log Z follows from a pass in plain NumPy."""
    rng = np.random.default_rng(labels)
    emissions, transitions = integers(rng, (300, labels), 9), integers(rng, (labels, labels), 9, 0.2)
    found = certus.Chain(transitions.astype(dtype)).marginals(emissions.astype(dtype))
    alpha = emissions[0]
    for row in emissions[1:]:
        alpha = np.logaddexp.reduce(alpha[:, None] + transitions, axis=0) + row
    assert found.log_partition == pytest.approx(np.logaddexp.reduce(alpha), rel=1e-12)
    assert np.abs(found.probabilities.sum(axis=1) - 1).max() < 1e-10
    assert found.probabilities.dtype == np.float64


def test_sparse_and_dense_agree() -> None:
    rng = np.random.default_rng(1)
    matrix = np.where(rng.random((40, 40)) < 0.05, integers(rng, (40, 40), 4), -1.0)
    emissions = rng.normal(size=(12, 40))
    origin, target = np.nonzero(matrix != -1)
    sparse = certus.SparseTransitions(40, origin, target, matrix[origin, target], default=-1)
    dense = certus.Chain(matrix).marginals(emissions)
    found = certus.Chain(sparse).marginals(emissions)
    assert np.allclose(found.probabilities, dense.probabilities, rtol=0, atol=1e-12)
    assert found.log_partition == pytest.approx(dense.log_partition, rel=1e-13)


def test_what_marginals_tell() -> None:
    scores = Scores(np.log(np.array([[1.0, 3], [2, 2]])), np.zeros((2, 2)))
    found = certus.Chain(scores.transitions).marginals(scores.emissions)
    assert found.log_partition == pytest.approx(np.log(16))
    assert found.probabilities == pytest.approx(np.array([[0.25, 0.75], [0.5, 0.5]]))
    assert found.confidence([1, 0]) == pytest.approx(np.array([0.75, 0.5]))
    assert found.best()[0] == 1
    assert found.probability(float(np.log(6))) == pytest.approx(6 / 16)
    with pytest.raises(certus.InvalidInput, match=r"labels\[1\] is 2"):
        found.confidence([0, 2])


def test_no_positions() -> None:
    found = certus.Chain(np.zeros((3, 3))).marginals([])
    assert (found.probabilities.shape, found.log_partition) == ((0, 3), 0.0)
