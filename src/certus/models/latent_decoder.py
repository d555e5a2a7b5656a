"""Decoding with a latent-dynamic CRF: features to scores of states, then inference over latent chains."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certus import _native
from certus.chain import Automaton
from certus.chain.method import INFEASIBLE, OPTIMAL
from certus.errors import InvalidInput
from certus.latent import INFERENCES, LDI, Inference, LatentChain
from certus.latent.answers import Answers
from certus.latent.inference import choose
from certus.learn import options
from certus.learn.inventory import Inventory
from certus.models.decoders import Allowed, Cells, Decoded, chain_of, pieces, starts


class LatentDecoder:
    """A latent-dynamic CRF behind the protocol of decoders.

    The score of labels is the log of the sum of exp(score) over their latent paths, their log-probability
    plus log Z: like the scores of other learners, it does not change when other labels are ruled out.

    Args:
        extractor: finds features.
        inventory: the labels.
        arrays: of the model.
        chosen: the options it was trained with.

    Attributes:
        inference: how labels are found; may be set.
    """

    def __init__(
        self,
        extractor: _native.Extractor,
        inventory: Inventory,
        arrays: Mapping[str, NDArray[Any]],
        chosen: options.LatentCrf,
    ) -> None:
        self._states = len(inventory) * chosen.latent
        # Kernels score states as if they were labels that share nothing.
        states = np.arange(self._states, dtype=np.int32)[:, None]
        self._tagset = _native.Tagset(states, self._states, self._states)
        step = float(arrays["step"])
        self._tagger = _native.Tagger(extractor, self._tagset, arrays["slots"], arrays["rows"], step)
        transitions = chain_of(self._states, arrays).transitions
        self.chain = LatentChain(transitions, chosen.latent, names=inventory.labels)
        self.inference: Inference = inference_of(chosen)

    def decode(
        self,
        cells: Cells,
        *,
        k: int,
        confidence: bool,
        threads: int,
        allowed: Allowed | None,
        legal: Automaton | None,
    ) -> Decoded:
        """Label sentences given as columns of cells."""
        inference = choose(self.inference, k)
        chain = self.chain if legal is None else self.chain.constrained(legal)
        first = starts(cells)
        out = Decoded.nothing(first, k, confidence)
        for begin, end in pieces(first, self._states, np.dtype(np.float64).itemsize):
            scores = self.scores(cells[begin:end], threads)
            if allowed is not None:
                self._forbid(scores, first[begin:end] - first[begin], allowed[begin:end])
            own = first[begin : end + 1] - first[begin]
            answers = chain.infer(scores, own, inference, k=k, threads=threads)
            _put(out, begin, k, answers, inference)
            if confidence:
                probabilities, _, _ = chain.marginals_batch(scores, own, threads=threads)
                _put_confidence(out, begin, end, k, probabilities)
        return out

    def scores(self, cells: Cells, threads: int = 1) -> NDArray[np.float64]:
        """Return the scores of all states at all tokens of all sentences, (tokens, states)."""
        out = np.empty((int(starts(cells)[-1]), self._states), np.float32)
        self._tagger.emissions_of_all(cells, out, threads)
        return out.astype(np.float64)

    def lattices(self, cells: Cells, *, pruning: float, threads: int) -> _native.Lattices:
        """Refuse: a label sequence's score is a sum over latent paths, which no lattice of labels has."""
        raise InvalidInput("a latent-crf has no lattices of labels: each sequence is a sum over latent paths")

    def _forbid(self, scores: NDArray[np.float64], first: NDArray[np.int64], allowed: Allowed) -> None:
        """Forbid the states of labels that a token may not have."""
        for begin, limits in zip(first.tolist(), allowed, strict=True):
            for t, labels in enumerate(limits or []):
                if labels is not None:
                    scores[begin + t, ~np.isin(self.chain.owner, labels)] = -np.inf


def inference_of(chosen: options.LatentCrf) -> Inference:
    """Return the inference that the options name."""
    if chosen.inference == LDI.name:
        return LDI(steps=chosen.steps or None)
    return INFERENCES[chosen.inference]()


def _put(out: Decoded, begin: int, k: int, answers: Answers, inference: Inference) -> None:
    """Write the answers of a piece that begins with sentence ``begin`` to where they belong."""
    if k == 1 and (answers.counts == 1).all():
        _put_single(out, begin, answers)
        return
    begins = answers.begins()
    for n, (status, position) in enumerate(answers.facts[:, :2].tolist()):
        if status == INFEASIBLE:
            out.position[begin + n] = position
            continue
        total = float(answers.numbers[n, 2])
        if len(out.log_partition):
            out.log_partition[begin + n] = total
        several = answers.solutions(n, k, begins, inference)
        at = int(out.first[begin + n]) * k
        for rank, one in enumerate(several):
            out.labels[at : at + len(one.labels)] = one.labels
            out.scores[begin + n, rank] = one.score + total
            at += len(one.labels)
        out.found[begin + n] = len(several)
        out.bounds[begin + n] = several[0].bound + total
        out.optimal[begin + n] = all(one.optimal for one in several)


def _put_single(out: Decoded, begin: int, answers: Answers) -> None:
    """Write the common case, one label sequence for each sentence, all at once."""
    here = slice(begin, begin + len(answers.counts))
    tokens = slice(int(out.first[here.start]), int(out.first[here.stop]))
    unseen, total = answers.numbers[:, 0], answers.numbers[:, 2]
    optimal = answers.facts[:, 0] == OPTIMAL
    out.labels[tokens] = answers.labels
    out.scores[here, 0] = answers.scores + total
    out.bounds[here] = np.where(optimal, answers.scores, np.maximum(answers.scores, unseen)) + total
    out.found[here], out.optimal[here] = 1, optimal
    if len(out.log_partition):
        out.log_partition[here] = total


def _put_confidence(out: Decoded, begin: int, end: int, k: int, probabilities: NDArray[np.float64]) -> None:
    """Write how probable the labels of the best answers are."""
    for n in range(begin, end):
        if not out.found[n]:
            continue
        first, last = int(out.first[n]), int(out.first[n + 1])
        best = out.labels[first * k : first * k + last - first]
        rows = probabilities[first - int(out.first[begin]) : last - int(out.first[begin])]
        out.confidence[first:last] = rows[np.arange(last - first), best]
