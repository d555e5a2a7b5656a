"""Graphs of clauses, which a search at fixed multipliers settles: against all ways to cut a set."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from certus.relax import FactorGraph

PROBLEMS = int(os.environ.get("CERTUS_PROBLEMS", 2000))
MENTIONS = 7
PAIRS = list(itertools.combinations(range(MENTIONS), 2))


def cut(count: int) -> Iterator[tuple[int, ...]]:
    """Every partition of a set, as the block of each element."""
    if count == 0:
        yield ()
        return
    for blocks in cut(count - 1):
        for block in range(max(blocks, default=-1) + 2):
            yield (*blocks, block)


def make_coreference(scores: NDArray[np.float64]) -> FactorGraph:
    """What is the same as the same is the same."""
    graph = FactorGraph()
    same = {pair: graph.add_binary(float(score)) for pair, score in zip(PAIRS, scores, strict=True)}
    for a, b, c in itertools.combinations(range(MENTIONS), 3):
        sides = [same[a, b], same[b, c], same[a, c]]
        for apart in range(3):
            graph.add_or([side if n == apart else ~side for n, side in enumerate(sides)])
    return graph


def test_clauses_are_settled_without_branches() -> None:
    rng = np.random.default_rng(0)
    together = np.array([[blocks[a] == blocks[b] for a, b in PAIRS] for blocks in cut(MENTIONS)])
    nodes = []
    for _ in range(PROBLEMS // 10):
        scores = rng.integers(-5, 6, len(PAIRS)).astype(np.float64)
        graph = make_coreference(scores)
        found = graph.solve()
        assert found.optimal
        assert found.score == found.bound == (together @ scores).max() == graph.score(found.value)
        nodes.append(found.stats["nodes"])
        rise = np.diff(found.trace.score[np.isfinite(found.trace.score)])
        assert (rise >= 0).all()
        assert (np.diff(found.trace.bound) <= 0).all()
    assert np.mean(np.array(nodes) > 1) < 0.05


def test_clauses_on_the_same_variables_are_one_table() -> None:
    graph = FactorGraph()
    a, b = graph.add_binary(1.0), graph.add_binary(1.0)
    graph.add_or([~a, ~b])
    graph.add_or([a, ~b])
    graph.add_or([~a, b])
    graph.add_count([a, b, graph.add_binary(), graph.add_binary()], most=3)
    apart, merged = (graph._make_graph() for _ in range(2))
    merged.merge()
    assert (apart.parts, merged.parts) == (4, 2)
    assert graph.solve().score == 0.0


def test_parts_that_agree_once_variables_are_fixed_leave_nothing_to_choose() -> None:
    """Bounds fix what the parts differ on before the search begins: then the answer is taken as it is."""
    for nodes in (1, 2, 3, 10):
        graph = FactorGraph()
        a, b = graph.add_binary(1.0), graph.add_binary(1.0)
        v = graph.add_variable([-1e6, -1e6])
        graph.add_exactly_one([~a, v[0]])
        graph.add_at_most_one([b])
        graph.add_or([~b, a])
        graph.add_at_most_one([v[0], b])
        graph.add_at_most_one([v[1], a])
        found = graph.solve(max_nodes=nodes)
        assert (found.score, found.bound, found.optimal) == (-999_999.0, -999_999.0, True)
