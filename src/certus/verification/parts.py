"""The parts of decompositions, each with its plain maximum: enumerated, sorted, or by dynamic programming.

A part has cells, numbered from 0. ``maximize`` returns the best score of any of its structures plus the
``extra`` of the cells that this uses; ``read`` returns the score and the cells of a given structure.
"""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any

from certus.verification import chains, forests, spanning_trees
from certus.verification.errors import CertificateError, Refuted
from certus.verification.exact import Exact, Grid, add, find_largest
from certus.verification.shapes import read_index, read_indices, read_list
from certus.verification.work import limit_steps

PASSES = 10  # over all numbers of a part, at each leaf


class Lifter(Grid):
    """A grid on which scores count ``factor`` times."""

    def __init__(self, grid: Grid, factor: int) -> None:
        self.denominator = grid.denominator
        self.factor = factor

    def lift(self, number: float) -> Exact:
        """Return a score times the factor."""
        lifted = super().lift(number)
        return None if lifted is None else lifted * self.factor


class PlainPart(ABC):
    """One part: ``data`` as the problem has them."""

    cells: int

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.data = data

    @abstractmethod
    def list_numbers(self) -> list[float]:
        """Return all of its scores."""

    def list_dual_numbers(self, duals: Any) -> list[float]:
        """Return the numbers of a leaf that are about this part alone, beside its multipliers."""
        return []

    def count_steps(self) -> int:
        """Return how many steps the part takes at a leaf."""
        return PASSES * (self.cells + len(self.list_numbers()))

    @abstractmethod
    def lift(self, grid: Grid) -> None:
        """Take the scores to a grid, on which all that follows is said."""

    @abstractmethod
    def maximize(self, extra: list[int], duals: Any, grid: Grid) -> Exact:
        """Return the best score of a structure plus the ``extra`` of its cells; ``duals`` are for trees."""

    @abstractmethod
    def read(self, structure: Any) -> tuple[Exact, set[int]]:
        """Return the score of a structure, and the cells that it uses."""


class ChainPart(PlainPart):
    """Label sequences; cell t * L + j: label j at position t."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        super().__init__(data)
        self.length, self.labels = map(int, data["emissions"].shape)
        self.cells = self.length * self.labels

    def list_numbers(self) -> list[float]:
        """Return all of its scores."""
        return chains.list_numbers(self.data)

    def count_steps(self) -> int:
        """Return how many steps each label takes after each other one."""
        return super().count_steps() + PASSES * self.cells * self.labels

    def lift(self, grid: Grid) -> None:
        """Take the scores to a grid."""
        self.scores = chains.read_scores(self.data, grid)

    def maximize(self, extra: list[int], duals: Any, grid: Grid) -> Exact:
        """Go forward through the positions."""
        return chains.maximize(self.data, self.scores, extra)

    def read(self, structure: Any) -> tuple[Exact, set[int]]:
        """Read labels."""
        score = chains.find_score(self.scores, read_list("the labels of a part", structure))
        return score, {t * self.labels + label for t, label in enumerate(structure)}


class ForestPart(PlainPart):
    """Derivations; edge ``cell_edges[i]`` uses the cell ``cells[i]``."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        super().__init__(data)
        self.tails = forests.list_tails(data)
        self.cells = data.get("cell_count", 0)
        known = [data[name].tolist() if name in data else [] for name in ("cell_edges", "cells")]
        edges = read_indices("cell_edges", known[0], len(self.tails))
        cells = read_indices("cells", known[1], self.cells, len(edges))
        self.used: list[list[int]] = [[] for _ in self.tails]
        for edge, cell in zip(edges, cells, strict=True):
            self.used[edge].append(cell)

    def list_numbers(self) -> list[float]:
        """Return all of its scores."""
        numbers: list[float] = self.data["scores"].tolist()
        return numbers

    def count_steps(self) -> int:
        """Return how many steps the tails and cells of all edges take."""
        return super().count_steps() + PASSES * (len(self.data["tails"]) + sum(map(len, self.used)))

    def lift(self, grid: Grid) -> None:
        """Take the scores to a grid."""
        self.scores = grid.lift_all(self.list_numbers())

    def maximize(self, extra: list[int], duals: Any, grid: Grid) -> Exact:
        """Add what cells are worth to their edges, and go up from the leaves."""
        values = [add(x, *(extra[c] for c in own)) for x, own in zip(self.scores, self.used, strict=True)]
        return forests.maximize(self.data, self.tails, values)

    def read(self, structure: Any) -> tuple[Exact, set[int]]:
        """Read edges in preorder."""
        edges = read_list("the edges of a part", structure)
        score = forests.find_score(self.data, self.tails, self.scores, edges)
        used = [cell for edge in edges for cell in self.used[edge]]
        if len(set(used)) < len(used):
            raise Refuted("a derivation uses a cell twice, which counts once")
        return score, set(used)


