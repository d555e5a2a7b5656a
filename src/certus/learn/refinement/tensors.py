"""Operators as the spectral estimator finds them: tensors, which an observation turns into matrices.

Stratos et al. 2013 write C^{b|a}(v) for the tensor C^{b|a} contracted with v = c^a_x, the vector of an
observation x under a label a. Contracting once for each observation, instead of at each token, takes a token
from O(l² m³) to O(l² m²) steps (their footnote 1). Where the matrices of all observations would take too
much memory, sentences are taken in portions that have few enough different observations.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from certus.chain import Automaton
from certus.learn.refinement.data import Observed, check_ids
from certus.learn.refinement.operators import Masses, Operators, Sums, padded

_BYTES = 512 << 20  # that the matrices of a portion may take
_BLOCK = (
    16  # observations that are contracted together: always as many, so that rounding does not depend on it
)

Found = TypeVar("Found", Sums, Masses)


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
    # What was contracted last, at most one item; a thread that uses it takes it out meanwhile.
    _last: deque[tuple[NDArray[np.int64], Operators]] = field(
        default_factory=lambda: deque(maxlen=1), init=False, repr=False
    )

    @cached_property
    def begin(self) -> NDArray[np.int64]:
        """(L + 1,) where the states of each label begin."""
        return np.concatenate([[0], np.cumsum([len(tensor) for tensor in self.follow])]).astype(np.int64)

    @property
    def observations(self) -> int:
        """How many observations there are."""
        return len(self.seen[0])

    def damp(self, factor: float) -> Tensors:
        """Return tensors that remember less: what enters a state, but the constant, counts by a factor."""
        kept = np.full(len(self.start), factor)
        kept[self.begin[:-1]] = 1.0
        return replace(self, start=self.start * kept, follow=tuple(tensor * kept for tensor in self.follow))

    def make_operators(
        self, observations: NDArray[np.int64], room: NDArray[np.float64] | None = None
    ) -> Operators:
        """Return the matrices of some observations, numbered as they come.

        Args:
            observations: their ids.
            room: for at least as many matrices; they are written there, and are 0 where padding is.
        """
        states = len(self.start)
        size, count = padded(states), len(observations)
        start = np.zeros(size)
        start[:states] = self.start
        matrices = np.zeros((count, size, size)) if room is None else room[:count]
        finish = np.zeros((count, size))
        for a, (tensor, stop, seen) in enumerate(zip(self._turned, self.stop, self.seen, strict=True)):
            own = slice(self.begin[a], self.begin[a + 1])
            for first in range(0, count, _BLOCK):
                some = slice(first, min(first + _BLOCK, count))
                chosen = np.zeros((_BLOCK, seen.shape[1]))
                chosen[: some.stop - first] = seen[observations[some]]
                both = (chosen @ tensor).reshape(_BLOCK, -1, states)
                matrices[some, own, :states] = both[: some.stop - first]
                finish[some, own] = (chosen @ stop.T)[: some.stop - first]
        return Operators(self.begin, start, matrices, np.arange(count), None, finish)

    @cached_property
    def _turned(self) -> list[NDArray[np.float64]]:
        """For each label, (presents[a], ranks[a] * S): the tensor with what is contracted in front."""
        return [
            np.ascontiguousarray(tensor.transpose(1, 0, 2)).reshape(tensor.shape[1], -1)
            for tensor in self.follow
        ]

    def constrain(self, legal: Automaton) -> Tensors:
        """Return tensors that give illegal label sequences no mass, and all others what they had."""
        sizes = np.diff(self.begin)
        return replace(
            self,
            start=self.start * np.repeat(legal.start, sizes),
            follow=tuple(
                tensor * np.repeat(row, sizes) for tensor, row in zip(self.follow, legal.legal, strict=True)
            ),
            stop=tuple(tensor * end for tensor, end in zip(self.stop, legal.end, strict=True)),
        )

    def compute_sums(
        self, data: Observed, threads: int = 1, allowed: NDArray[np.bool_] | None = None
    ) -> Sums:
        """Sum over all label sequences of each sentence, or over those that are allowed: (tokens, L)."""
        parts = [
            operators.compute_sums(part, threads, None if allowed is None else allowed[tokens])
            for operators, part, tokens in self._split_portions(data)
        ]
        if not parts:
            return Sums(np.zeros((0, len(self.begin) - 1)), np.zeros(0), np.zeros(0), np.zeros(0))
        return _join_portions(Sums, parts)

    def compute_masses(self, data: Observed, labels: NDArray[np.int64], threads: int = 1) -> Masses:
        """Sum over the hidden states of one label sequence for each sentence: p(labels, observations)."""
        parts = [
            operators.compute_masses(part, labels[tokens], threads)
            for operators, part, tokens in self._split_portions(data)
        ]
        return _join_portions(Masses, parts) if parts else Masses(np.zeros(0), np.zeros(0))

    @cached_property
    def _all(self) -> Operators:
        return self.make_operators(np.arange(self.observations))

    def _split_portions(self, data: Observed) -> Iterator[tuple[Operators, Observed, slice]]:
        """Yield sentences with the operators of their observations; of all, once most are asked for."""
        check_ids("observation", data.observations, self.observations)
        room = max(1, _BYTES // (8 * padded(len(self.start)) ** 2))
        if self.observations <= room and ("_all" in self.__dict__ or self._covers_most(data)):
            yield self._all, data, slice(0, len(data.observations))
            return
        begin, count = 0, len(data.offsets) - 1
        while begin < count:
            end = _reach(data, begin, room)
            tokens = slice(int(data.offsets[begin]), int(data.offsets[end]))
            ids, own = np.unique(data.observations[tokens], return_inverse=True)
            part = Observed(own.astype(np.int64), data.offsets[begin : end + 1] - data.offsets[begin])
            found = self._contract(ids)
            yield found, part, tokens
            self._last.append((ids, found))
            begin = end

    def _contract(self, ids: NDArray[np.int64]) -> Operators:
        """Return the operators of some observations, which are the caller's alone.

        Takes what was contracted last: to use it again, or to write into its memory, as fresh memory costs as
        much as the work that is done in it.
        """
        try:
            last_ids, last = self._last.pop()  # which no two threads can do
        except IndexError:
            return self.make_operators(ids, np.zeros((len(ids), *self._square)))
        if np.array_equal(last_ids, ids):
            return last
        whole = last.matrices if last.matrices.base is None else last.matrices.base
        enough = len(whole) >= len(ids)
        return self.make_operators(ids, whole if enough else np.zeros((len(ids), *self._square)))

    @property
    def _square(self) -> tuple[int, int]:
        return padded(len(self.start)), padded(len(self.start))

    def _covers_most(self, data: Observed) -> bool:
        return bool(2 * np.count_nonzero(np.bincount(data.observations)) >= self.observations)


def _reach(data: Observed, begin: int, room: int) -> int:
    """Return the sentence to stop before, so that at most a given number of observations differ.

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


def _join_portions(kind: type[Found], parts: list[Found]) -> Found:
    """Put what was found in portions one after the other, field by field."""
    names = [one.name for one in fields(kind)]
    return kind(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))
