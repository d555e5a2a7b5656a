"""The constraints A x = b as arrays, checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certus.errors import InvalidInput
from certus.hypergraph import inputs

Rows: TypeAlias = "Sequence[Mapping[int, float]] | tuple[ArrayLike, ArrayLike, ArrayLike]"


@dataclass(frozen=True)
class Constraints:
    """The rows of A, one after the other, and b.

    Constraint r has the edges and coefficients from offsets[r] up to offsets[r + 1].
    """

    offsets: inputs.Ints
    edges: inputs.Ints
    coefficients: NDArray[np.float64]
    targets: NDArray[np.float64]

    @property
    def count(self) -> int:
        """How many constraints there are."""
        return len(self.targets)

    @property
    def arrays(self) -> tuple[inputs.Ints, inputs.Ints, NDArray[np.float64], NDArray[np.float64]]:
        """The four, as the kernels take them."""
        return self.offsets, self.edges, self.coefficients, self.targets

    def sum_rows(self, counts: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return A x for counts x of edges."""
        rows = np.repeat(np.arange(self.count), np.diff(self.offsets))
        return np.bincount(rows, self.coefficients * counts[self.edges], self.count).astype(np.float64)

    def select(self, rows: Sequence[int]) -> Constraints:
        """Return some of the constraints."""
        places = [np.arange(self.offsets[row], self.offsets[row + 1]) for row in rows]
        offsets = np.cumsum([0, *map(len, places)]).astype(np.int64)
        chosen = np.concatenate([np.empty(0, np.int64), *places])
        return Constraints(
            offsets, self.edges[chosen], self.coefficients[chosen], self.targets[np.array(rows, np.int64)]
        )


def read_constraints(rows: Rows, targets: ArrayLike, edge_count: int) -> Constraints:
    """Check constraints on a forest with so many edges."""
    made = Constraints(*_as_rows(rows), _as_numbers("targets", targets))
    count = len(made.offsets) - 1
    if made.count != count:
        raise InvalidInput(f"there are {count} constraints, but {made.count} targets")
    bad = np.flatnonzero((made.edges < 0) | (made.edges >= edge_count))
    if bad.size:
        row = int(np.searchsorted(made.offsets, bad[0], "right")) - 1
        raise InvalidInput(
            f"constraint {row} names edge {made.edges[bad[0]]}, but edges go from 0 to {edge_count - 1}"
        )
    return made


def _as_rows(rows: Rows) -> tuple[inputs.Ints, inputs.Ints, NDArray[np.float64]]:
    if isinstance(rows, tuple) and len(rows) == 3 and not any(isinstance(row, Mapping) for row in rows):
        offsets, edges = inputs.as_indices("offsets", rows[0]), inputs.as_indices("edges", rows[1])
        coefficients = _as_numbers("coefficients", cast(ArrayLike, rows[2]))
        if len(edges) != len(coefficients):
            raise InvalidInput(f"there are {len(edges)} edges, but {len(coefficients)} coefficients")
        if offsets.size == 0 or offsets[0] != 0 or offsets[-1] != len(edges) or (np.diff(offsets) < 0).any():
            raise InvalidInput(
                f"offsets must start at 0, never fall and end at {len(edges)}, the number of edges"
            )
        return offsets, edges, coefficients
    listed = []
    for number, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise InvalidInput(f"constraint {number} must be a mapping {{edge: coefficient}}, not {row!r}")
        listed.append(row)
    offsets = np.cumsum([0, *map(len, listed)]).astype(np.int64)
    edges = inputs.as_indices("the edges of constraints", [edge for row in listed for edge in row])
    return offsets, edges, _as_numbers("coefficients", [x for row in listed for x in row.values()])


def _as_numbers(name: str, value: ArrayLike) -> NDArray[np.float64]:
    try:
        array = np.array(value, np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"{name} must be numbers: {error}") from None
    if array.ndim != 1:
        raise InvalidInput(f"{name} must be one-dimensional, not of shape {array.shape}")
    bad = np.flatnonzero(~np.isfinite(array))
    if bad.size:
        raise InvalidInput(f"{name}[{bad[0]}] is {array[bad[0]]}; it must be finite")
    return array
