"""Random forests that are small enough to be enumerated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from certus.hypergraph import Hypergraph
from tests.reference.hypergraph import Derivation, Forest, all_derivations

MOST = 400  # derivations of a problem


@dataclass(frozen=True)
class Problem:
    """A forest with scores, and all of its derivations."""

    forest: Forest
    graph: Hypergraph
    scores: NDArray[np.float64]
    found: list[Derivation]


def draw_forest(rng: np.random.Generator) -> Forest:
    """A few nodes in shuffled order; edges with 0 to 4 tails, often a node twice, some useless."""
    nodes = int(rng.integers(1, 9))
    number = rng.permutation(nodes).tolist() if rng.random() < 0.7 else list(range(nodes))
    edges = []
    for _ in range(int(rng.integers(1, 15))):
        head = int(rng.integers(nodes))
        arity = 0 if head == 0 else int(rng.choice(5, p=[0.2, 0.25, 0.35, 0.15, 0.05]))
        edges.append((number[head], tuple(number[int(rng.integers(head))] for _ in range(arity))))
    edges += [(number[v], ()) for v in range(nodes) if rng.random() < 0.4]
    order = rng.permutation(len(edges)).tolist() if rng.random() < 0.7 else range(len(edges))
    goals = rng.permutation(nodes)[: 1 if rng.random() < 0.7 else int(rng.integers(1, nodes + 1))]
    if rng.random() < 0.5:
        goals = np.array([number[-1]])
    return Forest(nodes, [edges[i] for i in order], goals.tolist())


def draw_scores(rng: np.random.Generator, edges: int) -> NDArray[np.float64]:
    """Whole numbers from few, so that ties are common; some forbidden."""
    scores = rng.integers(-3, 4, edges).astype(np.float64)
    scores[rng.random(edges) < rng.choice([0, 0.1, 0.4])] = -np.inf
    return scores


def draw(rng: np.random.Generator, *, whole: bool = True) -> Problem:
    """A forest with at most MOST derivations, and scores."""
    while True:
        forest = draw_forest(rng)
        heads, offsets, tails = forest.arrays()
        graph = Hypergraph(heads, offsets, tails, forest.goals, nodes=forest.nodes)
        scores = draw_scores(rng, len(heads))
        if not whole:
            scores = scores + rng.normal(size=len(scores))
        if graph.count(scores) <= MOST:
            return Problem(forest, graph, scores, all_derivations(forest, scores))
