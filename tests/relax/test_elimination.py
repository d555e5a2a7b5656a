"""Narrow graphs by dynamic programming, against enumeration."""

from __future__ import annotations

import itertools

import numpy as np

from certus.relax import FactorGraph
from certus.relax.elimination import Scope, eliminate, find_order

Rng = np.random.Generator


def draw_scopes(rng: Rng) -> tuple[list[int], list[Scope]]:
    states = [int(n) for n in rng.integers(1, 4, int(rng.integers(1, 7)))]
    scopes = []
    for _ in range(int(rng.integers(0, 8))):
        chosen = tuple(int(v) for v in rng.permutation(len(states))[: int(rng.integers(1, 4))])
        scores = rng.integers(-5, 6, [states[v] for v in chosen]).astype(np.float64)
        scores[rng.random(scores.shape) < 0.2] = -np.inf
        scopes.append(Scope(chosen, scores))
    return states, scopes


def test_elimination_is_exact() -> None:
    rng = np.random.default_rng(0)
    outcomes = set()
    for _ in range(500):
        states, scopes = draw_scopes(rng)
        every = itertools.product(*map(range, states))
        worth = {y: sum(float(s.scores[tuple(y[v] for v in s.variables)]) for s in scopes) for y in every}
        best = max(worth.values())
        order = find_order(states, [scope.variables for scope in scopes])
        assert order is not None
        assert sorted(order) == list(range(len(states)))
        found = eliminate(states, scopes, order)
        outcomes.add(found is None)
        if found is None:
            assert best == -np.inf
        else:
            assert worth[tuple(found.tolist())] == best > -np.inf
    assert outcomes == {False, True}


def test_wide_graphs_have_no_order() -> None:
    assert find_order([10] * 12, [(a, b) for a in range(12) for b in range(a)]) is None


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
