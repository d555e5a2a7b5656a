"""What the parts have chosen so far, and the best mixture of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from certus import _native
from certus.relax.layout import Floats, Ints
from certus.relax.optimizers.optimizer import DualProblem
from certus.relax.oracle import Answer

MOVES = 5_000  # of weight between two columns, for one mixture
MOST = 1_500  # columns of all parts together


class Columns:
    """Columns, one a choice of a part, with weights that sum to one within each part.

    With D the map that takes the indicators of all copies to their deviations from agreement, the Gram matrix
    of two columns is (D x) · (D y): for the same part x · y - z_x · z_y, else - z_x · z_y, where z are the
    sums of a column over the copies of each variable, by the root of their number.

    Attributes:
        weights: (K,) the mixture.
    """

    def __init__(self, problem: DualProblem, most: int) -> None:
        layout = problem.dual.layout
        self.problem, self.most = problem, most
        self.parts = len(layout.slices)
        self.sizes = np.array([own.stop - own.start for own in layout.slices], np.int64)
        width = int(self.sizes.max(initial=0))
        self._free = problem.free[layout.var]
        self._root = np.sqrt(layout.count)
        self.part: Ints = np.empty(0, np.int64)
        self.scores = np.empty(0)
        self.x = np.empty((0, width))  # in the first cells of a row, those of its part
        self._open = np.empty((0, width))  # the same, but only copies of free variables
        self._sums = np.empty((0, layout.variables))
        self.gram = np.empty((0, 0))
        self.weights = np.empty(0)
        self._known: set[tuple[int, bytes]] = set()
        for part, pool in enumerate(problem.dual.pool):
            for x, score in list(pool.values())[-most // 2 :]:
                if problem.allows(part, x):
                    self._append(part, x, score)

    def add(self, answers: Sequence[Answer]) -> bool:
        """Take in structures, one per part, as far as the branch allows them; return whether any is new."""
        before = len(self._known)
        for part, answer in enumerate(answers):
            if self.sizes[part] and self.problem.allows(part, answer.x):
                self._append(part, answer.x, answer.score)
        news = len(self._known) > before
        if len(self.scores) > min(MOST, self.most * self.parts):
            self._forget()
        return news

    def distances(self, answers: Sequence[Answer]) -> Floats:
        """Return in how many free copies each column differs from the structure of its part: (K,)."""
        rows = np.zeros((self.parts, self.x.shape[1]))
        for part, answer in enumerate(answers):
            own = self.problem.dual.layout.slices[part]
            rows[part, : self.sizes[part]] = answer.x * self._free[own]
        distances: Floats = np.abs(self._open - rows[self.part]).sum(axis=1)
        return distances

    def values(self, multipliers: Floats) -> Floats:
        """Return what each column is worth under multipliers: (K,)."""
        values: Floats = self.scores + np.einsum("kn,kn->k", self.x, self._rows(multipliers)[self.part])
        return values

    def mix(self, gain: Floats, step: float, enough: float) -> Floats:
        """Find the mixture with the most gain less step/2 times its squared deviation; return the slopes."""
        _native.mix(step * self.gram, gain, self.part, self.parts, enough, MOVES, self.weights)
        slopes: Floats = gain - step * (self.gram @ self.weights)
        return slopes

    def model(self, values: Floats) -> float:
        """Return the sum over parts of the highest of their columns' values."""
        highest = np.full(self.parts, -np.inf)
        np.maximum.at(highest, self.part, values)
        return float(highest[self.sizes > 0].sum())

    def average(self) -> Floats:
        """Return the mixture's indicators of all copies: (C,)."""
        rows = np.zeros((self.parts, self.x.shape[1]))
        used = np.flatnonzero(self.weights > 0)
        np.add.at(rows, self.part[used], self.weights[used, None] * self.x[used])
        mixed = np.empty(self.problem.dual.layout.copies)
        for part, own in enumerate(self.problem.dual.layout.slices):
            mixed[own] = rows[part, : self.sizes[part]]
        return mixed

    def direction(self) -> Floats:
        """Return the mixture's deviations from agreement: (C,)."""
        mixed = self.average()
        dual = self.problem.dual
        return dual.compute_deviations(mixed, dual.layout.total(mixed), self.problem.free)

    def _rows(self, copies: Floats) -> Floats:
        rows = np.zeros((self.parts, self.x.shape[1]))
        for part, own in enumerate(self.problem.dual.layout.slices):
            rows[part, : self.sizes[part]] = copies[own]
        return rows

    def _append(self, part: int, x: Floats, score: float) -> None:
        key = (part, x.tobytes())
        if key in self._known:
            return
        self._known.add(key)
        layout = self.problem.dual.layout
        own = layout.slices[part]
        row, open_ = np.zeros(self.x.shape[1]), np.zeros(self.x.shape[1])
        row[: len(x)] = x
        open_[: len(x)] = x * self._free[own]
        sums = np.bincount(layout.var[own], x * self._free[own], layout.variables) / self._root
        first = not (self.part == part).any()
        self.part = np.append(self.part, part)
        self.scores = np.append(self.scores, score)
        self.x = np.vstack([self.x, row])
        self._open = np.vstack([self._open, open_])
        self._sums = np.vstack([self._sums, sums])
        self.weights = np.append(self.weights, float(first))
        products = np.where(self.part == part, self._open @ open_, 0.0) - self._sums @ sums
        size = len(self.part)
        gram = np.empty((size, size))
        gram[:-1, :-1] = self.gram
        gram[-1] = gram[:, -1] = products
        self.gram = gram

    def _forget(self) -> None:
        """Drop the oldest columns without weight, a quarter of all."""
        idle = np.flatnonzero(self.weights == 0)
        dropped = idle[: len(self.weights) // 4]
        kept = np.setdiff1d(np.arange(len(self.weights)), dropped)
        for k in dropped:
            part = int(self.part[k])
            self._known.discard((part, self.x[k, : self.sizes[part]].tobytes()))
        self.part, self.scores, self.weights = self.part[kept], self.scores[kept], self.weights[kept]
        self.x, self._open, self._sums = self.x[kept], self._open[kept], self._sums[kept]
        self.gram = self.gram[np.ix_(kept, kept)]
