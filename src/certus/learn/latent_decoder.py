"""Decoding with a latent-dynamic CRF: features to scores of states, then inference over latent chains."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certus import _native
from certus.chain import Chain
from certus.errors import InvalidInput
from certus.latent import LDI, Inference, LatentChain
from certus.latent.certificate import certify_labels
from certus.latent.inference import INFERENCES, choose_inference, make_inference
from certus.latent.solution import make_solutions
from certus.learn.decoder import Allowed, Cells, Decoded, Decoder, Request, find_starts, split_batch
from certus.learn.feature_decoder import make_chain
from certus.learn.features.inventory import Inventory
from certus.ragged import Ragged
from certus.solution import Status, conclude
from certus.verification import Certificate, Problem

STEPS = 1000
STEPS_HELP = (
    "The most latent paths that ldi looks at, 0 for no limit; mbr reranks the labels of 30, or of so many."
)


class StateDecoder(Decoder):
    """Labels sentences by a latent chain over states: a latent CRF, or a refinement HMM.

    Attributes:
        chain: the chain over latent states, without features of pairs.
        inference: how labels are found; may be set.
    """

    chain: LatentChain
    inference: Inference
    certifies = True

    @property
    @abstractmethod
    def width(self) -> int:
        """How many scores a token has."""

    @abstractmethod
    def score_states(self, cells: Cells, threads: int = 1) -> NDArray[np.float64]:
        """Return the scores of all states at all tokens of all sentences, (tokens, states)."""

    def score_pairs(self, cells: Cells, threads: int = 1) -> NDArray[np.float32] | None:
        """Return what is added to the transitions into each token, if anything."""
        return None

    def decode(self, cells: Cells, request: Request) -> Decoded:
        """Label sentences given as columns of cells, in pieces that fit into memory."""
        k, threads, allowed = request.k, request.threads, request.allowed
        inference = choose_inference(self.inference, k)
        chain = self.chain if request.legal is None else self.chain.constrain(request.legal)
        first = find_starts(cells)
        out = Decoded.make_empty(first, request)
        for begin, end in split_batch(first, self.width, np.dtype(np.float64).itemsize):
            scores = self.score_states(cells[begin:end], threads)
            pairs = self.score_pairs(cells[begin:end], threads)
            if allowed is not None:
                _forbid(chain.owner, scores, first[begin:end] - first[begin], allowed[begin:end])
            own = Ragged(scores, first[begin : end + 1] - first[begin])
            answers = chain.infer(own, inference, pairs=pairs, k=k, threads=threads, seconds=request.seconds)
            _put(out, begin, k, answers, inference)
            if request.confidence:
                probabilities = chain.marginals_batch(own, pairs=pairs, threads=threads)
                _put_confidence(out, begin, end, k, probabilities)
        return out

    def state_problem(self, cells: list[list[str]], request: Request) -> Problem:
        """Return a sentence under constraints as plain data, which certificates of its labels are about."""
        scores, pairs = self.score_states([cells]), self.score_pairs([cells])
        if request.allowed is not None:
            _forbid(self.chain.owner, scores, np.zeros(1, np.int64), request.allowed)
        own = None if pairs is None or not len(pairs) else pairs[1:].astype(np.float64)
        return self.chain.state_problem(scores, own, request.legal)

    def certify(self, cells: list[list[str]], problem: Problem, labels: list[int] | None) -> Certificate:
        """Return the certificate that no labels are more probable; None where none are possible."""
        return certify_labels(problem, labels)

    def get_settings(self) -> dict[str, Any]:
        """Return what a user may have set: the inference."""
        return {"inference": self.inference}

    @property
    def latent(self) -> StateDecoder:
        """The decoder itself."""
        return self


class LatentDecoder(StateDecoder):
    """A latent-dynamic CRF, or one with features of pairs of labels.

    The score of labels is the log of the sum of exp(score) over their latent paths, their log-probability
    plus log Z: like the scores of other learners, it does not change when other labels are ruled out.

    Args:
        extractor: finds features.
        pair_extractor: finds those of two labels in a row, or None.
        inventory: the labels.
        arrays: of the model.
        latent: the latent states of each label.
        paired: how many labels or states features of pairs are of; labels by default.
        tagset: what labels are made of, where they share parts; by default each state has its own weights.

    Attributes:
        chain: the chain over latent states.
        inference: how labels are found; may be set.
    """

    def __init__(
        self,
        extractor: _native.Extractor,
        pair_extractor: _native.Extractor | None,
        inventory: Inventory,
        arrays: Mapping[str, NDArray[Any]],
        *,
        latent: int = 1,
        paired: int | None = None,
        tagset: _native.Tagset | None = None,
        inference: Inference | None = None,
    ) -> None:
        self._paired = len(inventory) if paired is None else paired
        self._states = len(inventory) * latent
        self._scorer = _Scorer(extractor, arrays, "", tagset or _list_units(self._states))
        self._pair_scorer = (
            None
            if pair_extractor is None
            else _Scorer(pair_extractor, arrays, "pair_", _list_units(self._paired**2))
        )
        chain = make_chain(self._states, arrays)
        transitions = np.asarray(chain.transitions)
        self.chain = LatentChain(transitions, latent, chain.start, chain.end, names=inventory.labels)
        self.inference: Inference = inference or LDI()

    @property
    def width(self) -> int:
        """How many scores a token has."""
        return self._states * (1 if self._pair_scorer is None else self._states)

    def score_states(self, cells: Cells, threads: int = 1) -> NDArray[np.float64]:
        """Return the scores of all states at all tokens of all sentences, (tokens, states)."""
        return self._scorer(cells, threads).astype(np.float64)

    def score_pairs(self, cells: Cells, threads: int = 1) -> NDArray[np.float32] | None:
        """Return what is added to the transitions into each token, if anything: (tokens, n, n).

        n is the number of labels, or that of states where each two have weights of their own.
        """
        if self._pair_scorer is None:
            return None
        return self._pair_scorer(cells, threads).reshape(-1, self._paired, self._paired)

    def make_state_chain(self, cells: list[list[str]]) -> Chain:
        """Return the chain over states of a sentence, whose steps may all differ."""
        shared, pairs = self.chain.hidden, self.score_pairs([cells])
        if pairs is None or len(pairs) < 2:
            return shared
        own = self.chain.owner if self._paired != self._states else np.arange(self._states)
        steps = np.asarray(shared.transitions) + pairs[1:, own[:, None], own]
        return Chain(steps, shared.start, shared.end)

    def search(
        self, cells: Cells, *, pruning: float, threads: int, margins: NDArray[np.float64] | None = None
    ) -> _native.Lattices:
        """Refuse: lattices of labels have neither sums over latent paths nor steps that all differ."""
        raise InvalidInput("there are no lattices of labels with latent states or features of pairs")


def check_inference(name: str) -> None:
    """Refuse an inference that there is not."""
    if name not in INFERENCES:
        raise InvalidInput(f"inference is {name!r}; there are {', '.join(INFERENCES)}")


def restore_inference(name: str, steps: int, labels: Sequence[str]) -> Inference:
    """Return the inference that a model was trained for; mbr reranks as few paths as it does by itself."""
    return make_inference(name, 0 if name == "mbr" and steps == STEPS else steps, labels)


def _forbid(
    owner: NDArray[np.int64], scores: NDArray[np.float64], first: NDArray[np.int64], allowed: Allowed
) -> None:
    """Forbid the states of labels that a token may not have."""
    for begin, limits in zip(first.tolist(), allowed, strict=True):
        for t, labels in enumerate(limits or []):
            if labels is not None:
                scores[begin + t, ~np.isin(owner, labels)] = -np.inf


def _list_units(width: int) -> _native.Tagset:
    """Return states, or pairs of them, as kernels know them: labels that share nothing."""
    return _native.Tagset(np.arange(width, dtype=np.int32)[:, None], width, width)


class _Scorer:
    """From cells to scores of states or pairs of states."""

    def __init__(
        self,
        extractor: _native.Extractor,
        arrays: Mapping[str, NDArray[Any]],
        prefix: str,
        tagset: _native.Tagset,
    ) -> None:
        self._tagset = tagset
        slots, rows, step = (arrays[prefix + name] for name in ("slots", "rows", "step"))
        self._tagger = _native.Tagger(extractor, tagset, slots, rows, float(step))

    def __call__(self, cells: Cells, threads: int) -> NDArray[np.float32]:
        out = np.empty((int(find_starts(cells)[-1]), self._tagset.labels), np.float32)
        self._tagger.emissions(cells, out, threads)
        return out


def _put(
    out: Decoded, begin: int, k: int, answers: Sequence[_native.LatentAnswer], inference: Inference
) -> None:
    """Write the answers of a piece that begins with sentence ``begin`` to where they belong."""
    for n, answer in enumerate(answers, begin):
        if answer.status is _native.Status.INFEASIBLE:
            out.position[n] = answer.position
            continue
        total = answer.log_partition
        if out.stopped is not None:
            out.stopped[n] = answer.stopped
        if len(out.log_partition):
            out.log_partition[n] = total
        if k == 1 and len(answer.log_probabilities) == 1:
            _put_single(out, n, answer)
            continue
        several = make_solutions(answer, k, inference)
        at = int(out.first[n]) * k
        for rank, one in enumerate(several):
            out.labels[at : at + len(one.labels)] = one.labels
            out.scores[n, rank] = one.score + total
            at += len(one.labels)
        out.found[n] = len(several)
        out.bounds[n] = several[0].bound + total
        out.optimal[n] = all(one.optimal for one in several)


def _put_single(out: Decoded, n: int, answer: _native.LatentAnswer) -> None:
    """Write the common case, one label sequence, without making a solution of it."""
    score = float(answer.log_probabilities[0])
    status, bound = conclude(score, min(answer.unseen, 0.0), allowance=answer.allowance)
    out.labels[int(out.first[n]) : int(out.first[n + 1])] = answer.labels[0]
    out.scores[n, 0] = score + answer.log_partition
    out.bounds[n] = bound + answer.log_partition
    out.found[n], out.optimal[n] = 1, status is Status.OPTIMAL


def _put_confidence(out: Decoded, begin: int, end: int, k: int, probabilities: NDArray[np.float64]) -> None:
    """Write how probable the labels of the best answers are."""
    for n in range(begin, end):
        if not out.found[n]:
            continue
        first, last = int(out.first[n]), int(out.first[n + 1])
        best = out.labels[first * k : first * k + last - first]
        rows = probabilities[first - int(out.first[begin]) : last - int(out.first[begin])]
        out.confidence[first:last] = rows[np.arange(last - first), best]
