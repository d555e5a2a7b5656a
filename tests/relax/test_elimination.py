"""Narrow graphs by dynamic programming, against enumeration."""

from __future__ import annotations

import itertools

import numpy as np

from certus.relax import FactorGraph
from certus.relax.factor_graph import NARROW
from tests.relax.test_factor_graph import PROBLEMS, draw_graph, enumerate_best


def test_elimination_is_exact() -> None:
    """Tables and constraints of all kinds, on states and on binary variables."""
    outcomes = set()
    for seed in range(PROBLEMS // 2):
        graph = draw_graph(seed)
        native, best = graph._make_graph(), enumerate_best(graph)
        assert native.count_entries(NARROW) <= NARROW
        for merge in (False, True):
            if merge:
                native.merge()
            found = native.eliminate(NARROW)
            outcomes.add(len(found.states) > 0)
            assert found.score == best, seed
            if len(found.states):
                assert graph.score(found.states) == best, seed
    assert outcomes == {False, True}


def test_wide_graphs_are_not_eliminated() -> None:
    graph = FactorGraph()
    variables = [graph.add_variable(np.zeros(10)) for _ in range(12)]
    for a, b in itertools.combinations(variables, 2):
        graph.add_table([a, b], np.zeros((10, 10)))
    assert graph._make_graph().count_entries(NARROW) > NARROW
    graph.add_at_most_one([v[0] for v in variables])  # a constraint that is wide by itself
    assert graph._make_graph().count_entries(NARROW) > NARROW


def test_a_spin_glass_is_proven() -> None:
    """Couplings alone: every relaxation by edges is half of each, so that only elimination is quick."""
    rng = np.random.default_rng(1)
    graph, side = FactorGraph(), 6
    spins = [[graph.add_binary() for _ in range(side)] for _ in range(side)]
    for i, j in itertools.product(range(side), repeat=2):
        for a, b in ((i + 1, j), (i, j + 1)):
            if a < side and b < side:
                pull = float(rng.integers(1, 9)) * rng.choice([-1, 1])
                graph.add_table([spins[i][j], spins[a][b]], pull * np.array([[1, -1], [-1, 1]]))
    found = graph.solve()
    assert found.optimal
    assert found.score == found.bound == graph.score(found.value)
    whole = graph.solve(max_nodes=30)
    assert whole.score <= found.score <= whole.bound
