"""The chain problem: emissions and transitions in, the best label sequences out.

A label sequence y_0 ... y_{T-1} over L labels scores::

    start[y_0] + emissions[0, y_0]
        + sum over t >= 1 of transitions[y_{t-1}, y_t] + emissions[t, y_t]
        + end[y_{T-1}]

Higher is better; -inf forbids.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, TypeAlias, overload
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certus import _native
from certus import checks as inputs
from certus.chain import batch as _batch
from certus.chain.automaton import Automaton
from certus.chain.marginals import Marginals
from certus.chain.method import INFEASIBLE, INVALID, OPTIMAL, Method
from certus.chain.methods import at_most, choose
from certus.chain.sparse import SparseTransitions, as_sparse
from certus.errors import Infeasible, InvalidInput
from certus.solution import KBest, OnInfeasible, Solution, Status

Model: TypeAlias = "_native.Model32 | _native.Model64"

_STATUS = (Status.OPTIMAL, Status.FEASIBLE, Status.INFEASIBLE)
# Methods called by name with k = 1, the common case, need no request object.
_PLAIN = {"auto": 0, "viterbi": 1}
_INT64 = np.dtype(np.int64)


class Chain:
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
        transitions: Any,
        start: ArrayLike | None = None,
        end: ArrayLike | None = None,
        *,
        prior: ArrayLike | None = None,
    ) -> None:
        self.transitions = _as_transitions(transitions)
        self.labels: int = self.transitions.shape[-1]
        if self.labels == 0:
            raise InvalidInput("transitions have no labels: the label set is empty")
        precision = self.transitions.dtype
        self.start = inputs.as_vector("start", start, self.labels, precision)
        self.end = inputs.as_vector("end", end, self.labels, precision)
        self.prior = inputs.as_vector("prior", prior, self.labels)
        others = [x.dtype for x in (self.start, self.end) if x is not None]
        # NumPy's own object for the type, which unpickled arrays need not have: it is compared by identity.
        self._dtype = inputs.DOUBLE if inputs.DOUBLE in (precision, *others) else inputs.SINGLE
        self._models: dict[np.dtype[Any], Model] = {}
        self._model: Any = None  # the one of the chain's own precision, once prepared
        self._constrained: WeakKeyDictionary[Automaton, Chain] = WeakKeyDictionary()

    @overload
    def decode(
        self,
        emissions: Any,
        *,
        k: Literal[1] = 1,
        method: str | Method = "auto",
        allowed: Any = None,
        infeasible: OnInfeasible = "raise",
    ) -> Solution: ...
    @overload
    def decode(
        self,
        emissions: Any,
        *,
        k: int,
        method: str | Method = "auto",
        allowed: Any = None,
        infeasible: OnInfeasible = "raise",
    ) -> KBest: ...
    def decode(
        self,
        emissions: Any,
        *,
        k: int = 1,
        method: str | Method = "auto",
        allowed: Any = None,
        infeasible: OnInfeasible = "raise",
    ) -> Solution | KBest:
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
        """
        if k == 1 and allowed is None and type(emissions) is np.ndarray and emissions.dtype is self._dtype:
            found = self._decode_plain(emissions, method)
            if found is not None:
                return found
        if allowed is not None:
            return self._restrict(allowed, k, method, infeasible, emissions)
        scores, model = self._ready(emissions)
        return self._decode_with(model, scores, k, method, infeasible)

    def decode_batch(
        self,
        emissions: Any,
        *,
        lengths: ArrayLike | None = None,
        mask: Any = None,
        k: int = 1,
        method: str | Method = "auto",
        allowed: Any = None,
        threads: int = 1,
        infeasible: OnInfeasible = "raise",
    ) -> list[Any]:
        """Decode many sentences; the results are in their order, and the same as one by one.

        Args:
            emissions: a list of (T, L) arrays, or one padded (B, T, L) array.
            lengths: (B,) the lengths of the sentences of a padded array.
            mask: (B, T) instead of lengths: True for the tokens, which come before the padding.
            k: as in ``decode``.
            threads: how many threads to use.

        Other args:
            method: as in ``decode``.
            allowed: an Automaton, or the masks of ``decode``: a list of (T, L), or (B, T, L).
            infeasible: as in ``decode``.
        """
        return _batch.decode_batch(
            self,
            emissions,
            lengths=lengths,
            mask=mask,
            k=k,
            method=method,
            allowed=allowed,
            threads=threads,
            infeasible=infeasible,
        )

    def paths(self, emissions: Any) -> Iterator[Solution]:
        """Yield label sequences in decreasing order of score, for as long as the caller asks.

        One forward pass, then about T·L steps a sequence: for when k is not known in advance. Each Solution
        is proven to be the best of those that were not yielded before.
        """
        scores, model = self._ready(emissions)
        if len(scores) == 0:
            yield Solution(np.empty(0, np.int64), 0.0, 0.0, Status.OPTIMAL)
            return
        kind: Any = _native.Paths32 if scores.dtype == inputs.SINGLE else _native.Paths64
        search = kind(model, scores)
        self._check(search.status, search.position, search.label, scores)
        while True:
            labels = np.empty(len(scores), np.int64)
            found, score = search.next(labels)
            if not found:
                return
            yield Solution(labels, score, score, Status.OPTIMAL)

    def marginals(self, emissions: Any) -> Marginals:
        """Compute each label's probability at each position, exactly, in float64."""
        scores, model = self._ready(emissions)
        probabilities = np.empty(scores.shape, np.float64)
        if len(scores) == 0:
            return Marginals(probabilities, 0.0)
        status, position, label, log_partition = _native.marginals(model, scores, probabilities)
        self._check(status, position, label, scores)
        return Marginals(probabilities, log_partition)

    def sample(
        self, emissions: Any, n: int = 1, *, seed: int | np.random.Generator | None = None
    ) -> NDArray[np.int64]:
        """Draw n label sequences from the distribution p(y) proportional to exp(score(y)): (n, T)."""
        inputs.check_count("n", n)
        scores, model = self._ready(emissions)
        labels = np.empty((n, len(scores)), np.int64)
        if labels.size == 0:
            return labels
        uniforms = np.random.default_rng(seed).random(labels.shape)
        status, position, label = _native.sample(model, scores, uniforms, labels)
        self._check(status, position, label, scores)
        return labels

    def score(self, emissions: Any, labels: ArrayLike) -> Any:
        """Return the score of a label sequence, (T,), as a float; or of several, (n, T), as an array.

        A forbidden sequence scores -inf.
        """
        scores, model = self._ready(emissions)
        inputs.check_finite("emissions", scores)
        paths = inputs.as_labels(labels, len(scores), self.labels)
        table = np.atleast_2d(paths)
        out = np.zeros(len(table))
        if table.size:
            _native.path_scores(model, scores, table, out)
        return out if paths.ndim == 2 else float(out[0])

    def constrained(self, automaton: Automaton) -> Chain:
        """Return this chain with everything forbidden that the automaton does not accept."""
        known = self._constrained.get(automaton)
        if known is not None:
            return known
        if len(automaton.labels) != self.labels:
            raise InvalidInput(
                f"allowed is over {len(automaton.labels)} labels, but the transitions are over {self.labels}"
            )
        if isinstance(self.transitions, SparseTransitions):
            transitions: Any = self.transitions.restricted(automaton.legal)
        else:
            transitions = np.where(automaton.legal, self.transitions, self.transitions.dtype.type(-np.inf))
        zeros = np.zeros(self.labels, self._dtype)
        start = np.where(automaton.start, zeros if self.start is None else self.start, -np.inf)
        end = np.where(automaton.end, zeros if self.end is None else self.end, -np.inf)
        chain = Chain(transitions, start.astype(self._dtype), end.astype(self._dtype), prior=self.prior)
        self._constrained[automaton] = chain
        return chain

    def prepared(self, dtype: np.dtype[Any]) -> Model:
        """Return the transitions as the kernels hold them; they live as long as this chain."""
        return self._models.get(dtype) or self._prepare(dtype)

    def _decode_plain(self, emissions: NDArray[Any], method: str | Method) -> Solution | None:
        """Decode what needs neither conversion nor options, in as little time as Python allows.

        Returns None for everything else, and where the answer is an error: then the caller has a closer look.
        """
        code = _PLAIN.get(method) if type(method) is str else None
        if code is None or emissions.ndim != 2:
            return None
        model = self._model or self._prepare(self._dtype)
        labels = np.empty(len(emissions), _INT64)
        result = model.decode(emissions, labels, code)
        if result is None or result[0] != OPTIMAL:
            return None
        return Solution(labels, result[2], result[3], Status.OPTIMAL, result)

    def _restrict(
        self, allowed: Any, k: int, method: str | Method, infeasible: OnInfeasible, emissions: Any
    ) -> Solution | KBest:
        if isinstance(allowed, Automaton):
            return self.constrained(allowed).decode(emissions, k=k, method=method, infeasible=infeasible)
        return self.decode(self._masked(emissions, allowed), k=k, method=method, infeasible=infeasible)

    def _masked(
        self, emissions: Any, allowed: Any, name: str = "emissions", mask_name: str = "allowed"
    ) -> NDArray[Any]:
        scores = inputs.as_emissions(emissions, self.labels, self._dtype, name)
        inputs.check_finite(name, scores)
        mask = inputs.as_mask(mask_name, allowed, scores.shape)
        return np.ascontiguousarray(np.where(mask, scores, scores.dtype.type(-np.inf)))

    def _ready(self, emissions: Any) -> tuple[NDArray[Any], Model]:
        scores = inputs.as_emissions(emissions, self.labels, self._dtype)
        self._check_length(len(scores))
        return scores, self._model_for(scores)

    def _model_for(self, scores: NDArray[Any]) -> Model:
        return self.prepared(scores.dtype)

    def _check_length(self, length: int) -> None:
        shape = self.transitions.shape
        if len(shape) == 3 and length > 0 and shape[0] != length - 1:
            raise InvalidInput(
                f"emissions have {length} positions, so transitions of each position need shape "
                f"({length - 1}, {self.labels}, {self.labels}), not {shape}"
            )

    def _prepare(self, dtype: np.dtype[Any]) -> Model:
        def cast(x: NDArray[Any] | None) -> NDArray[Any] | None:
            return None if x is None else np.ascontiguousarray(x, dtype)

        kind: Any = _native.Model32 if dtype == inputs.SINGLE else _native.Model64
        tr = self.transitions
        if isinstance(tr, SparseTransitions):
            listed = np.ascontiguousarray(tr.scores, dtype)
            model = kind(
                tr.labels, tr.default, tr.origin, tr.target, listed, cast(self.start), cast(self.end)
            )
        else:
            # Sentences of one position have no transitions: (0, L, L).
            matrices = np.ascontiguousarray(tr if len(tr) else np.zeros(tr.shape[1:]), dtype)
            shared = matrices.ndim == 2
            model = kind(matrices[None] if shared else matrices, shared, cast(self.start), cast(self.end))
        if self.prior is not None:
            model.rank(np.argsort(-self.prior, kind="stable"))
        self._models[dtype] = model
        if dtype == self._dtype:
            self._model = model
        ready: Model = model
        return ready

    def _decode_with(
        self, model: Model, scores: NDArray[Any], k: int, method: str | Method, infeasible: OnInfeasible
    ) -> Solution | KBest:
        inputs.check_count("k", k)
        chosen = choose(method, k)
        length = len(scores)
        if length == 0:
            empty = np.empty((1, 0), np.int64)
            return (
                Solution(empty[0], 0.0, 0.0, Status.OPTIMAL)
                if k == 1
                else KBest.of_arrays(empty, np.zeros(1))
            )
        self._check_length(length)
        most = at_most(k, self.labels, length)
        labels = np.empty(most * length, np.int64)
        totals = np.empty(most, np.float64)
        result = model.decode_with(scores, labels, totals, chosen.code, chosen.request(most))
        if (
            result[0] == INFEASIBLE and scores.dtype == inputs.SINGLE
        ):  # or a sum went out of single precision's range
            double = scores.astype(inputs.DOUBLE)
            return self._decode_with(self._model_for(double), double, k, chosen, infeasible)
        return self._settle(result, labels.reshape(most, length), totals, scores, k, infeasible)

    def _settle(
        self,
        result: Sequence[Any],
        labels: NDArray[np.int64],
        totals: NDArray[np.float64],
        scores: NDArray[Any],
        k: int,
        infeasible: OnInfeasible,
        sentence: int | None = None,
    ) -> Solution | KBest:
        status, found = result[0], result[1]
        if status >= INFEASIBLE:
            failed = self._failed(result, scores, infeasible, sentence)
            return failed if k == 1 else KBest.of_arrays(labels[:0], totals[:0], result, exhausted=True)
        if k == 1:
            return Solution(labels[0], float(totals[0]), result[3], _STATUS[status], result)
        return KBest.of_arrays(labels[:found], totals[:found], result, exhausted=found < k)

    def _check(self, status: int, position: int, label: int, scores: NDArray[Any]) -> None:
        """Raise what a native status stands for, unless all is well."""
        if status >= INFEASIBLE:
            self._failed((status, label, 0.0, 0.0, position), scores, "raise")

    def _failed(
        self,
        result: Sequence[Any],
        scores: NDArray[Any],
        infeasible: OnInfeasible,
        sentence: int | None = None,
    ) -> Solution:
        status, label, position = result[0], result[1], result[4]
        if status == INVALID:
            name = "emissions" if sentence is None else f"emissions[{sentence}]"
            inputs.refuse(name, (position, label), scores)
        if infeasible != "return":
            raise Infeasible.at_position(position, sentence)
        nothing = np.empty(0, np.int64)
        return Solution(nothing, -np.inf, -np.inf, Status.INFEASIBLE, result[5:], position)

    def __reduce__(self) -> Any:
        return _restore, (self.transitions, self.start, self.end, self.prior)

    def __repr__(self) -> str:
        kind = "sparse " if isinstance(self.transitions, SparseTransitions) else ""
        return f"Chain({self.labels} labels, {kind}transitions {self.transitions.shape} {self._dtype})"


