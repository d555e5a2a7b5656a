"""Decoding with a refinement HMM: cells to observations, then the most probable label of each position."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from certus import _native
from certus.chain import Automaton, Chain
from certus.errors import InvalidInput
from certus.learn.decoder import Allowed, Cells, Decoded, Decoder, Request, find_starts, split_batch
from certus.learn.refinement.data import Observed
from certus.learn.refinement.decoding import (
    Beliefs,
    Summing,
    believe,
    find_best_legal,
    fold_tokens,
    free,
    score,
)
from certus.learn.refinement.model import Refinement
from certus.learn.refinement.observer import Observer
from certus.learn.refinement.parameters import Parameters


@dataclass(frozen=True, eq=False)
class _Rules:
    """The model as far as it is legal, and what may follow what."""

    ladder: Sequence[Summing]
    chain: Chain


class RefinementDecoder(Decoder):
    """A refinement HMM that labels sentences.

    Labels are the most probable ones position by position, or the legal sequence with the most labels right
    in expectation. Their score is log p(labels, observations), summed over hidden states, as a spectral model
    estimates it: nothing is proven, and the bound is infinite. Models by em have an EmDecoder.

    Args:
        model: fitted.
        observer: names what it observes.
    """

    def __init__(self, model: Refinement, observer: Observer) -> None:
        self.model = model
        self._observer = observer
        self._labels = len(model.names.labels)
        self._support = _find_support(model.get_plain())
        self._free = _Rules(model._list_rungs(), free(self._support))
        # For each set of legal sequences, for as long as somebody has it.
        self._constrained: WeakKeyDictionary[Automaton, _Rules] = WeakKeyDictionary()

    def decode(self, cells: Cells, request: Request) -> Decoded:
        """Label sentences given as columns of cells."""
        if request.k > 1:
            raise InvalidInput(
                "a spectral refinement has one answer for a sentence, the most probable label of each "
                "position: k must be 1"
            )
        allowed, legal = request.allowed, request.legal
        rules = self._free if legal is None else self._get_rules(legal)
        first = find_starts(cells)
        out = Decoded.make_empty(first, request)
        for begin, end in split_batch(first, self._labels, np.dtype(np.float64).itemsize):
            data = self._observe(cells[begin:end], first[begin : end + 1] - first[begin])
            mask = None if allowed is None else self._mask(data, allowed[begin:end])
            self._put(out, begin, end, data, mask, rules, legal is not None, request.threads)
        return out

    @property
    def refinement(self) -> Refinement:
        """The model, with its diagnostics."""
        return self.model

    def search(
        self, cells: Cells, *, pruning: float, threads: int, margins: NDArray[np.float64] | None = None
    ) -> _native.Lattices:
        """Refuse: a label sequence's score is a sum over hidden states, which no lattice of labels has."""
        raise InvalidInput("a refinement has no lattices of labels: sequences are sums over hidden states")

    def believe(self, cells: Cells, threads: int = 1) -> Beliefs:
        """Return what the model believes of the labels of sentences, and how it came by it."""
        return believe(self._free.ladder, self._observe(cells, find_starts(cells)), threads)

    def _get_rules(self, legal: Automaton) -> _Rules:
        if legal not in self._constrained:
            ladder = [rung.constrain(legal) for rung in self._free.ladder]
            self._constrained[legal] = _Rules(ladder, free(self._support, legal))
        return self._constrained[legal]

    def _observe(self, cells: Cells, first: NDArray[np.int64]) -> Observed:
        ids = self._observer.number_tokens(cells, self.model.names.observations)
        return Observed(np.array(ids, np.int64), first)

    def _mask(self, data: Observed, allowed: Allowed) -> NDArray[np.bool_] | None:
        """Return (tokens, L) the labels that tokens may have, or None where nothing is ruled out."""
        mask = np.ones((len(data.observations), self._labels), bool)
        for begin, limits in zip(data.offsets.tolist(), allowed, strict=False):
            for t, labels in enumerate(limits or []):
                if labels is not None:
                    mask[begin + t] = False
                    mask[begin + t, labels] = True
        return None if mask.all() else mask

    def _put(
        self,
        out: Decoded,
        begin: int,
        end: int,
        data: Observed,
        mask: NDArray[np.bool_] | None,
        rules: _Rules,
        legal: bool,
        threads: int,
    ) -> None:
        """Label a piece of the sentences, and write the answers to where they belong."""
        beliefs = believe(rules.ladder, data, threads, mask)
        best = beliefs.probabilities.argmax(axis=1)
        possible = beliefs.log_mass > -np.inf
        if legal or not possible.all():
            found = find_best_legal(beliefs, rules.chain, mask, threads)[: end - begin]
            for n, answer in enumerate(found):
                if answer.position is not None:
                    possible[n], out.position[begin + n] = False, answer.position
                elif legal:
                    best[data.offsets[n] : data.offsets[n + 1]] = answer.labels
        tokens = slice(int(out.first[begin]), int(out.first[end]))
        out.labels[tokens] = best
        chosen = beliefs.probabilities[np.arange(len(best)), best]
        scores = score(self._free.ladder, data, best, beliefs.level, threads)
        # What is estimated of a whole cannot be more than what is estimated of its parts.
        with np.errstate(divide="ignore"):
            least = np.log(fold_tokens(np.minimum, chosen, data, 1.0))
        scores = np.minimum(scores, beliefs.log_mass + least)
        empty = data.lengths == 0  # whose only labels are none; of all others nothing is proven
        here = slice(begin, end)
        out.found[here] = possible
        out.scores[here, 0] = np.where(possible, scores, -np.inf)
        out.bounds[here] = np.where(possible, np.where(empty, 0.0, np.inf), -np.inf)
        out.optimal[here] = possible & empty
        if len(out.log_partition):
            out.log_partition[here] = beliefs.log_mass
            out.confidence[tokens] = chosen


def _find_support(model: Parameters) -> NDArray[np.bool_]:
    """Return (L + 1, L + 1) what may follow what; the last row is the start, the last column the end."""
    size = model.labels
    table = np.zeros((size + 1, size + 1), bool)
    table[:-1, :-1] = model.transition.sum((1, 3)) > 0
    table[-1, :-1] = model.initial.sum(1) > 0
    table[:-1, -1] = model.stop.sum(1) > 0
    return table
