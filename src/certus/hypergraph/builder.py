"""Builds small forests by name."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

import numpy as np
from numpy.typing import NDArray

from certus.errors import InvalidInput
from certus.hypergraph.errors import Cyclic
from certus.hypergraph.graph import Hypergraph


class Builder:
    """Collects edges between nodes that have names: anything hashable. A node exists once it is named.

    For forests that are large or made again and again, give arrays to ``Hypergraph`` instead.
    """

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self._heads: list[int] = []
        self._offsets: list[int] = [0]
        self._tails: list[int] = []
        self._labels: list[object] = []
        self._scores: list[float] = []

    def node(self, name: Hashable) -> int:
        """Return the number of a node, which is made if it is new."""
        return self._numbers.setdefault(name, len(self._numbers))

    def add(
        self, head: Hashable, tails: Iterable[Hashable] = (), *, label: object = None, score: float = 0.0
    ) -> int:
        """Add an edge that derives ``head`` from ``tails``; without tails, a leaf. Returns its number.

        Args:
            head: a node.
            tails: nodes, from left to right.
            label: what the edge stands for.
            score: of the edge.
        """
        if isinstance(tails, str):
            raise InvalidInput(f"tails must be a list of nodes, not the string {tails!r}: write [{tails!r}]")
        self._heads.append(self.node(head))
        self._tails.extend(self.node(tail) for tail in tails)
        self._offsets.append(len(self._tails))
        self._labels.append(label)
        self._scores.append(float(score))
        return len(self._heads) - 1

    @property
    def scores(self) -> NDArray[np.float64]:
        """The scores of the edges so far."""
        return np.array(self._scores, np.float64)

    def build(self, goal: Hashable, *more: Hashable) -> Hypergraph:
        """Return the forest, with the goal (or several) by name."""
        for name in (goal, *more):
            if name not in self._numbers:
                raise InvalidInput(f"the goal {name!r} is not a node: no edge names it")
        goals = [self._numbers[name] for name in (goal, *more)]
        names = list(self._numbers)
        try:
            return Hypergraph(
                np.array(self._heads, np.int64),
                np.array(self._offsets, np.int64),
                np.array(self._tails, np.int64),
                goals,
                nodes=len(names),
                labels=self._labels,
                names=names,
            )
        except Cyclic as error:
            raise Cyclic([names[node] for node in error.nodes]) from None

    def __len__(self) -> int:
        return len(self._heads)

    def __repr__(self) -> str:
        return f"Builder({len(self._numbers)} nodes, {len(self)} edges)"