class ArcPart(PlainPart):
    """Sets of arcs; cell (d - 1) * (n + 1) + h: word d hangs on h, 0 for the root."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        super().__init__(data)
        self.words = spanning_trees.count_words(data)
        self.cells = self.words * (self.words + 1)

    def list_numbers(self) -> list[float]:
        """Return all of its scores, but those of words as their own heads."""
        return [
            x for d, row in enumerate(self.data["arcs"].tolist()) for h, x in enumerate(row) if h != d + 1
        ]

    def lift(self, grid: Grid) -> None:
        """Take the scores to a grid."""
        self.scores = [grid.lift_all(row) for row in self.data["arcs"].tolist()] if self.words else []
        for d, row in enumerate(self.scores):
            row[d + 1] = None


class TreePart(ArcPart):
    """Spanning trees. The maximum is proven by duals, which a leaf has to give."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        super().__init__(data)
        self.single = bool(data["single_root"])

    def list_dual_numbers(self, duals: Any) -> list[float]:
        """Return the numbers of words, sets and the root."""
        if not isinstance(duals, Mapping):
            raise CertificateError("a leaf has no duals of a part of trees")
        return spanning_trees.list_numbers(duals, self.words)

    def maximize(self, extra: list[int], duals: Any, grid: Grid) -> Exact:
        """Check the duals under which this is a bound."""
        width = self.words + 1
        scores = [
            [add(score, extra[d * width + h]) for h, score in enumerate(row)]
            for d, row in enumerate(self.scores)
        ]
        return spanning_trees.check_duals(scores, self.single, duals, grid)

    def read(self, structure: Any) -> tuple[Exact, set[int]]:
        """Read heads."""
        heads = read_list("the heads of a part", structure)
        score = spanning_trees.find_score(self.scores, self.single, heads)
        return score, {d * (self.words + 1) + h for d, h in enumerate(heads)}


