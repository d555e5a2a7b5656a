"""The alternating directions method: nearest points, and the minimum of the dual."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from certus.errors import InvalidInput
from certus.relax import Admm, Decomposition, FactorGraph, Part
from certus.relax.parts import AtMostOne, Budget, ExactlyOne, TablePart
from tests.relax.problems import MAKERS


def test_small_problems_are_solved_exactly() -> None:
    for number in range(150):
        rng = np.random.default_rng(number)
        joint = MAKERS[number % len(MAKERS)](rng)
        d, _ = joint.decomposition()
        penalty = None if number % 3 else float(rng.choice([0.01, 1.0, 100.0]))
        found = d.solve(optimizer=Admm(penalty=penalty), infeasible="return")
        assert found.score == joint.optimum
        assert all(bound >= joint.optimum for bound in found.trace.bound)


def test_the_minimum_is_reached_where_coordinate_descent_stalls() -> None:
    """A ring of three that want to differ: the relaxation gives each pair its best, 3 in all."""
    rng = np.random.default_rng(5)
    for _ in range(20):
        tables = rng.integers(-4, 5, (3, 2, 2)).astype(float)
        d = Decomposition()
        parts = [d.add(TablePart(table)) for table in tables]
        for i in range(3):
            d.agree((parts[i], "1"), (parts[(i + 1) % 3], "0"))
        best = max(
            sum(float(tables[i][y[i], y[(i + 1) % 3]]) for i in range(3))
            for y in itertools.product((0, 1), repeat=3)
        )
        relaxed = {
            name: d.solve(optimizer=name, max_nodes=1, max_iterations=400, tighten=False).bound
            for name in ("admm", "bundle")
        }
        assert relaxed["admm"] >= best
        assert relaxed["admm"] == pytest.approx(relaxed["bundle"], abs=1e-3)


@pytest.mark.parametrize("shared", [1, 2, 4])
def test_constraints_that_count(shared: int) -> None:
    """Closed forms: exactly one, at most one, budgets; with cells that no other part has."""
    rng = np.random.default_rng(shared)
    for _ in range(60):
        scores = rng.integers(-5, 6, (3, 5)).astype(float)
        kinds: list[Callable[[NDArray[np.float64]], Part]] = [
            ExactlyOne,
            AtMostOne,
            lambda own: Budget(own, 2),
        ]
        limits = [(1, 1), (0, 1), (0, 2)]
        d = Decomposition()
        parts = [d.add(kind(own)) for kind, own in zip(kinds, scores, strict=True)]
        d.agree(*((part, "cells", np.arange(shared)) for part in parts))
        best = -np.inf
        for y in itertools.product((0, 1), repeat=5):
            rest = 0.0
            for own, (least, most) in zip(scores, limits, strict=True):
                fitting = [
                    float(own @ x)
                    for x in itertools.product((0, 1), repeat=5)
                    if x[:shared] == y[:shared] and least <= sum(x) <= most
                ]
                rest += max(fitting, default=-np.inf)
            best = max(best, rest)
        found = d.solve(optimizer="admm")
        assert found.optimal
        assert found.score == best


def test_factor_graphs_take_an_optimizer() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        graph = FactorGraph()
        binaries = [graph.add_binary(float(score)) for score in rng.integers(-3, 4, 6)]
        graph.add_or([~binaries[0], ~binaries[1], binaries[2]])
        graph.add_count(binaries[1:5], least=1, most=2)
        graph.add_or_output(binaries[3:5], binaries[5])
        plain = graph.solve()
        found = graph.solve(optimizer="admm")
        assert found.optimal
        assert found.score == plain.score


def test_refusals() -> None:
    with pytest.raises(InvalidInput, match="penalty must be a number above zero"):
        Admm(penalty=0.0)
    with pytest.raises(InvalidInput, match="penalty must be a number above zero"):
        Admm(penalty=np.inf)
