"""Learners that are wrong in one way each: hidden Markov models whose answers are changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from certus.learn.decoder import Cells, Decoded, Decoder, Request
from certus.learn.hmm.learner import HmmLearner
from certus.learn.learner import Learned
from certus.verification import Problem, make_problem

Ask = Callable[[Request], Decoded]  # what the honest decoder answers


def add_to_scores(ask: Ask, request: Request) -> Decoded:
    """The score is not that of the labels: it depends on how much is allowed."""
    found = ask(request)
    more = 0.5 if request.allowed is None else 0.0
    return replace(found, scores=found.scores + more, bounds=found.bounds + more)


def take_second(ask: Ask, request: Request) -> Decoded:
    """The second best is said to be the best."""
    if request.k > 1:
        return ask(request)
    two = ask(replace(request, k=2))
    out = Decoded.make_empty(two.first, request)
    for n in range(len(two.found)):
        rank = min(1, int(two.found[n]) - 1)
        _copy(two, out, n, rank, 0, request)
        out.bounds[n] = out.scores[n, 0]
    return replace(out, position=two.position, log_partition=two.log_partition)


def lower_bounds(ask: Ask, request: Request) -> Decoded:
    """The second best has a bound that the best exceeds."""
    found = take_second(ask, request)
    return replace(found, optimal=np.zeros(len(found.found), bool))


def claim_nothing_is_possible(ask: Ask, request: Request) -> Decoded:
    """What has two words or more and few labels is said to be infeasible."""
    found = ask(request)
    few = request.allowed is not None and len(found.found) == 1
    return replace(found, found=found.found * (not few))


def repeat_ranks(ask: Ask, request: Request) -> Decoded:
    """Lists hold the best again and again."""
    found = ask(request)
    for n in range(len(found.found) if request.k > 1 else 0):
        for rank in range(1, int(found.found[n])):
            _copy(found, found, n, 0, rank, request)
    return found


def miss_a_rank(ask: Ask, request: Request) -> Decoded:
    """Lists lack the second best."""
    if request.k == 1:
        return ask(request)
    more = ask(replace(request, k=request.k + 1))
    out = Decoded.make_empty(more.first, request)
    for n in range(len(more.found)):
        kept = [rank for rank in range(int(more.found[n])) if rank != 1][: request.k]
        for place, rank in enumerate(kept):
            _copy(more, out, n, rank, place, request)
    return replace(out, position=more.position, log_partition=more.log_partition)


def depend_on_batches(ask: Ask, request: Request) -> Decoded:
    """The scores of a batch are others than those of single sentences."""
    found = ask(request)
    more = 0.25 * (len(found.found) > 1)
    return replace(found, scores=found.scores + more, bounds=found.bounds + more)


def depend_on_threads(ask: Ask, request: Request) -> Decoded:
    """With threads the bound is another."""
    found = ask(request)
    return replace(
        found, bounds=found.bounds + (request.threads > 1), optimal=found.optimal & (request.threads < 2)
    )


def depend_on_calls(ask: Ask, request: Request) -> Decoded:
    """Every answer scores a little more than the one before."""
    found = ask(request)
    global calls
    calls += 1
    return replace(found, scores=found.scores + calls, bounds=found.bounds + calls)


calls = 0


def ignore_allowed(ask: Ask, request: Request) -> Decoded:
    """What is allowed does not matter."""
    return ask(replace(request, allowed=None))


def ignore_legal(ask: Ask, request: Request) -> Decoded:
    """What is legal does not matter."""
    return ask(replace(request, legal=None))


def halve_confidence(ask: Ask, request: Request) -> Decoded:
    """Confidences are probabilities, but of nothing."""
    found = ask(request)
    return replace(found, confidence=found.confidence * np.float32(0.5))


def forget_partition(ask: Ask, request: Request) -> Decoded:
    """The best is said to have all of the probability."""
    found = ask(request)
    return replace(found, log_partition=found.scores[:, 0]) if request.confidence else found


LIES: Mapping[str, tuple[Callable[[Ask, Request], Decoded], str]] = {
    "scores": (add_to_scores, "where they alone are allowed"),
    "second": (take_second, "are said to be the best with"),
    "bounds": (lower_bounds, "the bound is"),
    "infeasible": (claim_nothing_is_possible, "labels are possible, but there is no answer"),
    "repeats": (repeat_ranks, "repeats itself"),
    "misses": (miss_a_rank, "rank 2 of"),
    "batches": (depend_on_batches, "batches answer differently"),
    "threads": (depend_on_threads, "threads change answers"),
    "calls": (depend_on_calls, "the second time answers differ"),
    "allowed": (ignore_allowed, "alone are allowed, but the answer is"),
    "legal": (ignore_legal, "is not allowed"),
    "confidence": (halve_confidence, "the confidence of"),
    "partition": (forget_partition, "the probability of"),
}


def _copy(source: Decoded, out: Decoded, n: int, rank: int, place: int, request: Request) -> None:
    """Copy an answer of sentence n from one rank to a place in another list."""
    begin, end = int(source.first[n]), int(source.first[n + 1])
    if not source.found[n]:
        return
    k, wide, size = request.k, source.scores.shape[1], end - begin
    labels = source.labels[begin * wide + rank * size :][:size]
    out.labels[begin * k + place * size :][:size] = labels
    out.scores[n, place], out.found[n] = source.scores[n, rank], max(out.found[n], place + 1)
    out.bounds[n], out.optimal[n] = source.bounds[n], source.optimal[n]
    if request.confidence and source is not out:
        out.confidence[begin:end] = source.confidence[begin:end]


class LyingDecoder(Decoder):
    """Answers as another decoder, but for one lie."""

    def __init__(self, honest: Decoder, lie: Callable[[Ask, Request], Decoded] | None, states: bool) -> None:
        self._honest, self._lie, self._states = honest, lie, states
        self.certifies = states

    def decode(self, cells: Cells, request: Request) -> Decoded:
        """Label sentences given as columns of cells."""
        if self._lie is None:
            return self._honest.decode(cells, request)
        return self._lie(lambda changed: self._honest.decode(cells, changed), request)

    def state_problem(self, cells: list[list[str]], request: Request) -> Problem:
        """State another problem, in which everything scores one more."""
        stated = self._honest.state_problem(cells, request)
        data = dict(stated.data)
        return make_problem(stated.kind, {**data, "emissions": np.asarray(data["emissions"]) + 1})

    def certify(self, cells: list[list[str]], problem: Problem, labels: list[int] | None) -> Any:
        """Certify labels of that problem."""
        return self._honest.certify(cells, problem, labels)


@dataclass(frozen=True, kw_only=True)
class LyingLearner(HmmLearner):
    """A hidden Markov model that lies."""

    name: ClassVar[str] = "liar"
    lie: ClassVar[str] = ""
    forgetful: ClassVar[bool] = False  # whether it is another one once it is loaded

    def make_decoder(self, learned: Learned) -> Decoder:
        """Make the honest decoder, and let it lie."""
        honest = super().make_decoder(learned)
        return LyingDecoder(honest, LIES[self.lie][0] if self.lie in LIES else None, self.lie == "states")

    def restore(self, target: Any, arrays: Any, description: Any) -> Learned:
        """Read a model, and forget how sentences begin."""
        found = super().restore(target, arrays, description)
        if not self.forgetful:
            return found
        return replace(found, arrays={**found.arrays, "start": np.zeros_like(found.arrays["start"])})
