"""Clusters on cycles: scores of cycles, tighter bounds, and exact answers."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

from certus import _native
from certus.relax import FactorGraph, factor_graph
from certus.relax.cycles import Pairs, find_cycles, find_pairs, make_tightened, tighten
from certus.relax.optimizers import Auto
from certus.solution import Status

Rng = np.random.Generator


def draw_graph(rng: Rng, forbid: float = 0.1) -> tuple[FactorGraph, NDArray[np.float64]]:
    """A few variables, most pairs of them with a table, some in falling order; and all scores."""
    states = rng.integers(2, 4, int(rng.integers(3, 6))).tolist()
    graph = FactorGraph()
    total = np.zeros(states)

    def add(axes: list[int], scores: NDArray[np.float64]) -> None:
        shape = [states[v] if v in axes else 1 for v in range(len(states))]
        total[...] += (scores if axes == sorted(axes) else scores.T).reshape(shape)

    variables = []
    for v, count in enumerate(states):
        own = rng.integers(-2, 3, count).astype(float)
        variables.append(graph.add_variable(own))
        add([v], own)
    for pair in itertools.combinations(range(len(states)), 2):
        if rng.random() < 0.85:
            axes = list(pair) if rng.random() < 0.5 else list(pair[::-1])
            scores = rng.integers(-5, 6, [states[v] for v in axes]).astype(float)
            scores[rng.random(scores.shape) < forbid] = -np.inf
            graph.add_table([variables[v] for v in axes], scores)
            add(axes, scores)
    return graph, total


def run(relaxation: _native.Relaxation, nodes: int = 10**6) -> _native.SearchEnd:
    limits = _native.SearchLimits(seconds=np.inf, nodes=nodes, tolerance=1e-12)
    return relaxation.run(limits, Auto().native, None)


def test_with_clusters_everything_is_solved_exactly() -> None:
    rng = np.random.default_rng(0)
    tighter = 0
    for _ in range(150):
        graph, total = draw_graph(rng)
        pairs = Pairs([v.states for v in graph.variables], [v.cell for v in graph.variables])
        find_pairs(pairs, graph._factors)
        native, factors, cells = graph._make_graph(), list(graph._share_scores()), len(graph._scores)
        every = [t for t in itertools.combinations(range(len(graph.variables)), 3) if rng.random() < 0.7]
        made = make_tightened(pairs, native, factors, every, cells)
        assert run(made) is _native.SearchEnd.SEARCHED
        assert made.score == total.max()
        root, joined = graph._relax(native), make_tightened(pairs, native, factors, every, cells)
        run(root, 1), run(joined, 1)
        assert joined.bound >= total.max()
        tighter += joined.bound < root.bound - 1e-9
        multipliers = root.multipliers
        if (found := tighten(pairs, native, factors, multipliers, cells)) is not None:
            assert run(found) is _native.SearchEnd.SEARCHED
            assert found.score == total.max()
    assert tighter > 10


def test_a_cycle_is_worth_what_its_tables_lose_together() -> None:
    """Three that want to differ from each other, and four of which one pair does: a table each is lost."""
    same, apart = np.eye(2), 1 - np.eye(2)
    (score, triplets), *rest = find_cycles({(0, 1): apart, (0, 2): apart, (1, 2): apart})
    assert (score, triplets, rest) == (1.0, [(0, 1, 2)], [])
    (score, triplets), *rest = find_cycles({(0, 1): same, (1, 2): same, (2, 3): same, (0, 3): apart})
    assert score == 1.0
    assert set(triplets) in ({(0, 1, 2), (0, 2, 3)}, {(0, 1, 3), (1, 2, 3)})
    assert find_cycles({(0, 1): same, (0, 2): same, (1, 2): same}) == []
    assert find_cycles({}) == []


def test_a_long_cycle_of_spins_is_cut_into_triangles() -> None:
    """A ring in which an odd number of neighbours want to differ loses what is wanted least."""
    same, apart = np.eye(2), 1 - np.eye(2)
    ring = {(i, i + 1): (2 + i) * same for i in range(6)} | {(0, 6): 1.5 * apart}
    (score, triplets), *rest = find_cycles(ring)
    assert (score, rest) == (1.5, [])
    assert len(triplets) == 5
    assert {v for triplet in triplets for v in triplet} == set(range(7))
    assert find_cycles(ring | {(0, 6): 1.5 * same}) == []
    graph = FactorGraph()
    spins = [graph.add_variable(np.zeros(2)) for _ in range(7)]
    for (a, b), table in ring.items():
        graph.add_table([spins[a], spins[b]], table)
    pairs = Pairs([2] * 7, [v.cell for v in spins])
    find_pairs(pairs, graph._factors)
    native, factors = graph._make_graph(), list(graph._share_scores())
    made = make_tightened(pairs, native, factors, triplets, len(graph._scores))
    run(made, 1)
    best = sum(float(table.max()) for table in ring.values()) - 1.5
    assert (made.score, made.bound) == (best, best)


def draw_torus(side: int, rng: Rng) -> FactorGraph:
    """Spins on a torus, so that nothing is at the edge."""
    graph = FactorGraph()
    spins = [graph.add_variable(np.zeros(2)) for _ in range(side * side)]
    for i, j in itertools.product(range(side), repeat=2):
        for a, b in (((i + 1) % side, j), (i, (j + 1) % side)):
            coupling = float(rng.integers(-3, 4))
            graph.add_table([spins[i * side + j], spins[a * side + b]], coupling * (2 * np.eye(2) - 1))
    return graph


def test_searches_go_on_with_clusters(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AT_ONCE", "NARROW"):  # as if all were too wide
        monkeypatch.setattr(factor_graph, name, 0)
    monkeypatch.setattr(factor_graph, "MANY_NODES", 2)
    for seed in range(4):
        graph = draw_torus(5, np.random.default_rng(seed))
        plain, found = graph.solve(tighten=False), graph.solve()
        assert found.status is plain.status is Status.OPTIMAL
        assert found.score == plain.score == graph.score(found.value)
        assert found.stats["nodes"] <= plain.stats["nodes"]
        stopped = graph.solve(max_nodes=3)
        assert stopped.score <= found.score <= stopped.bound


def test_the_trace_goes_on_with_clusters(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time, answers and bounds of the search before there were clusters are those that the next one has."""
    for name in ("AT_ONCE", "NARROW"):
        monkeypatch.setattr(factor_graph, name, 0)
    monkeypatch.setattr(factor_graph, "MANY_NODES", 2)
    longer = 0
    for seed in range(4):
        graph = draw_torus(5, np.random.default_rng(seed))
        first, found = graph.solve(max_nodes=2), graph.solve()
        steps = len(first.trace.bound)
        longer += len(found.trace.bound) > steps
        for name in ("bound", "score", "nodes"):
            assert (getattr(found.trace, name)[:steps] == getattr(first.trace, name)).all()
        assert (np.diff(found.trace.seconds) >= 0).all()
        assert (np.diff(found.trace.bound) <= 0).all()
        assert (found.trace.score[1:] >= found.trace.score[:-1]).all()
        assert found.trace.bound.min() >= found.score == found.trace.score[-1]
    assert longer > 0