class CellPart(PlainPart):
    """Any set of cells that meets some condition; each cell has a score."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        super().__init__(data)
        self.cells = len(data["scores"])
        self.negated = [bool(x) for x in data.get("negated", ())]
        if "negated" in data and len(self.negated) != self.cells:
            raise CertificateError("a constraint says of each of its cells whether it is negated")

    def list_numbers(self) -> list[float]:
        """Return all of its scores."""
        numbers: list[float] = self.data["scores"].tolist()
        return numbers

    def lift(self, grid: Grid) -> None:
        """Take the scores to a grid."""
        self.scores = grid.lift_all(self.data["scores"].tolist())

    def read(self, structure: Any) -> tuple[Exact, set[int]]:
        """Read the cells that are used."""
        used = set(read_indices("the cells of a part", structure, self.cells))
        if not self.accepts([(c in used) != negated for c, negated in enumerate(self.negated)]):
            raise Refuted("the answer breaks a constraint")
        return add(*(self.scores[c] for c in sorted(used))), used

    def accepts(self, true: list[bool]) -> bool:
        """Whether literals may have these values."""
        return True

    def list_values(self, extra: list[int]) -> list[tuple[Exact, Exact]]:
        """Return for each literal what it is worth where it is false, and where it is true."""
        on = [add(score, more) for score, more in zip(self.scores, extra, strict=True)]
        return [
            (value, 0) if negated else (0, value) for value, negated in zip(on, self.negated, strict=True)
        ]


class CountPart(CellPart):
    """From ``least`` to ``most`` literals are true."""

    def accepts(self, true: list[bool]) -> bool:
        """Count the true ones."""
        return bool(self.data["least"] <= sum(true) <= self.data["most"])

    def maximize(self, extra: list[int], duals: Any, grid: Grid) -> Exact:
        """Make true what gains most, as many as may be."""
        values = self.list_values(extra)
        forced = sum(false is None for false, true in values)
        if any(false is None and true is None for false, true in values):
            return None
        total = sum(true if false is None else false for false, true in values)  # type: ignore[misc]
        gains = sorted((true - false for false, true in values if None not in (false, true)), reverse=True)  # type: ignore[operator]
        sums = itertools.accumulate(gains, initial=total)
        least, most = self.data["least"], self.data["most"]
        return find_largest(value for count, value in enumerate(sums, forced) if least <= count <= most)


class OrOutputPart(CellPart):
    """The last literal is true exactly where another one is."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        super().__init__(data)
        if not self.cells:
            raise CertificateError("an OR with output has a cell for its output")

    def accepts(self, true: list[bool]) -> bool:
        """Compare the last with the others."""
        return any(true[:-1]) == true[-1]

    def maximize(self, extra: list[int], duals: Any, grid: Grid) -> Exact:
        """Choose each input by itself; where none is true, either stay there or make the best one true."""
        *inputs, output = self.list_values(extra)
        none = add(output[0], *(false for false, _ in inputs))
        best = [find_largest(pair) for pair in inputs]
        total = add(output[1], *best)
        losses = [max(0, add(false, -true) or 0) for false, true in inputs if true is not None]
        some = None if total is None or not losses else total - min(losses)
        return find_largest([none, some])


class KnapsackPart(CellPart):
    """The weights of true literals sum to no more than the capacity."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        super().__init__(data)
        self.weights: list[int] = data["weights"].tolist()
        if len(self.weights) != self.cells or any(x < 0 for x in [*self.weights, data["capacity"]]):
            raise CertificateError("a knapsack has a weight of at least 0 for each cell, and a capacity")
        self.capacity: int = min(data["capacity"], sum(self.weights))
        limit_steps("a knapsack", self.count_steps())

    def count_steps(self) -> int:
        """Return how many steps the table that ``maximize`` fills takes."""
        return super().count_steps() + PASSES * self.capacity * self.cells

    def accepts(self, true: list[bool]) -> bool:
        """Add up the weights."""
        total = sum(weight for weight, is_true in zip(self.weights, true, strict=True) if is_true)
        return bool(total <= self.capacity)

    def maximize(self, extra: list[int], duals: Any, grid: Grid) -> Exact:
        """Fill a table over capacities, literal by literal."""
        capacity = self.capacity
        best: list[Exact] = [0] * (capacity + 1)
        for weight, (false, true) in zip(self.weights, self.list_values(extra), strict=True):
            best = [
                find_largest([add(best[c], false), add(best[c - weight], true) if weight <= c else None])
                for c in range(capacity + 1)
            ]
        return best[capacity]


class TablePart(PlainPart):
    """Scores of the states of several variables; a ``single`` one has one cell, others one per state."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        super().__init__(data)
        self.shape, self.single = data["shape"].tolist(), [bool(x) for x in data["single"]]
        if len(self.shape) != len(self.single) or any(size < 1 for size in self.shape):
            raise CertificateError("a table has a number of states for each variable")
        if any(one and size != 2 for one, size in zip(self.single, self.shape, strict=True)):
            raise CertificateError("a variable of one cell is off or on: two states")
        if len(data["table"]) != math.prod(self.shape):
            raise CertificateError("a table must have an entry for each combination of states")
        widths = [1 if one else size for one, size in zip(self.single, self.shape, strict=True)]
        self.first = [0, *itertools.accumulate(widths)][:-1]
        self.cells = sum(widths)
        if len(data["scores"]) != self.cells:
            raise CertificateError("a table has a score for each of its cells")

    def list_numbers(self) -> list[float]:
        """Return all of its scores."""
        return [*self.data["table"].tolist(), *self.data["scores"].tolist()]

    def count_steps(self) -> int:
        """Return how many steps all variables take at each entry."""
        return super().count_steps() + PASSES * len(self.data["table"]) * len(self.shape)

    def lift(self, grid: Grid) -> None:
        """Take the scores to a grid."""
        self.table = grid.lift_all(self.data["table"].tolist())
        self.scores = grid.lift_all(self.data["scores"].tolist())

    def list_cells(self, states: Iterable[int]) -> list[int]:
        """Return the cells that some states use."""
        each = zip(states, self.single, self.first, strict=True)
        return [first + (0 if one else state) for state, one, first in each if state or not one]

    def maximize(self, extra: list[int], duals: Any, grid: Grid) -> Exact:
        """Enumerate the table."""
        worth = [add(score, more) for score, more in zip(self.scores, extra, strict=True)]
        places = itertools.product(*map(range, self.shape))
        return find_largest(
            add(entry, *(worth[c] for c in self.list_cells(place)))
            for entry, place in zip(self.table, places, strict=True)
        )

    def read(self, structure: Any) -> tuple[Exact, set[int]]:
        """Read the state of each variable."""
        given = read_list("the states of a table", structure, len(self.shape))
        states = [
            read_index(f"the state of variable {n}", state, size)
            for n, (state, size) in enumerate(zip(given, self.shape, strict=True))
        ]
        at = 0
        for state, size in zip(states, self.shape, strict=True):
            at = at * size + state
        used = self.list_cells(states)
        return add(self.table[at], *(self.scores[c] for c in used)), set(used)


