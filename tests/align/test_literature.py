"""LR, CONS and dual decomposition: bounds hold, and what they call optimal is the best of all."""

from __future__ import annotations

import os
import re
from collections import Counter
from random import Random
from typing import Any

import numpy as np
import pytest

import certus
from certus.align import METHODS, Alignment, DualDecomposition, ViterbiRelaxation, align_matrix
from certus.align.methods import AlignMethod
from tests.align.problems import align, make_strict, make_tour
from tests.reference.align import brute

PROBLEMS = int(os.environ.get("CERTUS_PROBLEMS", "2000"))
SIZES = [(i, j) for i in range(5) for j in range(5) if (j + 1) ** i * (i + 1) ** j <= 1000]
TRIED: dict[str, AlignMethod] = {
    "lr": METHODS["lr"],
    "lr from zero": ViterbiRelaxation(constrained_iterations=0, start="zero"),
    "cons": METHODS["cons"],
    "cons soon": ViterbiRelaxation(max_iterations=1, start="zero"),
    "decomposition": METHODS["decomposition"],
}


def check(found: Alignment, best: float) -> None:
    """Hold an answer against the best score of all."""
    assert found.bound >= best - 1e-9
    assert not found.score > best  # which is NaN where a rule merged links
    if found.optimal:
        assert found.score == best == found.bound
    if found.status is certus.Status.INFEASIBLE:
        assert best == -np.inf


def test_brute_force(tally: list[int]) -> None:
    rng, seen = Random(7), Counter[tuple[str, str]]()
    for number in range(PROBLEMS // 2):
        problem = make_strict(rng, *rng.choice(SIZES))
        best = brute(problem)
        for name, method in TRIED.items():
            found = align(problem, method=method)
            try:
                check(found, best)
            except AssertionError as error:
                raise AssertionError((number, name, problem, found, best)) from error
            seen[name, found.status.value] += 1
    tally.append(sum(count for (_, status), count in seen.items() if status == "optimal"))
    for name in ("cons", "cons soon"):  # all constraints of problems this small can be put back
        assert seen[name, "feasible"] == 0
    for name in ("lr", "lr from zero", "decomposition"):  # so that an open gap is tried, too
        assert seen[name, "feasible"] > 0
        assert seen[name, "optimal"] > PROBLEMS // 4


def test_tours() -> None:
    """The hardest problems there are: a bound holds, and constraints prove more than none."""
    proven = Counter[str]()
    for seed in range(6):
        problem, shortest = make_tour(Random(seed), 5)
        for name in ("lr", "cons", "decomposition"):
            found = align(problem, method=name)
            check(found, -shortest)
            proven[name] += found.optimal
    assert proven["cons"] == 6
    assert proven["lr"] < 6


def make_hard() -> dict[str, Any]:
    """A pair that LR does not prove."""
    rng = np.random.default_rng(3)
    for _ in range(100):
        given: dict[str, Any] = {
            "forward": rng.normal(size=(7, 7)),
            "backward": rng.normal(size=(7, 7)),
            "forward_steps": rng.normal(size=(8, 8)),
            "backward_steps": rng.normal(size=(8, 8)),
            "agreement": "adjacent",
        }
        if not align_matrix(**given, method="lr").optimal:
            return given
    raise AssertionError("LR proved all of them")


def test_constraints_close_the_gap() -> None:
    given = make_hard()
    relaxed, constrained = (align_matrix(**given, method=name) for name in ("lr", "cons"))
    assert relaxed.stats["constraints"] == 0 < constrained.stats["constraints"]
    assert constrained.optimal
    assert constrained.score == pytest.approx(align_matrix(**given).score, abs=1e-9)
    assert relaxed.score <= constrained.score <= relaxed.bound


def test_trace() -> None:
    given = make_hard()
    trace = align_matrix(**given, method="lr").trace
    assert trace is not None
    assert trace.intersection is not None
    assert trace.space is not None
    assert len(trace.dual) == len(trace.primal) == len(trace.intersection) == len(trace.space) == 400
    assert (np.diff(trace.dual) <= 0).all()
    assert (np.diff(trace.primal) >= 0).all()
    assert (np.diff(trace.space) <= 0).all()
    assert (trace.intersection <= trace.dual + 1e-9).all()
    assert trace.space[-1] < 1


def test_copies_that_differ_are_merged() -> None:
    rng, merged = Random(5), 0
    for _ in range(200):
        problem = make_strict(rng, 4, 4)
        links = {
            merge: align(problem, method=DualDecomposition(max_iterations=3, merge=merge))
            for merge in ("union", "intersection", "grow-diag")
        }
        if links["union"].status is certus.Status.FEASIBLE:
            merged += 1
            assert np.isnan(links["union"].score)
            assert (
                set(links["intersection"].links) <= set(links["grow-diag"].links) <= set(links["union"].links)
            )
    assert merged > 10


@pytest.mark.parametrize("method", ["lr", "cons", "decomposition"])
def test_empty_sides_and_one_word(method: str) -> None:
    for shape in ((0, 0), (0, 3), (3, 0)):
        found = align_matrix(np.zeros(shape), null=-1.0, method=method)
        assert (found.links, found.score, found.optimal) == ((), -float(sum(shape)), True)
    assert align_matrix([[2.0]], method=method).links == ((0, 0),)
    with pytest.raises(certus.Infeasible):
        align_matrix([[-np.inf]], null=-np.inf, method=method)


def test_a_limit_of_time_leaves_a_bound() -> None:
    rng = np.random.default_rng(1)
    given: dict[str, Any] = {
        "forward": rng.normal(size=(40, 40)),
        "forward_steps": rng.normal(size=(41, 41)),
        "backward_steps": rng.normal(size=(41, 41)),
    }
    for method in ("lr", "cons", "decomposition"):
        found = align_matrix(**given, method=method, seconds=0.0)
        assert found.stats["iterations"] == 1
        assert found.bound >= align_matrix(**given, seconds=0.5).score


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"method": "lagrange"}, "there is no method 'lagrange'; there are exact, lr, cons, decomposition"),
        ({"method": "lr", "agreement": "soft"}, '"full" and "adjacent" agreement only'),
        ({"method": "decomposition", "agreement": "soft"}, '"full" and "adjacent" agreement only'),
        ({"method": "lr", "max_nodes": 3}, "ViterbiRelaxation has no max_nodes"),
        ({"method": "cons", "max_iterations": 0}, "max_iterations"),
    ],
)
def test_refusals(given: dict[str, Any], message: str) -> None:
    with pytest.raises(certus.InvalidInput, match=re.escape(message)):
        align_matrix([[1.0]], **given)
    with pytest.raises(certus.InvalidInput, match="there is no start"):
        ViterbiRelaxation(start="here")
    with pytest.raises(certus.InvalidInput, match="step is 0"):
        ViterbiRelaxation(step=0)
    with pytest.raises(certus.InvalidInput, match="there is no rule"):
        DualDecomposition(merge="mix")
