"""Forests the slow way: every derivation, one after the other.

A forest is a list of edges (head, tails) with goals; nothing is sorted, shared or packed.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from certus.hypergraph import Hypergraph

Derivation = tuple[int, ...]  # edges in preorder


@dataclass(frozen=True)
class Forest:
    """Edges as pairs (head, tails), and the goals."""

    nodes: int
    edges: Sequence[tuple[int, tuple[int, ...]]]
    goals: Sequence[int]

    def arrays(self) -> tuple[list[int], list[int], list[int]]:
        """Heads, offsets and tails, as the library takes them."""
        offsets = [0]
        for _, tails in self.edges:
            offsets.append(offsets[-1] + len(tails))
        return [head for head, _ in self.edges], offsets, [t for _, tails in self.edges for t in tails]


def derivations(forest: Forest, node: int, allowed: Sequence[bool]) -> Iterator[Derivation]:
    """Yield every derivation of a node that uses allowed edges only."""
    for number, (head, tails) in enumerate(forest.edges):
        if head == node and allowed[number]:
            for below in product(*(list(derivations(forest, tail, allowed)) for tail in tails)):
                yield (number, *(edge for part in below for edge in part))


def all_derivations(forest: Forest, scores: NDArray[np.float64]) -> list[Derivation]:
    """Every derivation of a goal, whatever the order."""
    allowed = np.isfinite(scores).tolist()
    return [d for goal in forest.goals for d in derivations(forest, goal, allowed)]


def score(derivation: Derivation, scores: NDArray[np.float64]) -> float:
    """Add up the scores in preorder."""
    total = 0.0
    for edge in derivation:
        total += float(scores[edge])
    return total


def log_sum(values: Sequence[float]) -> float:
    """The log of the sum of exponentials."""
    most = max(values, default=-math.inf)
    return most if most == -math.inf else most + math.log(math.fsum(math.exp(x - most) for x in values))


def uses(derivation: Derivation, forest: Forest) -> tuple[Counter[int], Counter[int]]:
    """How often a derivation uses each edge, and each node."""
    return Counter(derivation), Counter(forest.edges[edge][0] for edge in derivation)


def outside(forest: Forest, scores: NDArray[np.float64]) -> list[float]:
    """The log-sum, for each node, over derivations of a goal from which one occurrence of it is cut out."""
    allowed = np.isfinite(scores).tolist()
    terms: list[list[float]] = [[] for _ in range(forest.nodes)]
    for goal in forest.goals:
        terms[goal].append(0.0)
        _cut(forest, goal, 0.0, scores, allowed, terms)
    return [log_sum(values) for values in terms]


def _cut(
    forest: Forest,
    node: int,
    above: float,
    scores: NDArray[np.float64],
    allowed: Sequence[bool],
    terms: list[list[float]],
) -> None:
    """Cut below a node, of which everything around scores `above`."""
    for number, (head, tails) in enumerate(forest.edges):
        if head != node or not allowed[number]:
            continue
        for place, tail in enumerate(tails):
            others = [list(derivations(forest, t, allowed)) for t in (*tails[:place], *tails[place + 1 :])]
            for rest in product(*others):
                around = above + float(scores[number]) + sum(score(d, scores) for d in rest)
                terms[tail].append(around)
                _cut(forest, tail, around, scores, allowed, terms)


def satisfying(
    found: Sequence[Derivation], rows: Sequence[Mapping[int, float]], targets: Sequence[float]
) -> list[Derivation]:
    """The derivations with A x = b."""
    return [
        d
        for d in found
        if all(
            sum(row.get(edge, 0) for edge in d) == target for row, target in zip(rows, targets, strict=True)
        )
    ]


def intersected(
    graph: Hypergraph,
    scores: NDArray[np.float64],
    rows: Sequence[Mapping[int, float]],
    targets: Sequence[float],
) -> float | None:
    """The best score under constraints by dynamic programming: each node by what its derivations add to A x.

    Needs a forest whose tails are numbered below their heads, one goal, and coefficients that are not
    negative.
    """
    most = np.array(targets)
    added = np.zeros((graph.edges, len(rows)))
    for number, row in enumerate(rows):
        for edge, coefficient in row.items():
            added[edge, number] = coefficient
    best: list[dict[tuple[float, ...], float]] = [{} for _ in range(graph.nodes)]
    for edge in np.argsort(graph.heads, kind="stable").tolist():
        partial = {tuple(added[edge].tolist()): float(scores[edge])}
        for tail in graph.tails[graph.offsets[edge] : graph.offsets[edge + 1]].tolist():
            joined: dict[tuple[float, ...], float] = {}
            for (a, x), (b, y) in product(partial.items(), best[tail].items()):
                total = tuple(i + j for i, j in zip(a, b, strict=True))
                if all(i <= j for i, j in zip(total, most, strict=True)):
                    joined[total] = max(joined.get(total, -math.inf), x + y)
            partial = joined
        here = best[int(graph.heads[edge])]
        for total, x in partial.items():
            if x > -math.inf and all(i <= j for i, j in zip(total, most, strict=True)):
                here[total] = max(here.get(total, -math.inf), x)
    return best[int(graph.goals[0])].get(tuple(float(x) for x in targets))
