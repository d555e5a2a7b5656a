"""The smallest, emptiest, largest and longest problems, and those without an answer."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import certus
from certus.chain import METHODS
from tests.chain.lattices import Problem, integers, random_problem
from tests.reference.chain import Scores, all_paths, all_scores, best_scores, dies_at

every_method = pytest.mark.parametrize("method", METHODS)
every_many = pytest.mark.parametrize("method", [name for name, method in METHODS.items() if method.many])
NEVER = -np.inf


@every_method
@pytest.mark.parametrize("nothing", [[], np.zeros((0, 3)), np.zeros((0, 3), np.float32), ()], ids=repr)
def test_no_positions(method: str, nothing: Any) -> None:
    found = certus.Chain(np.zeros((3, 3)), start=[1, 2, 3]).decode(nothing, method=method)
    assert (found.labels.tolist(), found.score, found.bound, found.optimal) == ([], 0.0, 0.0, True)


@every_many
def test_no_positions_have_one_sequence(method: str) -> None:
    found = certus.Chain(np.zeros((3, 3))).decode([], k=4, method=method)
    assert (found.labels.shape, found.scores.tolist(), found.exhausted) == ((1, 0), [0.0], True)


@every_method
def test_one_position(method: str) -> None:
    chain = certus.Chain(np.full((3, 3), NEVER), start=[0, 5, 0], end=[0, 0, 7])
    found = chain.decode([[1, 1, 1]], method=method)
    assert (found.labels.tolist(), found.score, found.optimal) == ([2], 8.0, True)


@every_method
def test_one_position_needs_no_transitions(method: str) -> None:
    found = certus.Chain(np.zeros((0, 3, 3))).decode([[1, 3, 2]], method=method)
    assert (found.labels.tolist(), found.score) == ([1], 3.0)


@every_method
def test_one_label(method: str) -> None:
    found = certus.decode([[1], [2], [3]], [[10]], method=method)
    assert (found.labels.tolist(), found.score, found.optimal) == ([0, 0, 0], 26.0, True)


@every_many
def test_one_label_has_one_sequence(method: str) -> None:
    found = certus.decode([[1], [2], [3]], [[10]], k=5, method=method)
    assert (found.labels.tolist(), found.scores.tolist(), found.exhausted) == ([[0, 0, 0]], [26.0], True)


def one_path() -> Scores:
    """Only 0 2 1 3 is possible, and it is the worst of all by its emissions."""
    path = [0, 2, 1, 3]
    emissions = np.full((4, 4), 100.0)
    emissions[np.arange(4), path] = -100
    transitions = np.full((3, 4, 4), NEVER)
    transitions[np.arange(3), path[:-1], path[1:]] = -7
    return Scores(emissions, transitions, np.array([0, NEVER, NEVER, NEVER]))


@every_method
def test_one_path_only(method: str) -> None:
    scores = one_path()
    found = certus.Chain(scores.transitions, scores.start).decode(scores.emissions, method=method)
    assert (found.labels.tolist(), found.score, found.optimal) == ([0, 2, 1, 3], -421.0, True)


@every_many
def test_one_path_only_is_listed_once(method: str) -> None:
    scores = one_path()
    found = certus.Chain(scores.transitions, scores.start).decode(scores.emissions, k=9, method=method)
    assert (found.labels.tolist(), found.scores.tolist(), found.exhausted) == ([[0, 2, 1, 3]], [-421.0], True)


def dead_ends() -> dict[str, tuple[Scores, int]]:
    zeros, matrix = np.zeros((5, 3)), np.zeros((3, 3))
    never = np.full(3, NEVER)
    emission, chained, left = zeros.copy(), np.zeros((4, 3, 3)), matrix.copy()
    emission[2] = chained[1] = NEVER
    left[:] = [[NEVER, 0, NEVER], [NEVER, NEVER, 0], [NEVER, NEVER, NEVER]]
    return {
        "everything": (Scores(np.full((5, 3), NEVER), matrix), 0),
        "emission": (Scores(emission, matrix), 2),
        "transition": (Scores(zeros, np.full((3, 3), NEVER)), 1),
        "transition of a position": (Scores(zeros, chained), 2),
        "labels that lead nowhere": (Scores(zeros, left), 3),
        "start": (Scores(zeros, matrix, start=never), 0),
        "end": (Scores(zeros, matrix, end=never), 4),
    }


@every_method
@pytest.mark.parametrize("where", dead_ends())
def test_infeasible_says_where(method: str, where: str) -> None:
    scores, position = dead_ends()[where]
    assert dies_at(scores) == position
    chain = certus.Chain(scores.transitions, scores.start, scores.end)
    with pytest.raises(certus.Infeasible, match=f"position {position}") as error:
        chain.decode(scores.emissions, method=method)
    assert (error.value.position, error.value.sentence) == (position, None)
    assert str(pickle.loads(pickle.dumps(error.value))) == str(error.value)
    found = chain.decode(scores.emissions, method=method, infeasible="return")
    assert (found.status, found.position, found.score) == (certus.Status.INFEASIBLE, position, NEVER)
    assert not found.optimal
    assert found.labels.size == 0


@every_many
def test_infeasible_list_is_empty(method: str) -> None:
    scores, _ = dead_ends()["emission"]
    chain = certus.Chain(scores.transitions)
    found = chain.decode(scores.emissions, k=3, method=method, infeasible="return")
    assert (len(found), found.exhausted) == (0, True)
    with pytest.raises(certus.Infeasible):
        chain.decode(scores.emissions, k=3, method=method)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@every_method
def test_long_sentences_do_not_lose_precision(method: str, dtype: Any) -> None:
    """The sums exceed what float32 holds exactly; the differences that decide do not."""
    rng = np.random.default_rng(5)
    scores = Scores(integers(rng, (2000, 6), 1000) + 50_000, integers(rng, (6, 6), 1000))
    found = certus.Chain(scores.transitions.astype(dtype)).decode(
        scores.emissions.astype(dtype), method=method
    )
    best = best_scores(scores, 1)[0]
    assert best > 2**24
    assert found.score <= best <= found.bound
    assert found.score == best or not METHODS[method].exact


@pytest.mark.parametrize("method", ["auto", "viterbi", "viterbi-astar"])
def test_real_scores_in_single_precision_are_near_those_in_double(method: str) -> None:
    rng = np.random.default_rng(6)
    emissions = rng.normal(size=(2000, 40)).astype(np.float32)
    transitions = rng.normal(size=(40, 40)).astype(np.float32)
    single = certus.decode(emissions, transitions, method=method)
    double = certus.decode(emissions.astype(np.float64), transitions.astype(np.float64), method=method)
    assert single.score <= double.score
    assert single.score == pytest.approx(double.score, rel=1e-6)


def crowd() -> tuple[certus.SparseTransitions, NDArray[np.float32], float]:
    """70,000 labels: the listed transitions, all better than the default, among labels beyond 65,536."""
    rng = np.random.default_rng(8)
    labels = 70_000
    origin, target = rng.integers(65_000, labels, (2, 500))
    pairs = np.unique(origin * labels + target)
    origin, target = pairs // labels, pairs % labels
    scores = rng.integers(0, 40, len(pairs)).astype(np.float32)
    emissions = rng.integers(-50, 1, (4, labels)).astype(np.float32)
    emissions[np.arange(4), [69_999, 66_000, 65_536, 12]] = [10, 5, 20, 30]
    best = emissions[0].astype(np.float64)
    for row in emissions[1:]:
        arrivals = np.full(labels, best.max() - 1)
        np.maximum.at(arrivals, target, best[origin] + scores)
        best = arrivals + row
    return certus.SparseTransitions(labels, origin, target, scores, default=-1), emissions, float(best.max())


@pytest.mark.parametrize("method", ["auto", "viterbi", "viterbi-astar"])
def test_more_labels_than_two_bytes_can_name(method: str) -> None:
    transitions, emissions, best = crowd()
    found = certus.Chain(transitions).decode(emissions, method=method)
    assert (found.score, found.optimal) == (best, True)
    assert (found.labels > 65_535).any()


@pytest.mark.parametrize("k", [1, 3])
def test_one_score_for_all_transitions_of_many_labels(k: int) -> None:
    labels = 70_000
    transitions = np.broadcast_to(np.float32(-2), (labels, labels))
    emissions = np.zeros((3, labels), np.float32)
    emissions[np.arange(3), [69_999, 65_537, 1]] = [5, 6, 7]
    emissions[1, 65_538] = 6
    found: Any = certus.decode(emissions, transitions, k=k)
    best = [found] if k == 1 else list(found)
    assert [one.score for one in best] == [14.0, 14.0, 9.0][:k]
    assert best[0].labels.tolist()[::2] == [69_999, 1]
    assert best[0].labels[1] in (65_537, 65_538)


def test_a_large_matrix_is_held_by_what_differs() -> None:
    matrix = np.lib.stride_tricks.as_strided(np.zeros(20_001 + 20_000), (20_001, 20_001), (8, 8))
    chain = certus.Chain(matrix)
    assert isinstance(chain.transitions, certus.SparseTransitions)
    assert chain.transitions.scores.size == 0


def test_lowest_finite_scores_are_not_forbidden() -> None:
    lowest = np.finfo(np.float32).min
    found = certus.decode(np.full((3, 2), lowest, np.float32), np.zeros((2, 2), np.float32))
    assert (found.optimal, found.score) == (True, 3 * float(lowest))


def test_chains_survive_pickling() -> None:
    rng = np.random.default_rng(9)
    for _ in range(50):
        problem: Problem = random_problem(rng, 4, 5)
        copy = pickle.loads(pickle.dumps(problem.chain))
        before = problem.chain.decode(problem.emissions, k=5, infeasible="return")
        after = copy.decode(problem.emissions, k=5, infeasible="return")
        assert after.labels.tolist() == before.labels.tolist()
        assert after.scores.tolist() == before.scores.tolist()


def test_pickling_keeps_the_precision() -> None:
    """A float64 chain decodes float32 emissions in float64, also after it was pickled."""
    chain = certus.Chain(np.array([[0, 1e-9], [0, 0]]))
    for one in (chain, pickle.loads(pickle.dumps(chain))):
        assert one.decode(np.ones((2, 2), np.float32)).labels.tolist() == [0, 1]


def test_solutions_survive_pickling() -> None:
    found = certus.decode(np.eye(3), np.zeros((3, 3)))
    copy = pickle.loads(pickle.dumps(found))
    assert (copy.score, copy.stats, repr(copy)) == (found.score, found.stats, repr(found))
    many = certus.decode(np.eye(3), np.zeros((3, 3)), k=4)
    assert repr(pickle.loads(pickle.dumps(many))) == repr(many)


def test_lists_behave_like_sequences() -> None:
    many = certus.decode(np.eye(3), np.zeros((3, 3)), k=40)
    assert len(many) == 27
    assert [one.score for one in many] == many.scores.tolist()
    assert [one.labels.tolist() for one in many[:3]] == many.labels[:3].tolist()
    assert many[-1].score == many.scores[-1]
    assert sorted(map(tuple, many.labels.tolist())) == sorted(map(tuple, all_paths(3, 3).tolist()))
    assert sorted(many.scores) == sorted(all_scores(Scores(np.eye(3), np.zeros((3, 3)))).ravel())