def decode(emissions: Any, transitions: Any, k: int = 1, **options: Any) -> Any:
    """Decode one sentence: ``Chain(transitions, start, end).decode(emissions, k=k, ...)`` in one call.

    Takes ``start`` and ``end``, and every option of ``Chain.decode``. For more than one sentence make the
    Chain once: it prepares the transitions.
    """
    chain = Chain(transitions, options.pop("start", None), options.pop("end", None))
    return chain.decode(emissions, k=k, **options)


def _as_transitions(transitions: Any) -> Any:
    if isinstance(transitions, SparseTransitions):
        inputs.check_finite("the scores of transitions", transitions.scores)
        inputs.check_finite("the default of transitions", np.array([transitions.default]))
        return transitions
    if hasattr(transitions, "tocoo"):
        return _as_transitions(SparseTransitions.from_scipy(transitions))
    sparse = as_sparse(transitions)
    if sparse is not None:
        return _as_transitions(sparse)
    array = inputs.as_array("transitions", transitions)
    if array.ndim not in (2, 3) or array.shape[-1] != array.shape[-2]:
        raise InvalidInput(f"transitions must have shape (L, L) or (T-1, L, L), not {array.shape}")
    inputs.check_finite("transitions", array)
    return array


def _restore(transitions: Any, start: Any, end: Any, prior: Any) -> Chain:
    return Chain(transitions, start, end, prior=prior)
