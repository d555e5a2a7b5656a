"""The chain problem: emissions and transitions in, the best label sequences out.

A label sequence y_0 ... y_{T-1} over L labels scores::

    start[y_0] + emissions[0, y_0]
        + sum over t >= 1 of transitions[y_{t-1}, y_t] + emissions[t, y_t]
        + end[y_{T-1}]

Higher is better; -inf forbids.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, cast, overload
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certus import _native, checks
from certus.chain.automaton import Automaton
from certus.chain.batch import Batch, Masks, OnGaps, Padding, decode_sentences, split_batch
from certus.chain.decoding import Answer, decode_sentence, needs_double, raise_failure
from certus.chain.kbest import KBestLabels
from certus.chain.limits import is_short_list
from certus.chain.marginals import Marginals
from certus.chain.method import CODES, Method
from certus.chain.methods import choose_method
from certus.chain.model import ChainModel, Kernels, Labels
from certus.chain.transitions import Transitions, TransitionsLike, restrict_transitions
from certus.checks import Floats, Lengths, Mask, Scores
from certus.errors import InvalidInput
from certus.solution import LabelSolution, OnInfeasible, Status

if TYPE_CHECKING:
    from certus.verification import Problem

# Methods called by name, the common case, need no request object: those for k = 1, and those for more.
_WITHOUT_OPTIONS = {name: CODES[name] for name in ("auto", "viterbi")}
_MANY_WITHOUT_OPTIONS = {name: CODES[name] for name in ("auto", "viterbi-astar")}
_INT64 = np.dtype(np.int64)


class Chain(ChainModel):
    """A first-order chain model: transition scores, prepared once and used for any number of sentences.

    Args:
        transitions: (L, L) scores [from, to]; or (T-1, L, L) for transitions of each position, which fixes
            the sentence length; or a SparseTransitions or SciPy sparse matrix.
        start: (L,) scores of the first label.
        end: (L,) scores of the last label.

    Other args:
        prior: (L,) how probable each label is, in any scale: the order in which ``staggered`` and its
            relatives activate labels. Estimated from the transitions if not given.
    """

    def __init__(
        self,
        transitions: TransitionsLike,
        start: Scores | None = None,
        end: Scores | None = None,
        *,
        prior: Scores | None = None,
    ) -> None:
        super().__init__(transitions, start, end, prior=prior)
        self._own_kernels: Kernels | None = None  # those of the chain's own precision, once prepared
        self._constrained: WeakKeyDictionary[Automaton, Chain] = WeakKeyDictionary()

    @overload
    def decode(
        self,
        emissions: Scores,
        *,
        k: Literal[1] = 1,
        method: str | Method = "auto",
        allowed: Mask | Automaton | None = None,
        infeasible: OnInfeasible = "raise",
        certificate: bool = False,
    ) -> LabelSolution[Labels]: ...
    @overload
    def decode(
        self,
        emissions: Scores,
        *,
        k: int,
        method: str | Method = "auto",
        allowed: Mask | Automaton | None = None,
        infeasible: OnInfeasible = "raise",
    ) -> KBestLabels: ...
    def decode(
        self,
        emissions: Scores,
        *,
        k: int = 1,
        method: str | Method = "auto",
        allowed: Mask | Automaton | None = None,
        infeasible: OnInfeasible = "raise",
        certificate: bool = False,
    ) -> Answer:
        """Find the best label sequence of a sentence, or the k best.

        Args:
            emissions: (T, L) scores; a NumPy array, a CPU torch tensor, or anything NumPy can take.
            k: how many sequences; 1 returns a Solution, more a KBest.

        Other args:
            method: one of ``certus.chain.METHODS``, by name or, to set its options, as an object such as
                ``certus.chain.Beam(width=16)``.
            allowed: the labels each position may have, (T, L) booleans; or an Automaton such as
                ``certus.bio(labels)``.
            infeasible: whether a sentence without any possible sequence raises Infeasible, or returns a
                Solution with that status (for k > 1, an empty KBest).
            certificate: whether the answer comes with the numbers that prove it, for ``certus.verify``; takes
                as long as checking them does. For k = 1.
        """
        if certificate:
            return self._decode_certified(emissions, k, method, allowed, infeasible)
        if allowed is None and type(emissions) is np.ndarray and emissions.dtype is self.dtype:
            found = self._decode_array(emissions, k, method)
            if found is not None:
                return found
        if allowed is None:
            scores = self.as_sentence(emissions)
            checks.check_count("k", k)
            return decode_sentence(self, scores, k, choose_method(method, k), infeasible)
        if isinstance(allowed, Automaton):
            return self.constrain(allowed).decode(emissions, k=k, method=method, infeasible=infeasible)
        scores = self.mask_sentence(emissions, allowed)
        return self.decode(scores, k=k, method=method, infeasible=infeasible)

    @overload
    def decode_batch(
        self,
        emissions: Batch,
        *,
        lengths: Lengths | None = None,
        mask: Mask | None = None,
        gaps: OnGaps = "refuse",
        batch_first: bool = True,
        k: Literal[1] = 1,
        method: str | Method = "auto",
        allowed: Masks | Automaton | None = None,
        threads: int = 1,
        infeasible: OnInfeasible = "raise",
    ) -> list[LabelSolution[Labels]]: ...
    @overload
    def decode_batch(
        self,
        emissions: Batch,
        *,
        lengths: Lengths | None = None,
        mask: Mask | None = None,
        gaps: OnGaps = "refuse",
        batch_first: bool = True,
        k: int,
        method: str | Method = "auto",
        allowed: Masks | Automaton | None = None,
        threads: int = 1,
        infeasible: OnInfeasible = "raise",
    ) -> list[KBestLabels]: ...
    def decode_batch(
        self,
        emissions: Batch,
        *,
        lengths: Lengths | None = None,
        mask: Mask | None = None,
        gaps: OnGaps = "refuse",
        batch_first: bool = True,
        k: int = 1,
        method: str | Method = "auto",
        allowed: Masks | Automaton | None = None,
        threads: int = 1,
        infeasible: OnInfeasible = "raise",
    ) -> list[LabelSolution[Labels]] | list[KBestLabels]:
        """Decode many sentences; the answers are in their order, and the same as one by one.

        Args:
            emissions: a list of (T, L) arrays, or one padded (B, T, L) array.
            lengths: (B,) the lengths of the sentences of a padded array.
            mask: (B, T) instead of lengths: True for the tokens, which come before the padding.
            batch_first: False for padded arrays of (T, B, L), with masks of (T, B).
            k: as in ``decode``.
            threads: how many threads to use.

        Other args:
            gaps: what becomes of positions before a token that the mask leaves out (padding on the left,
                holes): ``"refuse"``, or ``"drop"``; positions are then those of the tokens that are left.
            method: as in ``decode``.
            allowed: an Automaton, or the masks of ``decode``: a list of (T, L), or (B, T, L).
            infeasible: as in ``decode``.
        """
        checks.check_count("k", k)
        checks.check_count("threads", threads)
        chosen = choose_method(method, k)
        chain = self
        if isinstance(allowed, Automaton):
            chain, allowed = self.constrain(allowed), None
        sentences = split_batch(chain, emissions, Padding(lengths, mask, gaps, batch_first), allowed)
        answers = decode_sentences(chain, sentences, k, chosen, threads, infeasible)
        return cast("list[LabelSolution[Labels]] | list[KBestLabels]", answers)

    def iterate(self, emissions: Scores) -> Iterator[LabelSolution[Labels]]:
        """Yield label sequences in decreasing order of score, for as long as the caller asks.

        One forward pass, then about T·L steps per sequence: for when k is not known in advance. Each Solution
        is proven to be the best of those that were not yielded before.
        """
        return self._yield_paths(checks.freeze(self.as_sentence(emissions)))

    def _yield_paths(self, scores: Floats) -> Iterator[LabelSolution[Labels]]:
        if len(scores) == 0:
            yield LabelSolution(np.empty(0, np.int64), 0.0, 0.0, Status.OPTIMAL)
            return
        search_for = _native.Paths32 if scores.dtype == checks.SINGLE else _native.Paths64
        search = search_for(self.prepare(scores.dtype), scores)
        if needs_double(search.begun, scores):
            yield from self._yield_paths(scores.astype(checks.DOUBLE))
            return
        raise_failure(self, search.begun, scores)
        while True:
            labels = np.empty(len(scores), np.int64)
            score = search.next(labels)
            if score is None:
                return
            yield LabelSolution(labels, score, score, Status.OPTIMAL)

    def marginals(self, emissions: Scores) -> Marginals:
        """Compute each label's probability at each position, exactly, in float64."""
        scores = self.as_sentence(emissions)
        probabilities = np.empty(scores.shape, np.float64)
        if len(scores) == 0:
            return Marginals(probabilities, 0.0)
        summary = _native.marginals(self.prepare(scores.dtype), scores, probabilities)
        raise_failure(self, summary, scores)
        return Marginals(probabilities, summary.log_partition)

    def sample(
        self, emissions: Scores, n: int = 1, *, seed: int | np.random.Generator | None = None
    ) -> NDArray[np.int64]:
        """Draw n label sequences from the distribution p(y) proportional to exp(score(y)): (n, T)."""
        checks.check_count("n", n)
        scores = self.as_sentence(emissions)
        labels = np.empty((n, len(scores)), np.int64)
        if labels.size == 0:
            return labels
        uniforms = np.random.default_rng(seed).random(labels.shape)
        summary = _native.sample(self.prepare(scores.dtype), scores, uniforms, labels)
        raise_failure(self, summary, scores)
        return labels

    def score(self, emissions: Scores, labels: ArrayLike) -> float | NDArray[np.float64]:
        """Return the score of a label sequence, (T,), as a float; or of several, (n, T), as an array.

        A forbidden sequence scores -inf.
        """
        scores = self.as_sentence(emissions)
        kernels = self.prepare(scores.dtype)
        raise_failure(self, kernels.check(scores), scores)
        paths = checks.as_labels(labels, len(scores), self.labels)
        table = np.atleast_2d(paths)
        out = np.zeros(len(table))
        if table.size:
            _native.path_scores(kernels, scores, table, out)
        return out if paths.ndim == 2 else float(out[0])

    def constrain(self, automaton: Automaton) -> Chain:
        """Return this chain with everything forbidden that the automaton does not accept."""
        known = self._constrained.get(automaton)
        if known is not None:
            return known
        if len(automaton.labels) != self.labels:
            raise InvalidInput(
                f"allowed is over {len(automaton.labels)} labels, but the transitions are over {self.labels}"
            )
        transitions = restrict_transitions(self.transitions, automaton.legal)
        zeros = np.zeros(self.labels, self.dtype)
        start = np.where(automaton.start, zeros if self.start is None else self.start, -np.inf)
        end = np.where(automaton.end, zeros if self.end is None else self.end, -np.inf)
        chain = Chain(transitions, start.astype(self.dtype), end.astype(self.dtype), prior=self.prior)
        self._constrained[automaton] = chain
        return chain

    def state_problem(self, emissions: Scores, allowed: Mask | Automaton | None = None) -> Problem:
        """Return a sentence as plain data, the problem that certificates of its answers are about."""
        from certus.chain.certificate import state_problem

        if isinstance(allowed, Automaton):
            return self.constrain(allowed).state_problem(emissions)
        scores = self.as_sentence(emissions) if allowed is None else self.mask_sentence(emissions, allowed)
        return state_problem(self, scores)

    def _decode_certified(
        self,
        emissions: Scores,
        k: int,
        method: str | Method,
        allowed: Mask | Automaton | None,
        infeasible: OnInfeasible,
    ) -> LabelSolution[Labels]:
        from certus.chain.certificate import certify_labels

        if k != 1:
            raise InvalidInput(f"a certificate is of the best answer: k must be 1, not {k}")
        if isinstance(allowed, Automaton):
            return self.constrain(allowed)._decode_certified(emissions, k, method, None, infeasible)
        scores = self.as_sentence(emissions) if allowed is None else self.mask_sentence(emissions, allowed)
        found = self.decode(scores, method=method, infeasible=infeasible)
        found.certificate = certify_labels(self, scores, found)
        return found

    def _decode_array(self, emissions: Floats, k: int, method: str | Method) -> Answer | None:
        """Decode what needs neither conversion nor options, in as little time as Python allows.

        Returns None for everything else, and where the answer is an error: then the caller has a closer look.
        """
        codes = _WITHOUT_OPTIONS if k == 1 else _MANY_WITHOUT_OPTIONS
        code = codes.get(method) if type(method) is str else None
        if code is None or emissions.ndim != 2:
            return None
        kernels = self._own_kernels
        if kernels is None:
            kernels = self._own_kernels = self.prepare(self.dtype)
        try:
            if k == 1:
                return _decode_one(kernels, emissions, code)
            if type(k) is int and is_short_list(k, len(emissions)):
                return _decode_list(kernels, emissions, k, code)
        except TypeError:  # rows that are not a whole number of scores apart: kernels cannot read these
            pass
        return None

    def __reduce__(self) -> tuple[object, ...]:
        return _restore, (self.transitions, self.start, self.end, self.prior)

    def __repr__(self) -> str:
        kind = "" if isinstance(self.transitions, np.ndarray) else "sparse "
        return f"Chain({self.labels} labels, {kind}transitions {self.transitions.shape} {self.dtype})"


