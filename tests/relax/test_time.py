"""Time limits and Ctrl-C are heeded inside of long kernels, and leave the best answer so far."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from time import process_time, sleep

import numpy as np
import pytest

import certus
from certus.relax import Decomposition, FactorGraph, Interrupted
from certus.relax.parts import ChainPart, Knapsack, Matching, Or, TablePart
from certus.solution import Status

LATE = 0.5  # seconds of the processor; without looks inside of kernels these take several each


def chains() -> Decomposition:
    """Two chains whose first maxima alone take seconds."""
    rng = np.random.default_rng(1)
    d = Decomposition()
    for name in "ab":
        chain = certus.Chain(rng.normal(size=(1000, 1000)))
        d.add(ChainPart(chain, rng.normal(size=(500, 1000))), name)
    d.agree(*((part, "labels") for part in d.parts))
    return d


def matchings() -> Decomposition:
    rng = np.random.default_rng(2)
    d = Decomposition()
    d.agree(*((d.add(Matching(rng.normal(size=(500, 500)))), "cells") for _ in "ab"))
    return d


def tables() -> Decomposition:
    rng = np.random.default_rng(3)
    d = Decomposition()
    one, two = (d.add(TablePart(rng.normal(size=(150, 150, 150)))) for _ in "ab")
    for axis in "012":
        d.agree((one, axis), (two, axis))
    return d


def knapsacks() -> FactorGraph:
    rng = np.random.default_rng(4)
    graph = FactorGraph()
    variables = [graph.add_binary(score) for score in rng.normal(size=200) + 1]
    for _ in range(5):
        graph.add_knapsack(variables, rng.integers(1, 300, 200).tolist(), 10_000)
    return graph


@pytest.mark.parametrize("make", [chains, matchings, tables, knapsacks])
def test_time_limits(make: Callable[[], Decomposition | FactorGraph]) -> None:
    problem = make()
    for seconds in (0.3, 1.0):
        began = process_time()
        found = problem.solve(seconds=seconds)
        assert process_time() - began < seconds + LATE
        assert found.status is Status.SECONDS
        assert found.score <= found.bound


def test_an_interrupted_factor_graph_has_its_best_answer() -> None:
    rng = np.random.default_rng(5)
    graph = FactorGraph()
    variables = [graph.add_variable(rng.normal(size=6)) for _ in range(25)]
    for n, one in enumerate(variables):
        for other in variables[:n]:
            graph.add_table([one, other], rng.normal(size=(6, 6)))

    def interrupt() -> None:
        sleep(0.5)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(Interrupted) as caught:
        graph.solve()
    best = caught.value.solution
    assert best.status is Status.STOPPED
    assert graph.score(best.value) == pytest.approx(best.score)  # type: ignore[arg-type]
    assert best.score <= best.bound < np.inf


def test_parts_of_logic_stand_beside_larger_ones() -> None:
    """A chain with a disjunction over its labels, and a knapsack of them, against all sequences."""
    rng = np.random.default_rng(6)
    for _ in range(30):
        scores, steps = rng.integers(-5, 6, (4, 3)), rng.integers(-5, 6, (3, 3))
        weights = rng.integers(0, 4, 12)
        d = Decomposition()
        chain = d.add(ChainPart(certus.Chain(steps), scores))
        some = d.add(Or(np.zeros(3)))
        light = d.add(Knapsack(np.zeros(12), weights.tolist(), 5))
        d.agree((chain, "labels", [0, 4, 8]), (some, "cells"))
        d.agree((chain, "labels", np.arange(12)), (light, "cells"))
        best = -np.inf
        for labels in np.ndindex(3, 3, 3, 3):
            y = np.array(labels)
            if any(y[t] == t for t in range(3)) and weights[np.arange(4) * 3 + y].sum() <= 5:
                own = scores[np.arange(4), y].sum() + steps[y[:-1], y[1:]].sum()
                best = max(best, float(own))
        found = d.solve(infeasible="return", certificate=best > -np.inf)
        assert found.score == best
        assert found.status is (Status.OPTIMAL if best > -np.inf else Status.INFEASIBLE)
        assert best == -np.inf or certus.verify(d, found).proven
