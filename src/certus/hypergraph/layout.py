"""Where the nodes and edges of a small forest go in a picture: layers, an order in each, and places.

Nodes and edges are both items. A node stands two layers above the highest tail of its edges; an edge in the
layer under its head. A line from an edge to a tail that passes layers has a bend in each of them, an item,
too, so that it goes around the boxes there. Layers are ordered by the mean of neighbours (Sugiyama, Tagawa
& Toda 1981), from the order in which a walk from the goal meets them, as long as that makes lines cross less
often.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Sequence
from itertools import pairwise

from certus.hypergraph.forest import Forest

_SWEEPS = 24
_GAP, _BEND = 14.0, 3.0


class Layout:
    """Places for items: nodes 0 to N-1, then edges, then bends.

    Args:
        graph: what is drawn.
        left: how far each node and edge reaches to the left of its centre.
        right: the same to the right.

    Attributes:
        x: the centre of each item.
        layer: of each item; 0 is the lowest.
        layers: the items of each layer, from left to right.
        lines: for each edge, for each of its tails, the items from the edge to the tail.
    """

    def __init__(self, graph: Forest, left: Sequence[float], right: Sequence[float]) -> None:
        self._graph = graph
        self._left, self._right = list(left), list(right)
        self.layer = self._ranks()
        self._below: list[list[int]] = [[] for _ in self.layer]
        self._above: list[list[int]] = [[] for _ in self.layer]
        self.lines = [self._connect(edge) for edge in range(graph.edges)]
        self.layers: list[list[int]] = [[] for _ in range(1 + max(self.layer))]
        for item in self._walk([*graph.goals.tolist(), *range(graph.nodes)]):
            self.layers[self.layer[item]].append(item)
        self.x = [0.0] * len(self.layer)
        self._place()

    def _tails(self, edge: int) -> list[int]:
        tails: list[int] = self._graph.tails[
            self._graph.offsets[edge] : self._graph.offsets[edge + 1]
        ].tolist()
        return tails

    def _ranks(self) -> list[int]:
        graph = self._graph
        rank = [0] * (graph.nodes + graph.edges)
        changed = True
        while changed:  # as often as the forest is deep; forests that are drawn are small
            changed = False
            for edge in range(graph.edges):
                head = int(graph.heads[edge])
                least = max((rank[tail] for tail in self._tails(edge)), default=-1) + 2
                if rank[head] < least:
                    rank[head] = least
                    changed = True
        for edge in range(graph.edges):
            rank[graph.nodes + edge] = rank[int(graph.heads[edge])] - 1
        return rank

    def _connect(self, edge: int) -> list[list[int]]:
        """Link an edge to its head and, over bends, to its tails."""
        item = self._graph.nodes + edge
        self._link(int(self._graph.heads[edge]), item)
        lines: dict[int, list[int]] = {}
        for tail in dict.fromkeys(self._tails(edge)):
            line = [item]
            for layer in range(self.layer[item] - 1, self.layer[tail], -1):
                line.append(self._bend(layer))
            line.append(tail)
            for upper, lower in pairwise(line):
                self._link(upper, lower)
            lines[tail] = line
        return [lines[tail] for tail in self._tails(edge)]

    def _bend(self, layer: int) -> int:
        self.layer.append(layer)
        self._left.append(_BEND)
        self._right.append(_BEND)
        self._below.append([])
        self._above.append([])
        return len(self.layer) - 1

    def _link(self, upper: int, lower: int) -> None:
        self._below[upper].append(lower)
        self._above[lower].append(upper)

    def _walk(self, starts: Sequence[int]) -> list[int]:
        """Return all items in the order in which a walk downwards meets them, left before right."""
        met: dict[int, None] = {}
        stack = list(reversed(starts))
        while stack:
            item = stack.pop()
            if item not in met:
                met[item] = None
                stack.extend(reversed(self._below[item]))
        return list(met)

    def _place(self) -> None:
        best = [list(layer) for layer in self.layers]
        for layer in self.layers:
            self._spread(layer, [0.0] * len(layer))
        fewest = self._crossings()
        for sweep in range(_SWEEPS):
            self._sweep(upwards=sweep % 2 == 0, sort=True)
            crossings = self._crossings()
            if crossings < fewest:
                fewest, best = crossings, [list(layer) for layer in self.layers]
        self.layers = best
        for layer in self.layers:
            self._spread(layer, [0.0] * len(layer))
        for sweep in range(_SWEEPS):
            self._sweep(upwards=sweep % 2 == 0, sort=False)
        leftmost = min(x - left for x, left in zip(self.x, self._left, strict=True))
        self.x = [x - leftmost for x in self.x]

    def _sweep(self, *, upwards: bool, sort: bool) -> None:
        """Move every item towards the mean of its neighbours in the layer before."""
        beside = self._below if upwards else self._above
        for layer in self.layers if upwards else reversed(self.layers):
            wanted = {item: self._mean(beside[item], item) for item in layer}
            if sort:
                layer.sort(key=wanted.__getitem__)
            self._spread(layer, [wanted[item] for item in layer])

    def _crossings(self) -> int:
        """Count the pairs of lines that cross between neighbouring layers."""
        crossings = 0
        for layer in self.layers:
            ends: list[
                float
            ] = []  # of the lines so far, from left to right: those right of a new one cross it
            for item in layer:
                below = sorted(self.x[lower] for lower in self._below[item])
                crossings += sum(len(ends) - bisect_right(ends, end) for end in below)
                for end in below:
                    insort(ends, end)
        return crossings

    @property
    def width(self) -> float:
        """How far the picture reaches to the right."""
        return max(x + right for x, right in zip(self.x, self._right, strict=True))

    def _mean(self, items: Sequence[int], otherwise: int) -> float:
        return sum(self.x[item] for item in items) / len(items) if items else self.x[otherwise]

    def _spread(self, layer: Sequence[int], wanted: Sequence[float]) -> None:
        """Give the items of a layer the places they want as far as there is room, keeping their order."""
        forth, back = list(wanted), list(wanted)
        for i in range(1, len(layer)):
            forth[i] = max(forth[i], forth[i - 1] + self._room(layer[i - 1], layer[i]))
        for i in range(len(layer) - 1, 0, -1):
            back[i - 1] = min(back[i - 1], back[i] - self._room(layer[i - 1], layer[i]))
        for item, a, b in zip(layer, forth, back, strict=True):
            self.x[item] = (a + b) / 2

    def _room(self, a: int, b: int) -> float:
        return self._right[a] + self._left[b] + _GAP