class SiblingPart(ArcPart):
    """Modifiers of every head, on each side in a row outwards: any words on any heads.

    ``siblings[h][s][m]`` counts where m follows s on one side of h; s = n + 1 stands for none before.
    """

    def __init__(self, data: Mapping[str, Any]) -> None:
        super().__init__(data)
        n = self.words
        if data["siblings"].shape != (n + 1, n + 2, n + 1):
            raise CertificateError(f"siblings of {n} words must have the shape {(n + 1, n + 2, n + 1)}")

    def list_numbers(self) -> list[float]:
        """Return all of its scores."""
        return [*super().list_numbers(), *self.data["siblings"].ravel().tolist()]

    def lift(self, grid: Grid) -> None:
        """Take the scores to a grid."""
        super().lift(grid)
        self.pairs = [[grid.lift_all(row) for row in table] for table in self.data["siblings"].tolist()]

    def list_sides(self) -> Iterable[tuple[int, list[int]]]:
        """Return each head with the words on one of its sides, outwards."""
        for h in range(self.words + 1):
            yield h, list(range(h - 1, 0, -1))
            yield h, list(range(h + 1, self.words + 1))

    def maximize(self, extra: list[int], duals: Any, grid: Grid) -> Exact:
        """Go outwards from each head: best[m] is the best row of modifiers that ends with m."""
        return add(*(self._maximize_side(h, side, extra) for h, side in self.list_sides()))

    def _maximize_side(self, h: int, side: list[int], extra: list[int]) -> Exact:
        best: dict[int, Exact] = {self.words + 1: 0}
        for m in side:
            own = add(self.scores[m - 1][h], extra[(m - 1) * (self.words + 1) + h])
            best[m] = add(own, find_largest(add(value, self.pairs[h][s][m]) for s, value in best.items()))
        return find_largest(best.values())

    def read(self, structure: Any) -> tuple[Exact, set[int]]:
        """Read the cells that are used."""
        used, width = set(read_indices("the cells of a part", structure, self.cells)), self.words + 1
        terms: list[Exact] = [self.scores[cell // width][cell % width] for cell in sorted(used)]
        for h, side in self.list_sides():
            row = [self.words + 1, *(m for m in side if (m - 1) * width + h in used)]
            terms += [self.pairs[h][s][m] for s, m in itertools.pairwise(row)]
        return add(*terms), used


KINDS: dict[str, type[PlainPart]] = {
    "chain": ChainPart,
    "forest": ForestPart,
    "trees": TreePart,
    "count": CountPart,
    "or-output": OrOutputPart,
    "knapsack": KnapsackPart,
    "table": TablePart,
    "siblings": SiblingPart,
}
