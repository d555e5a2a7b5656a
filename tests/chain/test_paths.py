"""Paths one after the other, and the scores of paths."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

import certus
from tests.chain.lattices import SHAPES, given, random_problem
from tests.reference.chain import all_paths, all_scores, best_of, dies_at, path_scores


@pytest.mark.parametrize("seed", range(10))
def test_all_paths_in_order(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(60):
        problem = random_problem(rng, int(rng.integers(1, 5)), int(rng.integers(1, 6)))
        if dies_at(problem.scores) is not None:
            continue
        totals = all_scores(problem.scores)
        found = list(problem.chain.iterate(problem.emissions))
        labels = np.array([one.labels for one in found])
        assert [one.score for one in found] == best_of(totals, totals.size).tolist(), problem
        assert totals[tuple(labels.T)].tolist() == [one.score for one in found], problem
        assert len(set(map(tuple, labels.tolist()))) == len(found), problem
        assert all(one.optimal and one.bound == one.score for one in found)


@pytest.mark.parametrize("shape", SHAPES)
def test_as_many_as_the_caller_takes(shape: str) -> None:
    problem = given(np.random.default_rng(4), SHAPES[shape](np.random.default_rng(4), 40, 90))
    some = [one.score for one in islice(problem.chain.iterate(problem.emissions), 150)]
    assert some == problem.chain.decode(problem.emissions, k=150, method="viterbi-astar").scores.tolist()


def test_generators_do_not_disturb_one_another() -> None:
    rng = np.random.default_rng(5)
    chain = certus.Chain(rng.normal(size=(20, 20)))
    lattices = rng.normal(size=(2, 9, 20))
    alone = [[one.score for one in islice(chain.iterate(lattice), 20)] for lattice in lattices]
    first, second = map(chain.iterate, lattices)
    mixed = []
    for one, other in islice(zip(first, second, strict=True), 20):
        chain.decode(lattices[1], k=7)
        mixed.append((one.score, other.score))
    assert mixed == list(zip(*alone, strict=True))


def test_the_arrays_may_go_away() -> None:
    """A search keeps what it needs, also when the caller keeps nothing."""
    rng = np.random.default_rng(6)
    emissions, transitions = rng.normal(size=(6, 30)), rng.normal(size=(30, 30))
    expected = certus.decode(emissions, transitions, k=30).scores.tolist()
    search = certus.Chain(transitions.copy()).iterate(emissions.copy())
    found = []
    for one in islice(search, 30):
        np.full((6, 30), 77.0)  # takes the memory of whatever was let go
        found.append(one.score)
    assert found == expected


def test_no_positions() -> None:
    (only,) = certus.Chain(np.zeros((3, 3))).iterate([])
    assert (only.labels.tolist(), only.score, only.optimal) == ([], 0.0, True)


def test_infeasible() -> None:
    with pytest.raises(certus.Infeasible, match="position 1"):
        next(certus.Chain(np.full((3, 3), -np.inf)).iterate(np.zeros((4, 3))))


@pytest.mark.parametrize("seed", range(10))
def test_scores_of_paths(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(60):
        problem = random_problem(rng, int(rng.integers(1, 5)), int(rng.integers(1, 6)))
        paths = all_paths(problem.scores.length, problem.scores.labels)
        expected = path_scores(problem.scores, paths)
        scores = np.asarray(problem.chain.score(problem.emissions, paths))
        assert scores.tolist() == expected.tolist(), problem
        one = problem.chain.score(problem.emissions, paths[-1].tolist())
        assert type(one) is float
        assert one == expected[-1]


def test_scores_are_summed_in_double_precision() -> None:
    emissions = np.full((1000, 1), 0.1, np.float32)
    score = certus.Chain(np.zeros((1, 1), np.float32)).score(emissions, np.zeros(1000, np.int8))
    assert score == sum(emissions[:, 0].astype(np.float64).tolist())


def test_scores_of_nothing() -> None:
    chain = certus.Chain(np.zeros((3, 3)))
    assert chain.score([], []) == 0.0
    assert np.asarray(chain.score([], np.empty((2, 0), int))).tolist() == [0.0, 0.0]
    assert np.asarray(chain.score(np.zeros((2, 3)), np.empty((0, 2), int))).tolist() == []
