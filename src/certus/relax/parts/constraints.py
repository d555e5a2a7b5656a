"""Small constraints as parts, solved in closed form: what factor graphs are made of."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certus import _native
from certus.checks import check_magnitudes
from certus.errors import InvalidInput
from certus.part import LARGEST, Adjustments, Choice, Forbidden, check_adjustments


class Constraint(ABC):
    """Which of n cells are 1, each with a score of its own: space ``cells`` of shape (n,).

    Subclasses choose the cells; ``value`` of a choice are the indices of those that are 1.
    """

    def __init__(self, scores: ArrayLike) -> None:
        self.scores: NDArray[np.float64] = np.array(scores, np.float64)
        if self.scores.ndim != 1 or not len(self.scores):
            raise InvalidInput(
                f"scores of a constraint need the shape (n,) with n > 0, not {self.scores.shape}"
            )
        if np.isnan(self.scores).any() or (self.scores == np.inf).any():
            raise InvalidInput(f"scores of a constraint must be numbers to add, not {self.scores}")
        check_magnitudes("scores of a constraint", self.scores, LARGEST)

    @property
    def spaces(self) -> dict[str, tuple[int, ...]]:
        """One cell for each score."""
        return {"cells": self.scores.shape}

    def maximize(self, adjust: Adjustments) -> Choice:
        """Return the best cells."""
        return self._make_choice(self._best(self._values(adjust)))

    def make_choice(self, cells: NDArray[np.int64], native: _native.RelaxPart) -> Choice:
        """Return the choice of these cells."""
        return self._make_choice(cells)

    @abstractmethod
    def make_native(self) -> _native.RelaxPart:
        """Return the constraint for the kernels."""

    @abstractmethod
    def state_part(self) -> dict[str, Any]:
        """Return the constraint as plain data, for certificates."""

    def _state_count(self, least: int, most: int) -> dict[str, Any]:
        negated = np.zeros(len(self.scores), np.int64)
        return {"kind": "count", "scores": self.scores, "negated": negated, "least": least, "most": most}

    @abstractmethod
    def _best(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the cells that are 1 where each is worth its value."""

    def _values(self, adjust: Adjustments) -> NDArray[np.float64]:
        check_adjustments(self.spaces, adjust)
        return self.scores + adjust["cells"] if "cells" in adjust else self.scores

    def _make_choice(self, cells: NDArray[np.int64]) -> Choice:
        used = np.zeros(self.scores.shape, np.int8)
        used[cells] = 1
        return Choice(cells, float(self.scores[cells].sum()), {"cells": used})


