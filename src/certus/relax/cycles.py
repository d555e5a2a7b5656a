"""Tighter relaxations of factor graphs: clusters of variables on cycles whose tables contradict each other.

Where the tables of a cycle, each at its best, want states that do not fit together, a relaxation by tables is
loose. A cluster of three variables that agrees with the tables on *pairs* of states repairs that (Sontag,
Meltzer, Globerson, Jaakkola & Weiss 2008). Cycles are scored by how much the bound falls if their tables are
maximised together instead of one by one, under the multipliers of the relaxation::

    sum over tables of max b  -  max over states of the sum of b

Cycles of three variables are one cluster; those of four get a chord and are two. Of variables with two
states, longer cycles are found as well (Sontag, Choe & Li 2012), and get a chord for each cluster but one.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from certus import _native
from certus.relax.factors import Factor, Floats, Table

LEAST = 1e-6  # of the largest belief: what a cycle has to lower the bound by
AROUND = 12  # common neighbours of two variables that are paired in cycles of four
MOST = 5000  # clusters
ENTRIES = 4096  # of a cluster, at most

Pair = tuple[int, int]  # variables, in rising order
Triplet = tuple[int, int, int]


@dataclass
class Pairs:
    """The tables of two variables with several states each.

    Attributes:
        states: by variable, how many it has, and ``first`` its first cell.
        factor: by pair, the place of its table among the factors; the first one where there are several.
    """

    states: list[int]
    first: list[int]
    factor: dict[Pair, int] = field(default_factory=dict)

    def list_cells(self, variable: int) -> NDArray[np.int64]:
        """Return the cells of a variable."""
        return np.arange(self.first[variable], self.first[variable] + self.states[variable])


def find_pairs(pairs: Pairs, factors: Sequence[Factor]) -> None:
    """Note which tables are of two variables with several states each."""
    owner = {cell: variable for variable, cell in enumerate(pairs.first)}
    for number, factor in enumerate(factors):
        if not isinstance(factor, Table) or len(factor.shape) != 2 or any(factor.single):
            continue
        axes = [owner.get(factor.cells[at]) for at in (0, factor.shape[0])]
        known = [v for v in axes if v is not None]
        if [pairs.states[v] for v in known] == factor.shape:
            pairs.factor.setdefault((min(known), max(known)), number)


def read_beliefs(
    pairs: Pairs, factors: Sequence[tuple[Factor, Floats]], multipliers: Floats
) -> dict[Pair, Floats]:
    """Return the table of each pair with the multipliers of its cells; ``multipliers`` are by copy."""
    begins = [0, *itertools.accumulate(len(factor.cells) for factor, _ in factors)]
    beliefs = {}
    for pair, number in pairs.factor.items():
        factor, own = factors[number]
        assert isinstance(factor, Table)
        added = own + multipliers[begins[number] : begins[number + 1]]
        rows = factor.shape[0]
        table = factor.table.reshape(factor.shape) + added[:rows, None] + added[rows:]
        beliefs[pair] = table if factor.cells[0] == pairs.first[pair[0]] else table.T
    return beliefs


def find_cycles(
    beliefs: Mapping[Pair, Floats], is_over: Callable[[], bool] = lambda: False
) -> list[tuple[float, list[Triplet]]]:
    """Return cycles of variables that lower the bound, as triplets, the best first of those found in time."""
    around: dict[int, set[int]] = {}
    for a, b in beliefs:
        around.setdefault(a, set()).add(b)
        around.setdefault(b, set()).add(a)
    largest = max((float(np.abs(b[np.isfinite(b)]).max(initial=0.0)) for b in beliefs.values()), default=0.0)
    found = itertools.chain(
        _score_triangles(beliefs, around), _score_squares(beliefs, around), _score_long_cycles(beliefs)
    )
    kept = [pair for pair in itertools.takewhile(lambda _: not is_over(), found) if pair[0] > LEAST * largest]
    return sorted(kept, key=lambda pair: -pair[0])


def _read(beliefs: Mapping[Pair, Floats], a: int, b: int) -> Floats:
    return beliefs[a, b] if a < b else beliefs[b, a].T


def _score_triangles(
    beliefs: Mapping[Pair, Floats], around: Mapping[int, set[int]]
) -> Iterator[tuple[float, list[Triplet]]]:
    for a, b in beliefs:
        for c in sorted(around[a] & around[b]):
            if c < b:
                continue
            tables = beliefs[a, b], beliefs[a, c], beliefs[b, c]
            joint = tables[0][:, :, None] + tables[1][:, None, :] + tables[2][None]
            if joint.size <= ENTRIES:
                yield _compare(tables, joint), [(a, b, c)]


def _score_squares(
    beliefs: Mapping[Pair, Floats], around: Mapping[int, set[int]]
) -> Iterator[tuple[float, list[Triplet]]]:
    """Score cycles a - b - c - d, where a and c share no table; the chord is between them."""
    common: dict[Pair, list[int]] = {}
    for b, others in sorted(around.items()):
        for a, c in itertools.combinations(sorted(others), 2):
            if c not in around[a]:
                common.setdefault((a, c), []).append(b)
    for (a, c), between in common.items():
        sides = [(_read(beliefs, a, b), _read(beliefs, b, c)) for b in between[:AROUND]]
        if any(one.size * two.shape[1] > ENTRIES for one, two in sides):
            continue
        joined = [(one[:, :, None] + two[None]).max(axis=1) for one, two in sides]
        for i, j in itertools.combinations(range(len(sides)), 2):
            score = _compare((*sides[i], *sides[j]), joined[i] + joined[j])
            yield score, [_sort(a, between[i], c), _sort(a, between[j], c)]


def _score_long_cycles(beliefs: Mapping[Pair, Floats]) -> Iterator[tuple[float, list[Triplet]]]:
    """Score cycles of more than four variables with two states that cannot all be as their tables want them.

    A table wants its variables equal or apart, by so much: a cycle in which an odd number wants them apart
    loses at least the least of that. Looked at are those that one table closes over a tree of the tables that
    want it most.
    """
    wants = {
        pair: float(max(b[0, 0], b[1, 1]) - max(b[0, 1], b[1, 0]))
        for pair, b in beliefs.items()
        if b.shape == (2, 2)
    }
    parent, depth = _span({pair: abs(want) for pair, want in wants.items()})
    for a, b in wants:
        left, right = [a], [b]
        while left[-1] != right[-1]:
            side = left if depth[left[-1]] >= depth[right[-1]] else right
            side.append(parent[side[-1]])
        cycle = left + right[-2::-1]
        own = [wants[min(pair), max(pair)] for pair in itertools.pairwise([*cycle, a])]
        if len(cycle) > 4 and sum(want < 0 for want in own) % 2:
            yield min(map(abs, own)), [_sort(a, *pair) for pair in itertools.pairwise(cycle[1:])]


def _span(weights: Mapping[Pair, float]) -> tuple[dict[int, int], dict[int, int]]:
    """Return the parents and the depths of variables in the heaviest spanning trees; roots are their own."""
    around: dict[int, list[int]] = {}
    for a, b in weights:
        around.setdefault(a, []).append(b)
        around.setdefault(b, []).append(a)
    parent: dict[int, int] = {}
    depth: dict[int, int] = {}
    for root in around:
        queue = [(0.0, root, root)]
        while queue:
            _, a, b = heapq.heappop(queue)
            if b in parent:
                continue
            parent[b], depth[b] = a, depth.get(a, -1) + 1
            for c in around[b]:
                heapq.heappush(queue, (-weights[min(b, c), max(b, c)], b, c))
    return parent, depth


def _sort(a: int, b: int, c: int) -> Triplet:
    low, middle, high = sorted((a, b, c))
    return low, middle, high


def _compare(tables: Sequence[Floats], joint: Floats) -> float:
    together = float(joint.max())
    return sum(float(table.max()) for table in tables) - together if together > -np.inf else np.inf


def make_tightened(
    pairs: Pairs,
    graph: _native.FactorGraph,
    factors: Sequence[tuple[Factor, Floats]],
    triplets: Sequence[Triplet],
    cells: int,
) -> _native.Relaxation:
    """Return the relaxation with clusters; its first ``cells`` variables are those of the graph."""
    wanted = sorted({pair for triplet in triplets for pair in itertools.combinations(triplet, 2)})
    first: dict[Pair, int] = {}
    total = cells
    for a, b in wanted:
        first[a, b] = total
        total += pairs.states[a] * pairs.states[b]

    def list_pair(a: int, b: int) -> NDArray[np.int64]:
        return np.arange(first[a, b], first[a, b] + pairs.states[a] * pairs.states[b])

    relaxation = _native.Relaxation()
    chosen = {pairs.factor[pair]: pair for pair in wanted if pair in pairs.factor}
    for number, (factor, own) in enumerate(factors):
        if number in chosen:
            _add_pair(relaxation, pairs, factor, own, chosen[number], list_pair(*chosen[number]))
        else:
            relaxation.add(graph.part(number), np.array(factor.cells, np.int64))
    for a, b in wanted:
        if (a, b) not in pairs.factor:
            chord = Table(
                [], [pairs.states[a], pairs.states[b]], [], np.zeros(pairs.states[a] * pairs.states[b])
            )
            own = np.zeros(pairs.states[a] + pairs.states[b])
            _add_pair(relaxation, pairs, chord, own, (a, b), list_pair(a, b))
    for a, b, c in sorted(set(triplets)):
        shape = [pairs.states[v] for v in (a, b, c)]
        joint = np.concatenate([list_pair(a, b), list_pair(a, c), list_pair(b, c)])
        part = _native.make_cluster_part(
            shape, [[0, 1], [0, 2], [1, 2]], np.zeros(int(np.prod(shape))), np.zeros(len(joint))
        )
        relaxation.add(part, joint)
    relaxation.link(total, np.zeros(total, np.uint8))
    return relaxation


def _add_pair(
    relaxation: _native.Relaxation,
    pairs: Pairs,
    factor: Factor,
    own: Floats,
    pair: Pair,
    joint: NDArray[np.int64],
) -> None:
    """Add the table of a pair, with cells for the states of both together."""
    assert isinstance(factor, Table)
    a, b = pair
    table, rows = factor.table.reshape(factor.shape), factor.shape[0]
    if factor.cells and factor.cells[0] != pairs.first[a]:
        table, own = table.T, np.concatenate([own[rows:], own[:rows]])
    part = _native.make_cluster_part(
        list(table.shape),
        [[0], [1], [0, 1]],
        np.ascontiguousarray(table).reshape(-1),
        np.concatenate([own, np.zeros(table.size)]),
    )
    relaxation.add(part, np.concatenate([pairs.list_cells(a), pairs.list_cells(b), joint]))


def tighten(
    pairs: Pairs,
    graph: _native.FactorGraph,
    factors: Sequence[tuple[Factor, Floats]],
    multipliers: Floats,
    cells: int,
    is_over: Callable[[], bool] = lambda: False,
) -> _native.Relaxation | None:
    """Return a tighter relaxation; None where no cycle lowers the bound. ``multipliers`` are by copy."""
    cycles = find_cycles(read_beliefs(pairs, factors, multipliers), is_over)
    triplets = dict.fromkeys(triplet for _, cycle in cycles for triplet in cycle)
    return make_tightened(pairs, graph, factors, list(triplets)[:MOST], cells) if triplets else None
