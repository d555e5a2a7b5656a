"""A forest as a part of a decomposition: its edges stand for cells of the indicators that parts share."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certus import _native
from certus.errors import InvalidInput
from certus.hypergraph import inputs
from certus.hypergraph.forest import Forest, check_size
from certus.part import Adjustments, Choice, Forbidden, check_adjustments

Space: TypeAlias = "tuple[Sequence[int], ArrayLike, ArrayLike]"

_Outcome = _native.ForestOutcome


class HypergraphPart:
    """A forest that maximises itself plus adjustments; made by ``Hypergraph.part``.

    Attributes:
        graph: the forest.
        spaces: the shapes of the indicator arrays, by name.
    """

    def __init__(self, graph: Forest, scores: ArrayLike, spaces: Mapping[str, Space]) -> None:
        self.graph = graph
        self.spaces: dict[str, tuple[int, ...]] = {}
        self._places: dict[str, tuple[int, int]] = {}  # the cells of all spaces lie one after the other
        edges, cells, end = [], [], 0
        for name, space in spaces.items():
            shape, used, flat = _as_space(name, space, graph.edges)
            self.spaces[name] = shape
            self._places[name] = end, end + math.prod(shape)
            edges.append(used)
            cells.append(flat + end)
            end += math.prod(shape)
        if end > inputs.MOST:
            raise InvalidInput(f"{end:,} cells are more than a part can share: {inputs.MOST:,}")
        empty = np.empty(0, np.int64)
        self._count = end
        self._scores = graph.check_scores(scores).astype(np.float64, copy=False)
        most = float(np.abs(self._scores[np.isfinite(self._scores)]).max(initial=0.0))
        self._bonus = min(2.0 * most * graph.edges + 1.0, 1e200)
        self._pairs = np.concatenate([empty, *edges]), np.concatenate([empty, *cells])
        self._cells = _native.ForestCells(graph.native, self._scores, *self._pairs, end)

    def state_part(self) -> dict[str, Any]:
        """Return the forest and its cells as plain data, for certificates."""
        edges, cells = self._pairs
        used = {"cell_edges": edges, "cells": cells, "cell_count": self._count}
        return {"kind": "forest", **self.graph.list_structure(), "scores": self._scores, **used}

    def maximize(self, adjust: Adjustments) -> Choice:
        """Return the derivation with the highest score plus adjustments; its value is its edges."""
        given = self._flatten(adjust)
        uses = np.zeros(self._count, np.uint8)
        best = self._cells.maximize(given, uses)
        self._check(best, given)
        if best.twice >= 0:
            raise InvalidInput(self.describe_used_twice(best.twice))
        return self._make_choice(best.edges, best.value, uses)

    def make_native(self) -> _native.RelaxPart | None:
        """Return the forest for the kernels; None where sums of its scores might be beyond all floats."""
        return None if self._cells.is_huge else self._cells.make_part()

    def read_structure(self, structure: tuple[NDArray[np.int64], float]) -> Choice:
        """Return the derivation that the kernels found, as a choice."""
        edges, score = structure
        uses = np.zeros(self._count, np.uint8)
        self._cells.use(edges, uses)
        return self._make_choice(edges, score, uses)

    def describe_used_twice(self, cell: int) -> str:
        """Say of a cell that a derivation uses it twice."""
        return (
            f"a derivation uses the cell {self._name_cell(cell)} twice, so that adjustments count "
            "twice where an indicator says 1: give its edges different cells"
        )

    def _make_choice(self, edges: NDArray[np.int64], score: float, uses: NDArray[np.uint8]) -> Choice:
        indicators = {
            name: uses[begin:end].reshape(self.spaces[name]) for name, (begin, end) in self._places.items()
        }
        return Choice(edges, score, indicators)

    def max_marginals(self, adjust: Adjustments) -> dict[str, NDArray[np.float64]]:
        """Return for each cell the best score plus adjustments of any derivation that uses it; else -inf."""
        given = self._flatten(adjust)
        best = np.empty(self._count)
        self._check(self._cells.max_marginals(given, best), given)
        return {
            name: best[begin:end].reshape(self.spaces[name]) for name, (begin, end) in self._places.items()
        }

    def complete(self, indicators: Mapping[str, NDArray[Any]]) -> Choice | None:
        """Return the best derivation that uses exactly these cells of the spaces given, or None."""
        # The bonus makes up for any difference of scores: derivations with all of the cells come first.
        adjust = {
            name: np.where(np.asarray(cells) != 0, self._bonus, -np.inf) for name, cells in indicators.items()
        }
        try:
            choice = self.maximize(adjust)
        except Forbidden:
            return None
        same = all(np.array_equal(choice.indicators[name], indicators[name]) for name in indicators)
        return choice if same else None

    def _flatten(self, adjust: Adjustments) -> NDArray[np.float64]:
        check_adjustments(self.spaces, adjust)
        given = np.zeros(self._count)
        for name, values in adjust.items():
            begin, end = self._places[name]
            given[begin:end] = np.asarray(values, np.float64).reshape(-1)
        return given

    def _check(self, answer: _native.ForestAnswer, given: NDArray[np.float64]) -> None:
        if answer.outcome is _Outcome.INFEASIBLE:
            raise Forbidden("the adjustments leave no derivation of the goal")
        if answer.outcome is _Outcome.INVALID:
            cell, value = self._name_cell(answer.where), given[answer.where]
            raise InvalidInput(f"adjust{cell} is {value}; it must be finite, or -inf to forbid")
        check_size(answer.outcome)

    def _name_cell(self, flat: int) -> str:
        for name, (begin, end) in self._places.items():
            if flat < end:
                place = np.unravel_index(flat - begin, self.spaces[name])
                return f"[{name!r}][{', '.join(str(int(i)) for i in place)}]"
        raise AssertionError("every cell is in a space")


def _as_space(name: str, space: Space, edges: int) -> tuple[tuple[int, ...], inputs.Ints, inputs.Ints]:
    try:
        given, used, cells = space
        shape = tuple(int(size) for size in given)
    except (TypeError, ValueError):
        raise InvalidInput(f"space {name!r} must be (shape, edges, cells), not {space!r}") from None
    used, cells = (
        inputs.as_indices(f"the edges of {name!r}", used),
        inputs.as_indices(f"the cells of {name!r}", cells),
    )
    if len(used) != len(cells):
        raise InvalidInput(f"space {name!r} has {len(used)} edges, but {len(cells)} cells: they go in pairs")
    for what, array, size in (("edge", used, edges), ("cell", cells, math.prod(shape))):
        bad = np.flatnonzero((array < 0) | (array >= size))
        if bad.size:
            raise InvalidInput(
                f"space {name!r} names {what} {array[bad[0]]}, but {what}s go from 0 to {size - 1}"
            )
    return shape, used, cells
