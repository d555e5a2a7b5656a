"""Projections: which few directions of two feature spaces say most about each other.

For the tokens of one label, let f and g be two vectors of indicator features. Each is divided by the root of
how often it occurs (a feature that occurs in all but few tokens then weighs as little as it tells), and
centred. The top singular vectors of their cross-covariance are the directions that hidden states show in;
the constant is kept as a direction of its own, before them. So a projection is ``(1, U' (f - E f))``, and the
block of two projections is diag(1, s_1, s_2, ...).

Stratos et al. 2013 take the singular vectors of E[f g'] as it is. In expectation the space is the same: if
E[f g'] has rank m, the covariance has rank m - 1, and the constant is in the span of both. In a sample, the
constant being exact is what makes the estimate with one hidden state the plain HMM.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from certus import _native
from certus.learn.refinement.templates import Indicators

_EXACT = 160  # up to this number of features on the smaller side, a covariance is decomposed as it is
_WRITTEN = 1 << 23  # up to this number of entries, it is written out
_OVERSAMPLE = 10  # columns of the random range beyond those that are wanted
_POWERS = 2  # how often the range is sharpened


@dataclass(frozen=True, eq=False)
class Scaled:
    """Indicator features of some tokens, scaled and centred, without writing them out.

    Attributes:
        features: of the tokens.
        scale: (d,) what each feature is multiplied with.
        mean: (d,) of the scaled features.
        weight: (rows,) how often each token counts; all add up to 1.
    """

    features: Indicators
    scale: NDArray[np.float64]
    mean: NDArray[np.float64]
    weight: NDArray[np.float64]

    @classmethod
    def of(cls, features: Indicators, weight: NDArray[np.float64], rare: float) -> Scaled:
        """Scale features by the root of how often they occur; ``rare`` is added to the counts."""
        ids, total = features.ids, weight.sum()
        present = ids >= 0
        spread = np.broadcast_to(weight[:, None], ids.shape)
        counts = np.bincount(ids[present], spread[present], features.size)
        scale = np.sqrt(total / (counts + rare))
        return cls(features, scale, counts / total * scale, weight / total)

    def multiply(
        self, table: NDArray[np.float64], tokens: NDArray[np.int64] | None = None
    ) -> NDArray[np.float64]:
        """Return the product of the (rows, d) centred features with a (d, k) table, of all rows or some."""
        ids = self.features.ids if tokens is None else self.features.ids[tokens]
        out = np.empty((len(ids), table.shape[1]))
        scaled = np.ascontiguousarray(table * self.scale[:, None])
        _native.indicator_times(np.ascontiguousarray(ids), scaled, out)
        out -= self.mean @ table
        return out

    def multiply_transposed(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the weighted sum over tokens of feature times row: (d, k), for rows whose mean is 0."""
        out = np.empty((self.features.size, rows.shape[1]))
        _native.indicator_transposed_times(
            np.ascontiguousarray(self.features.ids), self.weight, np.ascontiguousarray(rows), out
        )
        out *= self.scale[:, None]
        return out


