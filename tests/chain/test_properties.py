"""What must hold for any method, whatever the scores: one registry, every property over all of it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import certus
from certus.chain import METHODS, Beam, Method
from tests.chain.checks import MANY, VARIANTS
from tests.chain.lattices import SHAPES, integers, random_problem
from tests.reference.chain import Scores, all_scores, best_scores

every_method = pytest.mark.parametrize("method", VARIANTS, ids=repr)
every_many = pytest.mark.parametrize("method", MANY, ids=repr)
every_shape = pytest.mark.parametrize("shape", SHAPES)


def lattices(*sizes: tuple[int, int]) -> list[Scores]:
    return [make(np.random.default_rng(7), *size) for size in sizes for make in SHAPES.values()]


SCORES = lattices((1, 9), (5, 20), (9, 70))


def decode(scores: Scores, method: Method, **options: Any) -> Any:
    chain = certus.Chain(scores.transitions, scores.start, scores.end)
    return chain.decode(scores.emissions, method=method, **options)


def test_the_registry_names_its_methods() -> None:
    assert "auto" in METHODS
    assert all(method.name == name and method.__doc__ for name, method in METHODS.items())
    assert all(method().one or method().many for method in METHODS.values())


@every_method
@pytest.mark.parametrize("shift", [-1000.0, 3.0, 1e5])
def test_a_constant_shifts_the_score_and_nothing_else(method: Method, shift: float) -> None:
    for scores in SCORES:
        plain = decode(scores, method)
        moved = decode(Scores(scores.emissions + shift, scores.transitions - 1), method)
        constant = shift * scores.length - (scores.length - 1)
        assert moved.score == plain.score + constant
        if method.exact:
            assert moved.bound == moved.score
        else:  # its bound may be rounded up
            assert moved.bound == pytest.approx(plain.bound + constant)


@every_method
def test_the_order_of_the_labels_does_not_matter(method: Method) -> None:
    for scores in SCORES:
        order = np.random.default_rng(1).permutation(scores.labels)
        mixed = Scores(scores.emissions[:, order], scores.transitions[np.ix_(order, order)])
        if method.exact:
            assert decode(mixed, method).score == decode(scores, method).score
        else:
            assert decode(mixed, method).score <= decode(scores, method).bound


@every_method
def test_inputs_stay_as_they_are(method: Method) -> None:
    for scores in SCORES:
        ends = np.arange(scores.labels, dtype=np.float64)
        arrays = [scores.transitions.copy(), ends.copy(), ends.copy(), scores.emissions.copy()]
        for array in arrays:
            array.flags.writeable = False
        certus.Chain(*arrays[:3]).decode(arrays[3], method=method)
        for array, before in zip(arrays, (scores.transitions, ends, ends, scores.emissions), strict=True):
            assert (array == before).all()


@every_method
def test_the_same_question_has_the_same_answer(method: Method) -> None:
    for scores in SCORES:
        chain = certus.Chain(scores.transitions)
        first = chain.decode(scores.emissions, method=method)
        others = [chain.decode(scores.emissions, method=method), decode(scores, method)]
        assert all((first.labels == other.labels).all() for other in others)
        assert all(first.stats == other.stats for other in others)


@every_method
def test_counters_count(method: Method) -> None:
    for scores in SCORES:
        stats = decode(scores, method).stats
        assert list(stats) == ["iterations", "activated", "pruned", "edges", "expanded"]
        assert all(type(value) is int and value >= 0 for value in stats.values())
        assert sum(stats.values()) > 0


@every_many
def test_fewer_are_the_beginning_of_more(method: Method) -> None:
    for scores in SCORES:
        lists = [decode(scores, method, k=k) for k in (2, 3, 10)]
        for short, long in pairwise(lists):
            assert short.scores.tolist() == long.scores[: len(short)].tolist()
        assert decode(scores, method).score == lists[0].scores[0]


@every_many
@pytest.mark.parametrize("k", [27, 28, 1000, 10**9])
def test_no_path_is_invented(method: Method, k: int) -> None:
    rng = np.random.default_rng(3)
    emissions, transitions = integers(rng, (3, 3), 2), integers(rng, (3, 3), 2)
    emissions[1, 2] = transitions[0, 1] = -np.inf
    totals = all_scores(Scores(emissions, transitions)).ravel()
    found = certus.decode(emissions, transitions, k=k, method=method)
    assert len(found) == np.isfinite(totals).sum()
    assert found.exhausted
    assert found.scores.tolist() == sorted(totals[np.isfinite(totals)], reverse=True)
    assert len({tuple(path) for path in found.labels.tolist()}) == len(found)


@pytest.mark.parametrize("width", [1, 2, 3, 8, 50])
def test_beam_is_honest(width: int) -> None:
    rng = np.random.default_rng(width)
    proven = 0
    for _ in range(300):
        problem = random_problem(rng, int(rng.integers(1, 8)), int(rng.integers(1, 30)))
        best = best_scores(problem.scores, 1)
        found = problem.chain.decode(problem.emissions, method=Beam(width=width), infeasible="return")
        if not len(best):
            assert found.status is certus.Status.INFEASIBLE, problem
            continue
        assert found.score <= best[0] <= found.bound, problem
        assert found.optimal == (found.bound == found.score), problem
        assert found.gap == found.bound - found.score
        proven += found.optimal
    assert proven > 0


def test_a_wide_beam_is_exact() -> None:
    for scores in SCORES:
        found = decode(scores, Beam(width=scores.labels))
        assert found.optimal
        assert found.score == best_scores(scores, 1)[0]


@every_shape
@pytest.mark.parametrize(("length", "labels"), [(30, 100), (17, 211), (10, 400)])
def test_large_problems_agree(shape: str, length: int, labels: int) -> None:
    scores = SHAPES[shape](np.random.default_rng(labels), length, labels)
    best = best_scores(scores, 5)
    for method in VARIANTS:
        one = decode(scores, method)
        assert one.score <= best[0] <= one.bound, method
        assert one.score == best[0] or not method.exact, method
    for method in MANY:
        assert decode(scores, method, k=5).scores.tolist() == best.tolist(), method
