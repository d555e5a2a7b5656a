"""The label sequences of many sentences that a tagger chooses from, kept to choose again with other scores.

Of a sequence y the lattice of its sentence knows the score s(y). With adjustments a, of tokens and labels,
the best is the y with the largest ``s(y) + sum_t a[t, y_t]``. A pruned CRF leaves few sequences (a sentence's
last lattice, states of as many labels as its order), and bounds the scores of all others, ``outside``; a
perceptron, a CRF and a hidden Markov model keep all. With adjustments no sequence outside scores more than
``outside + sum_t max_y a[t, y]``, which is ``bound_outside``; what is not above that is proven within the
lattice only.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certus import _native
from certus.checks import as_array, check_count
from certus.errors import InvalidInput
from certus.part import Adjustments, Choice, Forbidden


@dataclass(frozen=True, eq=False)
class Arcs:
    """The lattice of a sentence of T tokens, spelled out: a sequence is a path from state 0 to a last one.

    Attributes:
        begin: (T + 3,) the first state of each position; the first and the last position are boundaries.
        label: (states,) the last label of each state; the number of labels at a boundary.
        node: (states,) the score of each state.
        origin: (arcs,) the state each arc leaves.
        target: (arcs,) the state each arc enters.
        score: (arcs,) the score of each arc.
    """

    begin: NDArray[np.int64]
    label: NDArray[np.int32]
    node: NDArray[np.float64]
    origin: NDArray[np.int64]
    target: NDArray[np.int64]
    score: NDArray[np.float64]

    @classmethod
    def of(cls, lattice: _native.Lattice) -> Arcs:
        """Spell out a lattice of the kernels, whose arcs into a state come from neighbouring states."""
        begin, end = lattice.edge_begin[:-1].astype(np.int64), lattice.edge_begin[1:].astype(np.int64)
        count = end - begin
        target = np.repeat(np.arange(len(count)), count)
        origin = np.arange(len(target)) + np.repeat(lattice.first_source - begin, count)
        there = lattice.edge > -np.inf
        return cls(
            lattice.begin.astype(np.int64),
            lattice.label,
            lattice.node,
            origin[there],
            target[there],
            lattice.edge[there],
        )


class TagLattices:
    """Made by ``Tagger.lattices``; decoding is native, and one call serves thousands of sentences.

    Attributes:
        names: of the labels, in the order of their numbers.
        labels: how many labels there are.
        first: (sentences + 1,) where the tokens of each begin; tokens are numbered over all sentences.
        exact: (sentences,) whether nothing was pruned: the lattice has all label sequences.
        outside: (sentences,) no label sequence that the lattice lacks scores more; -inf where it lacks none.
    """

    def __init__(self, native: _native.Lattices, names: Sequence[str]) -> None:
        self._native = native
        self.names = list(names)
        self.labels = len(self.names)
        self.first = native.first
        self.outside: NDArray[np.float64] = native.outside
        self.exact: NDArray[np.bool_] = self.outside == -np.inf
        # The largest adjustment with which no sum over a sentence leaves the range of float64.
        self._limit = np.finfo(np.float64).max / 32 / max(1, int(np.diff(self.first).max(initial=1)))

    def __len__(self) -> int:
        """Return how many sentences there are."""
        return len(self.exact)

    def __repr__(self) -> str:
        return f"TagLattices({len(self):,} sentences, {int(self.first[-1]):,} tokens, {self.labels:,} labels)"

    def decode(
        self,
        which: ArrayLike | None = None,
        tokens: ArrayLike | None = None,
        adjust: ArrayLike | None = None,
        threads: int = 1,
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Return the best labels of sentences, one sentence after the other, and their scores.

        Scores are without the adjustments, summed in float64 in the order of the sentence. Where -inf forbids
        all sequences of a sentence, its labels are -1 and its score is -inf.

        Args:
            which: numbers of sentences, in any order; all of them by default.
            tokens: token numbers in ascending order; those of sentences that are not asked for are ignored.
            adjust: (tokens, labels) what is added to the scores of the labels there; -inf forbids.
            threads: how many threads to use; the answers do not depend on it.
        """
        chosen = self._check_sentences(which)
        places, added = self._check_adjustments(tokens, adjust)
        check_count("threads", threads)
        lengths = self.first[chosen + 1] - self.first[chosen]
        labels = np.empty(int(lengths.sum()), np.int32)
        scores = np.empty(len(chosen), np.float64)
        self._native.decode(chosen, places, added, labels, scores, threads)
        return labels, scores

    def bound_outside(
        self,
        which: ArrayLike | None = None,
        tokens: ArrayLike | None = None,
        adjust: ArrayLike | None = None,
    ) -> NDArray[np.float64]:
        """Return what label sequences that the lattices lack score at most, with adjustments.

        What ``decode`` finds with the same adjustments is the best of all label sequences if it scores, with
        adjustments, no less than this. It is -inf where the lattice lacks none, or adjustments forbid all.

        Args:
            which: numbers of sentences, in any order; all of them by default.
            tokens: as for ``decode``.
            adjust: as for ``decode``.
        """
        chosen = self._check_sentences(which)
        places, added = self._check_adjustments(tokens, adjust)
        sentence = np.searchsorted(self.first, places, "right") - 1
        most = np.zeros(len(self))
        np.add.at(most, sentence, added.max(1, initial=-np.inf))
        return np.where(most > -np.inf, self.outside + most, -np.inf)[chosen]

    def max_marginals(self, sentence: int, adjust: ArrayLike | None = None) -> NDArray[np.float64]:
        """Return the best score with adjustments of a sequence that has a label at a token, (T, labels).

        Args:
            sentence: its number.
            adjust: (T, labels) what is added; -inf forbids.
        """
        number = int(self._check_sentences([sentence])[0])
        tokens = np.arange(self.first[number], self.first[number + 1])
        out = np.empty((len(tokens), self.labels), np.float64)
        places, added = self._check_adjustments(None if adjust is None else tokens, adjust)
        self._native.max_marginals(number, places, added, out)
        return out

    def arcs(self, sentence: int) -> Arcs:
        """Return the lattice of a sentence, spelled out."""
        return Arcs.of(self._native.lattice(int(self._check_sentences([sentence])[0])))

    def part(self, sentence: int) -> TagPart:
        """Return a sentence as a part of a decomposition, with the space ``tags`` of (T, labels)."""
        return TagPart(self, int(self._check_sentences([sentence])[0]))

    def _check_sentences(self, which: ArrayLike | None) -> NDArray[np.int64]:
        if which is None:
            return np.arange(len(self), dtype=np.int64)
        chosen = np.ascontiguousarray(which, np.int64).reshape(-1)
        wrong = chosen[(chosen < 0) | (chosen >= len(self))]
        if len(wrong):
            raise InvalidInput(f"sentence {wrong[0]} does not exist: there are {len(self)}")
        return chosen

    def _check_adjustments(
        self, tokens: ArrayLike | None, adjust: ArrayLike | None
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        if tokens is None and adjust is None:
            return np.zeros(0, np.int64), np.zeros((0, self.labels))
        if tokens is None or adjust is None:
            raise InvalidInput("tokens and adjust go together: give both or neither")
        places = np.ascontiguousarray(tokens, np.int64)
        added: NDArray[np.float64] = np.ascontiguousarray(as_array("adjust", adjust), np.float64)
        if places.ndim != 1 or added.shape != (len(places), self.labels):
            raise InvalidInput(
                f"adjust has shape {added.shape}; it must be ({places.size}, {self.labels}): "
                "a row for each of the tokens and a column for each label"
            )
        self._check_tokens(places)
        bad = ~(np.abs(added) <= self._limit) & (added > -np.inf) | np.isnan(added)
        if bad.any():
            row, label = np.argwhere(bad)[0]
            value = added[row, label]
            wrong = (
                "it must be finite, or -inf to forbid"
                if not np.isfinite(value)
                else "the scores of a label sequence may add up beyond the range of float64; scale them down"
            )
            raise InvalidInput(
                f"adjust is {value} for label {self.names[label]!r} at token {places[row]}; {wrong}"
            )
        return places, added

    def _check_tokens(self, places: NDArray[np.int64]) -> None:
        if (places[1:] <= places[:-1]).any():
            raise InvalidInput("tokens must be in ascending order, each once: sort them together with adjust")
        if len(places) and not 0 <= places[0] <= places[-1] < self.first[-1]:
            wrong = places[-1] if places[0] >= 0 else places[0]
            raise InvalidInput(f"token {wrong} does not exist: there are {self.first[-1]}")


class TagPart:
    """One sentence of TagLattices as a part of a decomposition; its values are arrays of label numbers.

    Attributes:
        spaces: ``tags``, of (T, labels).
    """

    def __init__(self, lattices: TagLattices, sentence: int) -> None:
        self._lattices, self._which = lattices, np.array([sentence])
        self._tokens = np.arange(lattices.first[sentence], lattices.first[sentence + 1])
        self.spaces: Mapping[str, tuple[int, ...]] = {"tags": (len(self._tokens), lattices.labels)}

    def maximize(self, adjust: Adjustments) -> Choice:
        """Return the best sequence under adjusted scores."""
        added = adjust.get("tags")
        tokens = None if added is None else self._tokens
        labels, scores = self._lattices.decode(self._which, tokens, added)
        if scores[0] == -np.inf:
            raise Forbidden("the adjustments forbid all label sequences of the sentence's lattice")
        return self.read_structure((labels, float(scores[0])))

    def make_native(
        self, base: NDArray[np.float64] | None = None, cells: NDArray[np.int64] | None = None
    ) -> _native.RelaxPart:
        """Return the sequences for the kernels.

        Other args:
            base: (T, labels) 0, or -inf for labels that are never allowed.
            cells: into the flattened space, rising: those that are shared; all by default.
        """
        size = math.prod(self.spaces["tags"])
        return self._lattices._native.make_part(
            int(self._which[0]),
            np.zeros(size) if base is None else base.reshape(-1),
            np.arange(size) if cells is None else cells,
        )

    def read_structure(self, structure: tuple[NDArray[np.int32], float]) -> Choice:
        """Return what the kernels found, as a choice."""
        labels, score = structure
        chosen = np.zeros(self.spaces["tags"], np.int8)
        chosen[np.arange(len(labels)), labels] = 1
        return Choice(labels, score, {"tags": chosen})

    def max_marginals(self, adjust: Adjustments) -> dict[str, NDArray[np.float64]]:
        """Return, for each cell, the best score with adjustments of a sequence that uses it."""
        return {"tags": self._lattices.max_marginals(int(self._which[0]), adjust.get("tags"))}
