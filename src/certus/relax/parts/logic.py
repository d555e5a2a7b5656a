"""Constraints of logic as parts: what factor graphs have, for decompositions with larger parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certus import _native
from certus.checks import check_count
from certus.errors import InvalidInput
from certus.relax.parts.kernel import KernelPart, read_scores

LARGEST_TABLE = 100_000_000  # numbers: cells times capacity


class _Literals(KernelPart):
    """Cells (n,), each with a score of its own; ``value`` of a choice are the indices of those that are 1.

    A constraint is about literals: a cell's is true where the cell is 1, a negated one's where it is 0.
    """

    least = 1  # cells

    def __init__(self, scores: ArrayLike, negated: ArrayLike | None = None) -> None:
        self.scores = read_scores("scores of a constraint", scores)
        if self.scores.ndim != 1 or len(self.scores) < self.least:
            raise InvalidInput(
                f"scores of {type(self).__name__} need the shape (n,) with n of at least {self.least}, "
                f"not {self.scores.shape}"
            )
        given = np.zeros(len(self.scores), bool) if negated is None else np.asarray(negated)
        if given.shape != self.scores.shape or given.dtype != np.bool_:
            raise InvalidInput(f"negated must be {len(self.scores)} booleans, one for each cell")
        self.negated = given.astype(np.uint8)

    @property
    def shape(self) -> tuple[int, ...]:
        """One cell for each score."""
        return self.scores.shape

    def _state(self, kind: str, **more: Any) -> dict[str, Any]:
        return {"kind": kind, "scores": self.scores, "negated": self.negated.astype(np.int64), **more}

    def _make_value(self, used: NDArray[np.int8]) -> NDArray[np.int64]:
        return np.flatnonzero(used).astype(np.int64)


class Or(_Literals):
    """At least one of the cells is 1.

    Args:
        scores: (n,) of the cells.
        negated: (n,) booleans: of which cells it counts that they are 0; none by default.
    """

    nothing = "none of the cells is allowed"

    def make_native(self) -> _native.RelaxPart:
        """Return the constraint for the kernels."""
        return _native.make_count_part(self.scores, self.negated, 1, len(self.scores))

    def state_part(self) -> dict[str, Any]:
        """Return the constraint as plain data, for certificates."""
        return self._state("count", least=1, most=len(self.scores))


class OrOutput(_Literals):
    """The last cell is 1 exactly where at least one of the others is.

    Args:
        scores: (n,) of the cells, the output last; at least one more.
        negated: (n,) booleans: which cells are meant the other way round; none by default.
    """

    least = 2
    nothing = "the cells that are left contradict each other"

    def make_native(self) -> _native.RelaxPart:
        """Return the constraint for the kernels."""
        return _native.make_or_output_part(self.scores, self.negated)

    def state_part(self) -> dict[str, Any]:
        """Return the constraint as plain data, for certificates."""
        return self._state("or-output")


class Knapsack(_Literals):
    """The weights of the cells that are 1 sum to at most a capacity.

    Args:
        scores: (n,) of the cells.
        weights: (n,) whole numbers of at least 0.
        capacity: a whole number; a table of n times as many numbers is filled.
        negated: (n,) booleans: which cells weigh where they are 0; none by default.
    """

    nothing = "what has to be taken is too heavy"

    def __init__(
        self, scores: ArrayLike, weights: Sequence[int], capacity: int, negated: ArrayLike | None = None
    ) -> None:
        super().__init__(scores, negated)
        check_count("capacity", capacity, least=0)
        if len(weights) != len(self.scores):
            raise InvalidInput(f"there are {len(self.scores)} cells, but {len(weights)} weights")
        for weight in weights:
            check_count("a weight", weight, least=0)
        self.weights = [int(weight) for weight in weights]
        self.capacity = min(int(capacity), sum(self.weights))
        entries = len(self.weights) * self.capacity
        if entries > LARGEST_TABLE:
            raise InvalidInput(
                f"a knapsack of {len(self.weights)} cells with a capacity of {self.capacity} needs a table "
                f"of {entries} numbers; the most is {LARGEST_TABLE}: divide the weights"
            )

    def make_native(self) -> _native.RelaxPart:
        """Return the constraint for the kernels."""
        return _native.make_knapsack_part(self.scores, self.negated, self._list_weights(), self.capacity)

    def state_part(self) -> dict[str, Any]:
        """Return the constraint as plain data, for certificates."""
        return self._state("knapsack", weights=self._list_weights(), capacity=self.capacity)

    def _list_weights(self) -> NDArray[np.int64]:
        """Return the weights; what never fits weighs one too much, however large it is."""
        return np.array([min(weight, self.capacity + 1) for weight in self.weights], np.int64)