def _decode_one(kernels: Kernels, emissions: Floats, code: int) -> LabelSolution[Labels] | None:
    labels = np.empty(len(emissions), _INT64)
    result = kernels.decode(emissions, labels, code)
    if result is None:
        return None
    score = result.score
    return LabelSolution(labels, score, score, Status.OPTIMAL, result)


def _decode_list(kernels: Kernels, emissions: Floats, k: int, code: int) -> KBestLabels | None:
    paths, scores = np.empty((k, len(emissions)), _INT64), np.empty(k)
    result = kernels.decode_list(emissions, paths, scores, code)
    if result is None:
        return None
    found = result.found
    if found < k:
        return KBestLabels.of_arrays(paths[:found], scores[:found], result, exhausted=True)
    return KBestLabels.of_arrays(paths, scores, result)


def _restore(
    transitions: Transitions, start: Floats | None, end: Floats | None, prior: Floats | None
) -> Chain:
    return Chain(transitions, start, end, prior=prior)


@overload
def decode(
    emissions: Scores,
    transitions: TransitionsLike,
    *,
    k: Literal[1] = 1,
    start: Scores | None = None,
    end: Scores | None = None,
    method: str | Method = "auto",
    allowed: Mask | Automaton | None = None,
    infeasible: OnInfeasible = "raise",
    certificate: bool = False,
) -> LabelSolution[Labels]: ...
@overload
def decode(
    emissions: Scores,
    transitions: TransitionsLike,
    *,
    k: int,
    start: Scores | None = None,
    end: Scores | None = None,
    method: str | Method = "auto",
    allowed: Mask | Automaton | None = None,
    infeasible: OnInfeasible = "raise",
) -> KBestLabels: ...
def decode(
    emissions: Scores,
    transitions: TransitionsLike,
    *,
    k: int = 1,
    start: Scores | None = None,
    end: Scores | None = None,
    method: str | Method = "auto",
    allowed: Mask | Automaton | None = None,
    infeasible: OnInfeasible = "raise",
    certificate: bool = False,
) -> Answer:
    """Decode one sentence: ``Chain(transitions, start, end).decode(emissions, k=k, ...)`` in one call.

    Takes ``start`` and ``end``, and every option of ``Chain.decode``. For more than one sentence make the
    Chain once: it prepares the transitions.
    """
    chain = Chain(transitions, start, end)
    if certificate:
        return chain._decode_certified(emissions, k, method, allowed, infeasible)
    return chain.decode(emissions, k=k, method=method, allowed=allowed, infeasible=infeasible)