@dataclass(frozen=True, eq=False)
class Projection:
    """The directions in which two feature vectors covary, and the tokens they were found in.

    Attributes:
        left, right: the features.
        left_directions: (d, r - 1).
        right_directions: (e, r - 1), divided by the singular values: the weighted sum over tokens of
            ``left_rows() * right_rows()'`` is the identity.
        singular: (k,) all singular values that were computed, largest first; r - 1 of them are used.
    """

    left: Scaled
    right: Scaled
    left_directions: NDArray[np.float64]
    right_directions: NDArray[np.float64]
    singular: NDArray[np.float64]

    @property
    def rank(self) -> int:
        """How many directions there are, with the constant."""
        return int(self.left_directions.shape[1]) + 1

    @property
    def sizes(self) -> tuple[int, int]:
        """How many features of either side the tokens have."""
        return self.left.features.size, self.right.features.size

    def project_left(self, tokens: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
        """Return the (rows, r) projections of the left side, of all tokens or of some; the constant first."""
        return _add_constant(self.left.multiply(self.left_directions, tokens))

    def project_right(self) -> NDArray[np.float64]:
        """Return the (rows, r) projections of the right side; the constant first."""
        return _add_constant(self.right.multiply(self.right_directions))


def project(
    left: Indicators,
    right: Indicators,
    weight: NDArray[np.float64],
    hidden: int,
    *,
    tolerance: float,
    rare: float,
    rng: np.random.Generator,
) -> Projection:
    """Project the features of the tokens of a label.

    Args:
        left: features of one side, of these tokens alone.
        right: those of the other.
        weight: (rows,) how often each token counts.
        hidden: the most directions, with the constant.
        tolerance: singular values below it are taken for 0.
        rare: added to the counts of features, so that rare ones are not blown up.
        rng: for the random range of large matrices.
    """
    f, g = Scaled.of(left, weight, rare), Scaled.of(right, weight, rare)
    wanted = min(hidden - 1, left.size, right.size)
    u, s, v = _find_directions(f, g, wanted, rng) if wanted > 0 else _make_empty(f, g)
    rank = int((s > tolerance).sum())
    return Projection(f, g, u[:, :rank], v[:, :rank] / s[:rank], s)


def _add_constant(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    whole = np.empty((len(rows), rows.shape[1] + 1))
    whole[:, 0] = 1.0
    whole[:, 1:] = rows
    return whole


def _find_directions(
    f: Scaled, g: Scaled, wanted: int, rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the top singular vectors and values of the cross-covariance.

    A large one is not decomposed as a whole: its range is found from random combinations of its columns
    (Halko, Martinsson & Tropp 2011), sharpened by power iterations. A very large one is not written out
    either.
    """
    d, e = f.features.size, g.features.size
    cross: NDArray[np.float64] | _Implied = _compute_covariance(f, g) if d * e <= _WRITTEN else _Implied(f, g)
    if isinstance(cross, np.ndarray) and min(d, e) <= _EXACT:
        u, s, v = _decompose(cross)
        return u[:, :wanted], s[:wanted], v[:wanted].T
    basis = np.linalg.qr(cross @ rng.standard_normal((e, min(wanted + _OVERSAMPLE, d, e))))[0]
    for _ in range(_POWERS):
        basis = np.linalg.qr(cross @ np.linalg.qr(cross.T @ basis)[0])[0]
    u, s, v = _decompose((cross.T @ basis).T)
    return (basis @ u)[:, :wanted], s[:wanted], v[:wanted].T


def _decompose(
    matrix: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Decompose a matrix, also where LAPACK's divide and conquer gives up, as it does on some of low rank.

    Then, with the triangle R of the QR decomposition of the longer side, u and v are the halves of the
    eigenvectors of [[0, R], [R', 0]], whose positive eigenvalues are the singular values.
    """
    try:
        u, s, v = np.linalg.svd(matrix, full_matrices=False)
        return u, s, v
    except np.linalg.LinAlgError:
        pass
    if matrix.shape[0] < matrix.shape[1]:
        v, s, u = _decompose(matrix.T)
        return u.T, s, v.T
    long, triangle = np.linalg.qr(matrix)
    k = len(triangle)
    values, vectors = np.linalg.eigh(np.block([[np.zeros((k, k)), triangle], [triangle.T, np.zeros((k, k))]]))
    top = vectors[:, ::-1][:, :k] * np.sqrt(2.0)
    return long @ top[:k], np.maximum(values[::-1][:k], 0.0), top[k:].T


def _compute_covariance(f: Scaled, g: Scaled) -> NDArray[np.float64]:
    """Return the (d, e) cross-covariance, counted pair by pair of features."""
    d, e = f.features.size, g.features.size
    counts = np.zeros(d * e)
    for left in f.features.ids.T:
        codes = left[:, None].astype(np.int64) * e + g.features.ids
        present = (left[:, None] >= 0) & (g.features.ids >= 0)
        weight = np.broadcast_to(f.weight[:, None], codes.shape)
        counts += np.bincount(codes[present], weight[present], d * e)
    return f.scale[:, None] * counts.reshape(d, e) * g.scale - np.outer(f.mean, g.mean)


@dataclass(frozen=True, eq=False)
class _Implied:
    """The cross-covariance as what it does to a vector."""

    f: Scaled
    g: Scaled

    def __matmul__(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        return self.f.multiply_transposed(self.g.multiply(table))

    @property
    def T(self) -> _Implied:  # noqa: N802
        return _Implied(self.g, self.f)


def _make_empty(f: Scaled, g: Scaled) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    return np.zeros((f.features.size, 0)), np.zeros(0), np.zeros((g.features.size, 0))
