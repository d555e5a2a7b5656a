"""A forest as a part of a decomposition: against enumeration, and in agreement with another part."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import certus
from certus.hypergraph import Builder
from certus.part import Forbidden
from certus.relax import Decomposition
from tests.hypergraph.forests import Problem, draw
from tests.reference.hypergraph import score


def spaces_for(rng: np.random.Generator, edges: int) -> dict[str, Any]:
    """Every edge has a cell in one space, and some have one in the other: none is shared by two edges."""
    cells = rng.permutation(edges + 3)[:edges]
    some = np.flatnonzero(rng.random(edges) < 0.5)
    return {
        "a": ((edges + 3,), np.arange(edges), cells),
        "b": ((2, edges), some, edges + some),
    }


def adjustments(rng: np.random.Generator, spaces: dict[str, Any]) -> dict[str, Any]:
    adjust = {}
    for name, (shape, _, _) in spaces.items():
        adjust[name] = rng.integers(-4, 5, shape).astype(float)
        adjust[name][rng.random(shape) < 0.1] = -np.inf
    if rng.random() < 0.2:
        del adjust["b"]
    return adjust


def repeats(p: Problem) -> bool:
    return any(len(set(d)) < len(d) for d in p.found)


@pytest.mark.parametrize("seed", range(6))
def test_enumeration(seed: int, tally: list[int]) -> None:
    rng = np.random.default_rng(seed)
    done = 0
    while done < 60:
        p = draw(rng)
        if not p.found or repeats(p):
            continue
        spaces = spaces_for(rng, p.graph.edges)
        part = p.graph.part(p.scores.astype(np.float32), spaces)
        assert part.spaces == {name: tuple(shape) for name, (shape, _, _) in spaces.items()}
        adjust = adjustments(rng, spaces)
        totals, cells = [], []
        for d in p.found:
            used: Any = {name: np.zeros(shape, int) for name, (shape, _, _) in spaces.items()}
            for name, (_, edges, where) in spaces.items():
                used[name].ravel()[where[np.isin(edges, d)]] = 1
            more = sum(float(adjust[name][used[name] == 1].sum()) for name in adjust)
            totals.append(score(d, p.scores) + more)
            cells.append(used)
        best = max(totals)
        if best == -np.inf:
            with pytest.raises(Forbidden):
                part.maximize(adjust)
            continue
        choice = part.maximize(adjust)
        which = p.found.index(tuple(choice.value.tolist()))
        assert totals[which] == best
        assert choice.score == score(p.found[which], p.scores)
        for name in spaces:
            assert np.array_equal(choice.indicators[name], cells[which][name])
        marginals = part.max_marginals(adjust)
        for name, (shape, _, _) in spaces.items():
            expected = np.full(shape, -np.inf)
            for total, used in zip(totals, cells, strict=True):
                expected = np.maximum(expected, np.where(used[name] == 1, total, -np.inf))
            assert marginals[name].tolist() == expected.tolist()
        completed = part.complete({name: cells[which][name] for name in spaces})
        assert completed is not None
        assert np.array_equal(completed.indicators["a"], cells[which]["a"])
        assert part.complete({"a": np.zeros(p.graph.edges + 3)}) is None
        done += 1
    tally.append(done)


def test_in_a_decomposition() -> None:
    """Two forests over the tags of two words agree on them: equal to brute force."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        parts, tables = [], []
        d = Decomposition()
        for _ in range(2):
            builder = Builder()
            table = rng.integers(-5, 6, (3, 3)).astype(float)
            for i in range(3):
                for j in range(3):
                    builder.add("S", [(0, i), (1, j)], score=table[i, j])
            leaves = [builder.add((word, tag)) for word in range(2) for tag in range(3)]
            part = builder.build("S").part(builder.scores, {"tags": ((2, 3), leaves, np.arange(6))})
            parts.append(d.add(part))
            tables.append(table)
        d.agree((parts[0], "tags"), (parts[1], "tags"))
        found = d.solve()
        assert found.optimal
        assert found.score == (tables[0] + tables[1]).max()


def test_refusals() -> None:
    builder = Builder()
    builder.add("S", ["A", "A"])
    builder.add("A")
    graph, scores = builder.build("S"), builder.scores
    twice = graph.part(scores, {"x": ((1, 2), [1], [1])})
    with pytest.raises(certus.InvalidInput, match=r"uses the cell \['x'\]\[0, 1\] twice"):
        twice.maximize({})
    part = graph.part(scores, {"x": ((1, 2), [0], [1])})
    assert part.maximize({}).score == 0
    with pytest.raises(certus.InvalidInput, match="no space 'y'; this part has x"):
        part.maximize({"y": np.zeros(2)})
    with pytest.raises(certus.InvalidInput, match=r"must have shape \(1, 2\), not \(2,\)"):
        part.maximize({"x": np.zeros(2)})
    for ask in (part.maximize, part.max_marginals):
        with pytest.raises(certus.InvalidInput, match=r"adjust\['x'\]\[0, 1\] is nan"):
            ask({"x": np.array([[0, np.nan]])})
        with pytest.raises(Forbidden, match="no derivation"):
            ask({"x": np.array([[0, -np.inf]])})
    for wrong, message in (
        (((1, 2), [5], [0]), "space 'x' names edge 5, but edges go from 0 to 1"),
        (((1, 2), [0], [2]), "space 'x' names cell 2, but cells go from 0 to 1"),
        (((1, 2), [0], [0, 1]), "1 edges, but 2 cells"),
        ((2, [0], [0]), r"must be \(shape, edges, cells\)"),
    ):
        with pytest.raises(certus.InvalidInput, match=message):
            graph.part(scores, {"x": wrong})  # type: ignore[dict-item]
