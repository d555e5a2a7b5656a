"""Decoding with a hidden Markov model: words to emissions, then the chain engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from certus import _native
from certus.chain import Chain
from certus.learn.decoder import Allowed, Cells, Decoded, Decoder, Request, find_starts, split_batch
from certus.learn.hmm.model import Hmm

if TYPE_CHECKING:  # certificates are imported when they are asked for: tagging starts sooner
    from certus.verification import Certificate, Problem


class HmmDecoder(Decoder):
    """A hidden Markov model that labels sentences."""

    certifies = True

    def __init__(self, hmm: Hmm) -> None:
        self._hmm = hmm

    def decode(self, cells: Cells, request: Request) -> Decoded:
        """Label sentences given as columns of cells."""
        k, allowed, chain = request.k, request.allowed, self._hmm.chain
        if request.legal is not None:
            chain = chain.constrain(request.legal)
        first = find_starts(cells)
        out = Decoded.make_empty(first, request)
        for begin, end in split_batch(first, len(self._hmm.start), np.dtype(np.float32).itemsize):
            limits: Allowed = [None] * (end - begin) if allowed is None else allowed[begin:end]
            emissions = list(map(self._score_sentence, cells[begin:end], limits))
            found: list[Any] = chain.decode_batch(
                emissions, k=k, threads=request.threads, infeasible="return"
            )
            for n, scores, answer in zip(range(begin, end), emissions, found, strict=True):
                several = list(answer) if k > 1 else [answer] if answer.position is None else []
                _put(out, n, k, several)
                if not several:
                    out.position[n] = answer.position if k == 1 else 0
                if request.confidence and several:
                    _put_confidence(out, n, k, chain, scores)
        return out

    def search(
        self, cells: Cells, *, pruning: float, threads: int, margins: NDArray[np.float64] | None = None
    ) -> _native.Lattices:
        """Return all sequences, for decoding again and again; nothing is pruned."""
        none = np.zeros((0, len(self._hmm.start)), np.float32)
        emissions = np.concatenate([none, *(self._hmm.emissions(columns[0]) for columns in cells)])
        model: Any = self._hmm.chain.prepare(np.dtype(np.float64))
        return _native.ChainLattices(model, find_starts(cells), emissions)

    def state_problem(self, cells: list[list[str]], request: Request) -> Problem:
        """Return a sentence under constraints as plain data, which certificates of its labels are about."""
        emissions = self._score_sentence(cells, (request.allowed or [None])[0])
        return self._hmm.chain.state_problem(emissions, request.legal)

    def certify(self, cells: list[list[str]], problem: Problem, labels: list[int] | None) -> Certificate:
        """Return the certificate of labels of a sentence; None where none are possible."""
        from certus.chain.certificate import certify_answer

        return certify_answer(problem, labels)

    def _score_sentence(
        self, cells: list[list[str]], allowed: list[NDArray[np.int32] | None] | None
    ) -> NDArray[np.float32]:
        """Return the scores of a sentence, with -inf for what is not allowed."""
        scores = self._hmm.emissions(cells[0])
        for t, labels in enumerate(allowed or []):
            if labels is not None:
                kept = scores[t, labels].copy()
                scores[t] = -np.inf
                scores[t, labels] = kept
        return scores


def _put(out: Decoded, n: int, k: int, several: Sequence[Any]) -> None:
    """Write the answers for sentence n, best first, to where they belong."""
    if not several:
        return
    out.found[n], out.bounds[n], out.optimal[n] = len(several), several[0].bound, several[0].optimal
    for rank, one in enumerate(several):
        begin = int(out.first[n]) * k + rank * len(one.labels)
        out.labels[begin : begin + len(one.labels)] = one.labels
        out.scores[n, rank] = one.score


def _put_confidence(out: Decoded, n: int, k: int, chain: Chain, emissions: NDArray[np.float32]) -> None:
    """Write how probable the labels of the best answer are."""
    marginals = chain.marginals(emissions)
    out.log_partition[n] = marginals.log_partition
    best = out.labels[int(out.first[n]) * k :][: len(emissions)]
    chosen = marginals.probabilities[np.arange(len(emissions)), best]
    out.confidence[out.first[n] : out.first[n + 1]] = chosen