class ExactlyOne(Constraint):
    """One of the cells is 1."""

    def make_native(self) -> _native.RelaxPart:
        """Return the constraint for the kernels."""
        return _native.make_count_part(self.scores, np.zeros(len(self.scores), np.uint8), 1, 1)

    def state_part(self) -> dict[str, Any]:
        """Return the constraint as plain data, for certificates."""
        return self._state_count(1, 1)

    def max_marginals(self, adjust: Adjustments) -> dict[str, NDArray[np.float64]]:
        """Return each cell's own value."""
        return {"cells": self._values(adjust)}

    def _best(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        best = int(np.argmax(values))
        if values[best] == -np.inf:
            raise Forbidden("none of the cells is allowed")
        return np.array([best], np.int64)


class Budget(Constraint):
    """At most ``most`` of the cells are 1."""

    def __init__(self, scores: ArrayLike, most: int) -> None:
        super().__init__(scores)
        if isinstance(most, bool) or not isinstance(most, int | np.integer) or most < 0:
            raise InvalidInput(f"a budget is a whole number of at least 0, not {most!r}")
        self.most = int(most)

    def make_native(self) -> _native.RelaxPart:
        """Return the constraint for the kernels."""
        most = min(self.most, len(self.scores))
        return _native.make_count_part(self.scores, np.zeros(len(self.scores), np.uint8), 0, most)

    def state_part(self) -> dict[str, Any]:
        """Return the constraint as plain data, for certificates."""
        return self._state_count(0, min(self.most, len(self.scores)))

    def max_marginals(self, adjust: Adjustments) -> dict[str, NDArray[np.float64]]:
        """Return the best value with each cell at 1: itself, and the best of the others that still fit."""
        values = self._values(adjust)
        if self.most == 0:
            return {"cells": np.full(values.shape, -np.inf)}
        chosen = self._best(values)
        total = values[chosen].sum()
        if len(chosen) < self.most:
            with_cell = total + np.minimum(values, 0.0)
        else:
            with_cell = total - values[chosen].min() + values
        with_cell[chosen] = total
        return {"cells": with_cell}

    def _best(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        order = np.argsort(-values, kind="stable")[: self.most]
        return np.sort(order[values[order] > 0]).astype(np.int64)


class AtMostOne(Budget):
    """None or one of the cells is 1."""

    def __init__(self, scores: ArrayLike) -> None:
        super().__init__(scores, 1)


class TablePart:
    """A table of scores over a few variables, such as the edge of a graphical model.

    Spaces ``0``, ``1``, ... one per variable, of shape (its values,): exactly one value each. ``value`` of a
    choice is the tuple of values.

    Args:
        scores: an array with one axis for each variable; -inf forbids.
    """

    def __init__(self, scores: ArrayLike) -> None:
        self.scores: NDArray[np.float64] = np.array(scores, np.float64)
        if self.scores.ndim == 0 or self.scores.size == 0:
            raise InvalidInput(f"a table needs an axis for each variable, not the shape {self.scores.shape}")
        if np.isnan(self.scores).any() or (self.scores == np.inf).any():
            raise InvalidInput("scores of a table must be numbers to add: it holds NaN or +inf")
        check_magnitudes("scores of a table", self.scores, LARGEST)

    @property
    def spaces(self) -> dict[str, tuple[int, ...]]:
        """One space a variable, one cell a value."""
        return {str(axis): (size,) for axis, size in enumerate(self.scores.shape)}

    def maximize(self, adjust: Adjustments) -> Choice:
        """Return the best cell of the table."""
        values = self._values(adjust)
        place = np.unravel_index(int(np.argmax(values)), values.shape)
        if values[place] == -np.inf:
            raise Forbidden("no cell of the table is allowed")
        return self._make_choice(tuple(int(i) for i in place))

    def make_native(self) -> _native.RelaxPart:
        """Return the table for the kernels."""
        shape = self.scores.shape
        single = np.zeros(len(shape), np.uint8)
        table = np.ascontiguousarray(self.scores).reshape(-1)
        return _native.make_table_part(list(shape), single, table, np.zeros(sum(shape)))

    def state_part(self) -> dict[str, Any]:
        """Return the table as plain data, for certificates."""
        shape = np.array(self.scores.shape, np.int64)
        table, zeros = self.scores.reshape(-1), np.zeros(int(shape.sum()))
        return {
            "kind": "table",
            "shape": shape,
            "single": np.zeros_like(shape),
            "table": table,
            "scores": zeros,
        }

    def make_choice(self, cells: NDArray[np.int64], native: _native.RelaxPart) -> Choice:
        """Return the cell of the table with these values, one per variable."""
        starts = np.cumsum([0, *self.scores.shape[:-1]])
        return self._make_choice(tuple(int(i) for i in cells - starts))

    def max_marginals(self, adjust: Adjustments) -> dict[str, NDArray[np.float64]]:
        """Return the best value with each value of each variable."""
        values = self._values(adjust)
        axes = range(values.ndim)
        return {str(axis): values.max(axis=tuple(a for a in axes if a != axis)) for axis in axes}

    def _values(self, adjust: Adjustments) -> NDArray[np.float64]:
        check_adjustments(self.spaces, adjust)
        values = self.scores
        for axis, size in enumerate(self.scores.shape):
            if str(axis) in adjust:
                shape = [1] * self.scores.ndim
                shape[axis] = size
                values = values + adjust[str(axis)].reshape(shape)
        return values

    def _make_choice(self, place: tuple[int, ...]) -> Choice:
        used: dict[str, NDArray[Any]] = {}
        for axis, size in enumerate(self.scores.shape):
            used[str(axis)] = np.zeros(size, np.int8)
            used[str(axis)][place[axis]] = 1
        return Choice(place, float(self.scores[place]), used)
