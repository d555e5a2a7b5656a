"""Operators as the spectral estimator finds them: tensors, which an observation turns into matrices.

Stratos et al. 2013 write C^{b|a}(v) for the tensor C^{b|a} contracted with v = c^a_x, the vector of an
observation x under a label a. Contracting once for each observation, instead of at each token, takes a token
from O(l² m³) to O(l² m²) steps (their footnote 1). Where the matrices of all observations would take too
much memory, sentences are taken in portions that have few enough different observations.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from certus.latent.refinement.data import Observed, check_ids
from certus.latent.refinement.operators import Operators, Sums, padded

_BYTES = 512 << 20  # that the matrices of a portion may take
_BLOCK = (
    16  # observations that are contracted together: always as many, so that rounding does not depend on it
)


@dataclass(frozen=True, eq=False)
class Tensors:
    """The tensors of every label; label a has ranks[a] states, and its observations have presents[a] entries.

    Attributes:
        start: (S,) the states of all labels one after the other; the first of a label is the constant.
        follow: for each label a, (ranks[a], presents[a], S): C^{b|a} for all b, [from, present, to].
        stop: for each label a, (ranks[a], presents[a]).
        seen: for each label a, (n, presents[a]): c^a_x for all x.
    """

    start: NDArray[np.float64]
    follow: tuple[NDArray[np.float64], ...]
    stop: tuple[NDArray[np.float64], ...]
    seen: tuple[NDArray[np.float64], ...]

    @cached_property
    def begin(self) -> NDArray[np.int64]:
        """(L + 1,) where the states of each label begin."""
        return np.concatenate([[0], np.cumsum([len(tensor) for tensor in self.follow])]).astype(np.int64)

    @property
    def observations(self) -> int:
        """How many observations there are."""
        return len(self.seen[0])

    def damped(self, factor: float) -> Tensors:
        """Return tensors that remember less: what enters a state, but the constant, counts by a factor."""
        kept = np.full(len(self.start), factor)
        kept[self.begin[:-1]] = 1.0
        return replace(self, start=self.start * kept, follow=tuple(tensor * kept for tensor in self.follow))

    def operators(self, observations: NDArray[np.int64]) -> Operators:
        """Return the matrices of some observations, numbered as they come."""
        states = len(self.start)
        size, count = padded(states), len(observations)
        start = np.zeros(size)
        start[:states] = self.start
        matrices, finish = np.zeros((count, size, size)), np.zeros((count, size))
        for a, (tensor, stop, seen) in enumerate(zip(self.follow, self.stop, self.seen, strict=True)):
            own = slice(self.begin[a], self.begin[a + 1])
            for first in range(0, count, _BLOCK):
                some = slice(first, min(first + _BLOCK, count))
                chosen = np.zeros((_BLOCK, seen.shape[1]))
                chosen[: some.stop - first] = seen[observations[some]]
                for row, state in enumerate(range(own.start, own.stop)):
                    matrices[some, state, :states] = (chosen @ tensor[row])[: some.stop - first]
                finish[some, own] = (chosen @ stop.T)[: some.stop - first]
        return Operators(self.begin, start, matrices, np.arange(count), None, finish)

    def sums(self, data: Observed, threads: int = 1) -> Sums:
        """Sum over all label sequences of each sentence."""
        parts = [operators.sums(part, threads) for operators, part, _ in self._portions(data)]
        return _joined(parts, len(self.begin) - 1)

    def sums_of(self, data: Observed, labels: NDArray[np.int64], threads: int = 1) -> Sums:
        """Sum over the hidden states of one label sequence for each sentence."""
        parts = [
            operators.sums_of(part, labels[tokens], threads)
            for operators, part, tokens in self._portions(data)
        ]
        return _joined(parts, len(self.begin) - 1)

    @cached_property
    def _all(self) -> Operators:
        return self.operators(np.arange(self.observations))

    def _portions(self, data: Observed) -> Iterator[tuple[Operators, Observed, slice]]:
        """Yield sentences with the operators of their observations."""
        check_ids("observation", data.observations, self.observations)
        room = max(1, _BYTES // (8 * padded(len(self.start)) ** 2))
        if self.observations <= room:
            yield self._all, data, slice(0, len(data.observations))
            return
        begin, count = 0, len(data.offsets) - 1
        while begin < count:
            end = _reach(data, begin, room)
            tokens = slice(int(data.offsets[begin]), int(data.offsets[end]))
            ids, own = np.unique(data.observations[tokens], return_inverse=True)
            part = Observed(own.astype(np.int64), data.offsets[begin : end + 1] - data.offsets[begin])
            yield self.operators(ids), part, tokens
            begin = end


def _reach(data: Observed, begin: int, room: int) -> int:
    """Return the sentence before which one has to stop to see at most so many different observations.

    One sentence is taken in any case.
    """
    first = data.offsets[begin]
    seen = data.observations[first:]
    new = np.zeros(len(seen), bool)
    new[np.unique(seen, return_index=True)[1]] = True
    different = np.cumsum(new)
    ends = data.offsets[begin + 1 :] - first
    counts = np.where(ends > 0, different[np.maximum(ends - 1, 0)], 0) if len(seen) else np.zeros(len(ends))
    return begin + max(1, int(np.searchsorted(counts, room, side="right")))


def _joined(parts: list[Sums], labels: int) -> Sums:
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return Sums(np.zeros((0, labels)), np.zeros(0), np.zeros(0), np.zeros(0))
    return Sums(
        np.concatenate([part.marginals for part in parts]),
        np.concatenate([part.log_mass for part in parts]),
        np.concatenate([part.sign for part in parts]),
        np.concatenate([part.drift for part in parts]),
    )
