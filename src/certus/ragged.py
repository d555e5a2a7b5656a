"""A ragged batch: rows of different lengths that lie end to end in one array.

This is the one place where offsets are computed. Whatever holds several sequences in one array (sentences in
a batch, the tails of hyperedges, the features of tokens) is a ``Ragged``, or has offsets from ``offsets_of``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

D = TypeVar("D", bound=np.generic)  # what the rows hold


def offsets_of(lengths: ArrayLike) -> NDArray[np.int64]:
    """Return where rows of these lengths begin, and where the last one ends: (rows + 1,)."""
    sizes = np.asarray(lengths, np.int64)
    offsets = np.zeros(sizes.size + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets


class Ragged(Generic[D]):
    """Rows of different lengths, end to end in one array.

    Attributes:
        data: (N, ...) the rows, one after the other.
        offsets: (rows + 1,) row n is ``data[offsets[n] : offsets[n + 1]]``.
    """

    __slots__ = ("data", "offsets")

    def __init__(self, data: NDArray[D], offsets: NDArray[np.int64]) -> None:
        self.data = data
        self.offsets = offsets

    @classmethod
    def of_lengths(cls, data: NDArray[D], lengths: ArrayLike) -> Ragged[D]:
        """Divide an array into rows of these lengths, which add up to its own."""
        return cls(data, offsets_of(lengths))

    @classmethod
    def of_rows(cls, rows: Sequence[ArrayLike], dtype: DTypeLike | None = None) -> Ragged[D]:
        """Copy rows into one array; ``dtype`` is that of the rows unless it is given."""
        arrays = [np.asarray(row, dtype) for row in rows]
        data = np.concatenate(arrays) if arrays else np.empty(0, dtype)
        return cls(data, offsets_of([len(array) for array in arrays]))

    @property
    def lengths(self) -> NDArray[np.int64]:
        """(rows,) how long each row is."""
        return np.diff(self.offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> NDArray[D]:
        count = len(self)
        if not -count <= row < count:
            raise IndexError(f"there is no row {row}; there are {count}")
        row %= count
        return self.data[self.offsets[row] : self.offsets[row + 1]]

    def __iter__(self) -> Iterator[NDArray[D]]:
        data = self.data
        return iter([data[begin:end] for begin, end in pairwise(self.offsets.tolist())])

    def __repr__(self) -> str:
        return f"Ragged({len(self)} rows, {len(self.data)} elements of {self.data.dtype})"
