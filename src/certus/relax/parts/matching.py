"""Bipartite matchings as a part: who goes with whom."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certus import _native
from certus.errors import InvalidInput
from certus.relax.parts.kernel import KernelPart, read_scores


class Matching(KernelPart):
    """Pairs of a row and a column, each in one pair at most: space ``cells`` of (rows, columns).

    ``value`` of a choice is the array (rows,) of the columns that rows are matched with, -1 for none. Found
    by shortest augmenting paths (Jonker & Volgenant 1987), O(N^3) for N rows and columns together.

    Args:
        scores: (rows, columns) of the pairs; -inf forbids.

    Other args:
        cover_rows: whether every row has to be in a pair.
        cover_columns: whether every column has to be.
    """

    nothing = "no matching is left"

    def __init__(self, scores: ArrayLike, *, cover_rows: bool = False, cover_columns: bool = False) -> None:
        self.scores = read_scores("scores of a matching", scores)
        if self.scores.ndim != 2:
            raise InvalidInput(
                f"scores of a matching need the shape (rows, columns), not {self.scores.shape}"
            )
        self.cover_rows, self.cover_columns = bool(cover_rows), bool(cover_columns)

    @property
    def shape(self) -> tuple[int, ...]:
        """One cell for each pair."""
        return self.scores.shape

    def make_native(self) -> _native.RelaxPart:
        """Return the matchings for the kernels."""
        rows, columns = self.scores.shape
        return _native.make_matching(
            self.scores.reshape(-1), rows, columns, self.cover_rows, self.cover_columns
        )

    def _make_value(self, used: NDArray[np.int8]) -> NDArray[np.int64]:
        if not used.size:
            return np.full(len(used), -1, np.int64)
        return np.where(used.any(axis=1), used.argmax(axis=1), -1).astype(np.int64)
