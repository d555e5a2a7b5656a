"""Transitions of which most share one score."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certus.checks import Floats, Precision, as_array, freeze
from certus.errors import InvalidInput


class SciPyEntries(Protocol):
    """The entries of a SciPy sparse matrix, listed."""

    row: NDArray[np.integer]
    col: NDArray[np.integer]
    data: NDArray[np.generic]

    def sum_duplicates(self) -> None:
        """Make one entry of those that share a place."""


@runtime_checkable
class SciPyMatrix(Protocol):
    """A SciPy sparse matrix or array, of any layout."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns."""

    def tocoo(self) -> SciPyEntries:
        """List the entries."""


class SparseTransitions:
    """L×L transition scores given by the pairs that differ from a default.

    For label sets so large that a matrix would not fit, or models that learned few of the pairs.

    Args:
        labels: how many labels there are.
        origin: (n,) the label each listed transition leaves.
        target: (n,) the label it enters.
        scores: (n,) its score.
        default: the score of every pair that is not listed.
    """

    def __init__(
        self, labels: int, origin: ArrayLike, target: ArrayLike, scores: ArrayLike, *, default: float = 0.0
    ) -> None:
        self.labels = int(labels)
        self.origin = _as_ids("origin", origin, self.labels)
        self.target = _as_ids("target", target, self.labels)
        self.scores: Floats = freeze(np.atleast_1d(as_array("scores", scores)))
        self.default = float(default)
        if not self.origin.shape == self.target.shape == self.scores.shape:
            raise InvalidInput(
                "origin, target and scores must have one element per listed transition; "
                f"they have {self.origin.size}, {self.target.size} and {self.scores.size}"
            )
        pairs = self.origin * self.labels + self.target
        values, counts = np.unique(pairs, return_counts=True)
        if (counts > 1).any():
            pair = divmod(int(values[counts > 1][0]), self.labels)
            raise InvalidInput(f"the transition {pair[0]} -> {pair[1]} is listed more than once")

    @property
    def shape(self) -> tuple[int, int]:
        """(L, L), as a matrix would have it."""
        return self.labels, self.labels

    @property
    def dtype(self) -> Precision:
        """The precision of the scores."""
        return self.scores.dtype

    def to_dense(self) -> Floats:
        """Return the whole matrix."""
        matrix: Floats = np.full(self.shape, self.default, self.scores.dtype)
        matrix[self.origin, self.target] = self.scores
        return matrix

    @classmethod
    def from_scipy(cls, matrix: SciPyMatrix) -> SparseTransitions:
        """Take a SciPy sparse matrix; entries that it does not hold score 0."""
        if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
            raise InvalidInput(f"transitions must have shape (L, L), not {matrix.shape}")
        entries = matrix.tocoo()
        entries.sum_duplicates()
        return cls(matrix.shape[0], entries.row, entries.col, entries.data)

    def restrict(self, legal: NDArray[np.bool_]) -> SparseTransitions:
        """Forbid the pairs where ``legal`` is False, listing whichever of the two kinds is rarer."""
        keep = legal[self.origin, self.target]
        unlisted = np.ones(legal.shape, bool)
        unlisted[self.origin, self.target] = False
        if legal.mean() > 0.5:
            origin, target = np.nonzero(unlisted & ~legal)
            extra = np.full(origin.size, -np.inf, self.scores.dtype)
            scores = np.where(keep, self.scores, -np.inf)
            return SparseTransitions(
                self.labels,
                np.concatenate([self.origin, origin]),
                np.concatenate([self.target, target]),
                np.concatenate([scores, extra]).astype(self.scores.dtype),
                default=self.default,
            )
        origin, target = np.nonzero(unlisted & legal)
        extra = np.full(origin.size, self.default, self.scores.dtype)
        return SparseTransitions(
            self.labels,
            np.concatenate([self.origin[keep], origin]),
            np.concatenate([self.target[keep], target]),
            np.concatenate([self.scores[keep], extra]),
            default=-np.inf,
        )


def _as_ids(name: str, ids: ArrayLike, labels: int) -> NDArray[np.int64]:
    array = np.atleast_1d(np.asarray(ids))
    if array.size and not np.issubdtype(array.dtype, np.integer):
        raise InvalidInput(f"{name} must hold label ids (whole numbers), not {array.dtype}")
    bad = np.flatnonzero((array < 0) | (array >= labels))
    if bad.size:
        raise InvalidInput(f"{name}[{bad[0]}] is {array[bad[0]]}, but labels go from 0 to {labels - 1}")
    return freeze(np.ascontiguousarray(array, np.int64))


LARGE = 20_000  # labels from which a matrix is not copied whole


def as_sparse(matrix: object) -> SparseTransitions | None:
    """Hold a matrix by the pairs that differ from its commonest score, where a dense copy would be too large.

    Returns None for matrices that are small, are not matrices, or have no such score. A matrix that is one
    number broadcast to (L, L) is recognised without being read.
    """
    if not isinstance(matrix, np.ndarray) or isinstance(matrix, np.ma.MaskedArray) or matrix.ndim != 2:
        return None
    size = len(matrix)
    if matrix.shape[1] != size or size < LARGE:
        return None
    if matrix.strides == (0, 0):
        return SparseTransitions(size, [], [], np.empty(0, np.float64), default=float(matrix[0, 0]))
    rows = np.linspace(0, size - 1, 64).astype(int)
    values, counts = np.unique(matrix[rows][:, rows], return_counts=True)
    default = values[counts.argmax()]
    origin, target, scores = [], [], []
    found = 0
    for begin in range(0, size, 256):
        block = matrix[begin : begin + 256]
        i, j = np.nonzero(block != default)
        found += i.size
        if found > size * size // 20:
            return None
        origin.append(i + begin)
        target.append(j)
        scores.append(block[i, j])
    return SparseTransitions(
        size, np.concatenate(origin), np.concatenate(target), np.concatenate(scores), default=float(default)
    )
