"""The latent chain: states that belong to labels; scores of states in, the most probable labels out.

A label sequence y has the probability of all its latent paths together::

    P(y | x) = sum over paths h with owner(h_t) = y_t of exp(score(h)) / Z

where ``score`` is that of ``certus.Chain`` over states (Sun & Tsujii 2009, equations 2 and 3). A sentence may
come with scores of its own for pairs of states in a row, which are added to the transitions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certus import _native
from certus import checks as inputs
from certus.chain import Automaton, Chain, Marginals
from certus.chain.transitions import restrict_transitions
from certus.errors import Infeasible, InvalidInput
from certus.latent.answers import INFEASIBLE, INVALID, Answers
from certus.latent.inference import choose
from certus.latent.mbr import MBR
from certus.latent.method import Inference
from certus.latent.solution import LabelSequences, LatentSolution
from certus.solution import OnInfeasible, Status

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Pairs = NDArray[np.floating[Any]]


class LatentChain:
    """A chain over H latent states, each of which belongs to one of L labels.

    Args:
        transitions: (H, H) scores [from, to] of states; -inf forbids.
        latent: how many states each label has, H = L · latent, those of a label side by side; or (H,) the
            label of each state.
        start: (H,) scores of the first state.
        end: (H,) scores of the last state.

    Other args:
        names: (L,) what labels are called; MBR reranking by spans asks for it.

    Attributes:
        labels: how many labels there are.
        owner: (H,) the label of each state.
        names: as given.
    """

    def __init__(
        self,
        transitions: Any,
        latent: int | ArrayLike,
        start: ArrayLike | None = None,
        end: ArrayLike | None = None,
        *,
        names: Sequence[str] | None = None,
    ) -> None:
        self.hidden = Chain(np.asarray(inputs.as_array("transitions", transitions), np.float64), start, end)
        if len(self.hidden.transitions.shape) != 2:
            raise InvalidInput(f"transitions must have shape (H, H), not {self.hidden.transitions.shape}")
        self.owner = _owner(latent, self.hidden.labels)
        self.labels = int(self.owner.max()) + 1
        self.names = None if names is None else tuple(names)
        if self.names is not None and len(self.names) != self.labels:
            raise InvalidInput(f"there are {self.labels} labels, but {len(self.names)} names")
        # The kernels want the states of a label side by side.
        self._order: Ints = np.argsort(self.owner, kind="stable")
        self._sorted = bool((np.diff(self.owner) >= 0).all())
        matrix = np.ascontiguousarray(np.asarray(self.hidden.transitions)[np.ix_(self._order, self._order)])
        begin = np.searchsorted(self.owner[self._order], np.arange(self.labels + 1)).astype(np.int64)
        ends = (
            None if x is None else x[self._order].astype(np.float64)
            for x in (self.hidden.start, self.hidden.end)
        )
        self._native = _native.LatentModel(matrix, begin, *ends)
        self._constrained: WeakKeyDictionary[Automaton, LatentChain] = WeakKeyDictionary()

    # ------------------------------------------------------------------------------------------ answers

    def decode(
        self,
        emissions: Any,
        *,
        pairs: Any = None,
        k: int = 1,
        inference: str | Inference = "ldi",
        allowed: Any = None,
        infeasible: OnInfeasible = "raise",
    ) -> Any:
        """Find the most probable labels of a sentence: a LatentSolution, or with k > 1 a list of at most k.

        Args:
            emissions: (T, H) scores of states.
            pairs: (T-1, H, H) scores [from, to] of the sentence's own steps, added to the transitions; or
                (T-1, L, L) of labels, which all their states share.
            k: how many label sequences; of ``ldi`` alone.

        Other args:
            inference: one of ``certus.latent.INFERENCES``, by name or, to set its options, as an object such
                as ``certus.latent.LDI(steps=30)``.
            allowed: the labels each position may have, (T, L) booleans; or an Automaton over labels such as
                ``certus.bio(names)``.
            infeasible: whether a sentence without any possible labels raises Infeasible, or returns a
                solution with that status (with k > 1, an empty list).
        """
        return self.decode_batch(
            [emissions],
            pairs=None if pairs is None else [pairs],
            k=k,
            inference=inference,
            allowed=allowed if allowed is None or isinstance(allowed, Automaton) else [allowed],
            infeasible=infeasible,
            _one=True,
        )[0]

    def decode_batch(
        self,
        emissions: Sequence[Any],
        *,
        pairs: Sequence[Any] | None = None,
        k: int = 1,
        inference: str | Inference = "ldi",
        allowed: Any = None,
        threads: int = 1,
        infeasible: OnInfeasible = "raise",
        _one: bool = False,
    ) -> list[Any]:
        """Decode many sentences; the results are in their order, and the same as one by one.

        Args:
            emissions: a list of (T, H) arrays.
            pairs: a list of (T-1, H, H) or of (T-1, L, L) arrays, or None.
            k: as in ``decode``.
            threads: how many threads to use.

        Other args:
            inference: as in ``decode``.
            allowed: an Automaton, or a list of what ``decode`` takes.
            infeasible: as in ``decode``.
        """
        inputs.check_count("k", k)
        inputs.check_count("threads", threads)
        chosen = choose(inference, k)
        if isinstance(allowed, Automaton):
            limited = self.constrained(allowed)
            return limited.decode_batch(
                emissions,
                pairs=pairs,
                k=k,
                inference=chosen,
                threads=threads,
                infeasible=infeasible,
                _one=_one,
            )
        scores, first = self._joined(emissions, allowed)
        steps = None if pairs is None else self._steps(pairs, first)
        answers = self.infer(scores, first, chosen, pairs=steps, k=k, threads=threads)
        begins = answers.begins()
        out: list[Any] = []
        for n in range(len(first) - 1):
            several = self._settled(answers, n, k, begins, chosen, infeasible, None if _one else n)
            out.append(several if k > 1 else several[0])
        return out

    def infer(
        self,
        scores: Floats,
        first: Ints,
        inference: Inference,
        *,
        pairs: Pairs | None = None,
        k: int = 1,
        threads: int = 1,
    ) -> Answers:
        """Decode sentences given as one array, (tokens, H); the answers stay arrays, for speed.

        Args:
            scores: of states, in float64; sentences one after the other.
            first: (sentences + 1,) where each begins.
            inference: as an object.
            pairs: (tokens, H, H) or (tokens, L, L) in float32 or float64, row t those of the step into token
                t; the first of a sentence counts for nothing.
            k: as in ``decode``.
            threads: how many threads to use.
        """
        asked = inference.request(k, self.names)
        answers = Answers.of(
            first,
            self._native.infer(
                self._arranged(scores), first, self._arranged_pairs(pairs), threads=threads, **asked
            ),
        )
        wrong = np.flatnonzero(answers.facts[:, 0] == INVALID)
        if len(wrong):
            n = int(wrong[0])
            t, state = answers.facts[n, 1:3].tolist()
            sentence = scores[first[n] : first[n + 1]]
            name = "emissions" if len(first) == 2 else f"emissions[{n}]"
            inputs.refuse(name, (t, int(self._order[state])), sentence)
        return answers

    def sequences(self, emissions: Any, steps: int, *, pairs: Any = None) -> LabelSequences:
        """Return the labels of the best ``steps`` latent paths, with their exact probabilities."""
        scores, first = self._joined([emissions], None)
        own = None if pairs is None else self._steps([pairs], first)
        answers = self.infer(scores, first, MBR(gain=_nothing, steps=steps), pairs=own)
        self._check(answers.facts[0].tolist(), None)
        rows, logs = answers.several(0, answers.begins())
        return LabelSequences(rows, np.exp(logs), float(answers.numbers[0, 1]), int(answers.facts[0, 3]))

    def marginals(self, emissions: Any, *, pairs: Any = None) -> Marginals:
        """Compute each label's probability at each position, (T, L), summed over its states."""
        scores, first = self._joined([emissions], None)
        own = None if pairs is None else self._steps([pairs], first)
        probabilities, log_partition, facts = self.marginals_batch(scores, first, pairs=own)
        self._check(facts[0].tolist(), None)
        return Marginals(probabilities, float(log_partition[0]))

    def marginals_batch(
        self, scores: Floats, first: Ints, *, pairs: Pairs | None = None, threads: int = 1
    ) -> tuple[Floats, Floats, Ints]:
        """Compute them for sentences given as in ``infer``: (tokens, L), log Z, and facts as in Answers."""
        out = np.zeros((len(scores), self.labels))
        own = self._arranged_pairs(pairs)
        numbers, facts = self._native.marginals(self._arranged(scores), first, own, out, threads)
        return out, numbers.reshape(-1, 4)[:, 2], facts.reshape(-1, 6)

    def log_probability(self, emissions: Any, labels: ArrayLike, *, pairs: Any = None) -> float:
        """Return log P(labels | emissions), exactly; -inf for forbidden labels."""
        scores, first = self._joined([emissions], None)
        own = None if pairs is None else self._steps([pairs], first)
        inputs.check_finite("emissions", scores)
        ids = inputs.as_labels(labels, len(scores), self.labels)
        if ids.ndim != 1:
            raise InvalidInput(f"labels must have shape (T,) with T = {len(scores)}, not {ids.shape}")
        return self._native.log_probability(
            self._arranged(scores), self._arranged_pairs(own), ids.astype(np.int32)
        )

    # ------------------------------------------------------------------------------------------ limits

    def constrained(self, automaton: Automaton) -> LatentChain:
        """Return this chain with everything forbidden that the automaton, over labels, does not accept."""
        known = self._constrained.get(automaton)
        if known is not None:
            return known
        if len(automaton.labels) != self.labels:
            raise InvalidInput(
                f"allowed is over {len(automaton.labels)} labels, but the states are of {self.labels}"
            )
        own = self.owner
        legal = automaton.legal[np.ix_(own, own)]
        zeros = np.zeros(len(own))
        hidden = self.hidden
        start = np.where(automaton.start[own], zeros if hidden.start is None else hidden.start, -np.inf)
        end = np.where(automaton.end[own], zeros if hidden.end is None else hidden.end, -np.inf)
        transitions = restrict_transitions(hidden.transitions, legal)
        made = LatentChain(transitions, own, start, end, names=self.names)
        self._constrained[automaton] = made
        return made

    def _joined(self, emissions: Sequence[Any], allowed: Sequence[Any] | None) -> tuple[Floats, Ints]:
        """Put the sentences of a list one after the other, with -inf for what is not allowed."""
        states, names = self.hidden.labels, [f"emissions[{n}]" for n in range(len(emissions))]
        if len(emissions) == 1:
            names = ["emissions"]
        each = [
            inputs.as_emissions(x, states, inputs.DOUBLE, name)
            for x, name in zip(emissions, names, strict=True)
        ]
        if allowed is not None:
            if len(allowed) != len(each):
                raise InvalidInput(f"allowed is for {len(allowed)} sentences, but there are {len(each)}")
            masks = [
                inputs.as_mask("allowed", m, (len(x), self.labels))
                for m, x in zip(allowed, each, strict=True)
            ]
            each = [np.where(m[:, self.owner], x, -np.inf) for m, x in zip(masks, each, strict=True)]
        first = np.concatenate([[0], np.cumsum([len(x) for x in each])]).astype(np.int64)
        return np.concatenate([np.empty((0, states)), *each]), first

    def _steps(self, pairs: Sequence[Any], first: Ints) -> Pairs:
        """Put the scores of pairs of a list of sentences one after the other, as ``infer`` takes them."""
        lengths = np.diff(first).tolist()
        if len(pairs) != len(lengths):
            raise InvalidInput(f"pairs is for {len(pairs)} sentences, but there are {len(lengths)}")
        shapes = {np.shape(given)[1:] for given in pairs}
        of = self.labels if shapes == {(self.labels, self.labels)} else len(self.owner)
        out = np.zeros((int(first[-1]), of, of))
        for n, (given, begin, length) in enumerate(zip(pairs, first.tolist(), lengths, strict=False)):
            name = "pairs" if len(pairs) == 1 else f"pairs[{n}]"
            own = inputs.as_array(name, given)
            wanted = (max(length - 1, 0), of, of)
            if own.shape != wanted:
                raise InvalidInput(
                    f"{name} must have shape (T-1, H, H), here {wanted}: one matrix of states, or in all "
                    f"sentences of labels, for each step; it has {own.shape}"
                )
            inputs.check_finite(name, own)
            out[begin + 1 : begin + length] = own
        return out

    def _arranged_pairs(self, pairs: Pairs | None) -> Pairs | None:
        if pairs is None:
            return None
        as_is = self._sorted or pairs.shape[1] != len(self._order)
        return np.ascontiguousarray(pairs if as_is else pairs[:, self._order[:, None], self._order])

    def _arranged(self, scores: Floats) -> Floats:
        return np.ascontiguousarray(scores if self._sorted else scores[:, self._order])

    def _settled(
        self,
        answers: Answers,
        n: int,
        k: int,
        begins: tuple[Ints, Ints],
        inference: Inference,
        infeasible: OnInfeasible,
        sentence: int | None,
    ) -> list[LatentSolution]:
        status, position = answers.facts[n, :2].tolist()
        if status != INFEASIBLE:
            return answers.solutions(n, k, begins, inference)
        if infeasible != "return":
            raise Infeasible.at_position(position, sentence)
        nothing = LatentSolution(
            np.empty(0, np.int64),
            -np.inf,
            -np.inf,
            Status.INFEASIBLE,
            remaining=0.0,
            work=(0, 0, 0),
            position=position,
        )
        return [nothing] if k == 1 else []

    def _check(self, facts: Sequence[int], sentence: int | None) -> None:
        if facts[0] == INFEASIBLE:
            raise Infeasible.at_position(facts[1], sentence)
        if facts[0] == INVALID:
            raise InvalidInput(
                f"emissions[{facts[1]}, {int(self._order[facts[2]])}] is NaN or +inf; scores must be finite, "
                "or -inf for what is forbidden"
            )

    def __reduce__(self) -> Any:
        hidden = self.hidden
        return _restore, (hidden.transitions, self.owner, hidden.start, hidden.end, self.names)

    def __repr__(self) -> str:
        return f"LatentChain({self.labels} labels, {len(self.owner)} latent states)"


def _owner(latent: int | ArrayLike, states: int) -> Ints:
    """Return the label of each state."""
    given = np.asarray(latent)
    if given.dtype.kind not in "iu":
        raise InvalidInput(f"latent must be a whole number, or the label of each state, not {latent!r}")
    if given.ndim == 0:
        if given < 1 or states % int(given):
            raise InvalidInput(
                f"{states} states cannot be shared out by {given} to a label; latent must divide their number"
            )
        return np.arange(states) // int(given)
    if given.shape != (states,):
        raise InvalidInput(f"latent must have shape ({states},), the label of each state, not {given.shape}")
    if given.min() < 0:
        raise InvalidInput(f"latent[{int(given.argmin())}] is {given.min()}; labels are numbered from 0")
    empty = np.flatnonzero(np.bincount(given) == 0)
    if len(empty):
        raise InvalidInput(f"label {empty[0]} has no latent state; every label from 0 on needs one")
    return given.astype(np.int64)


def _nothing(_: Ints, __: Ints) -> float:
    return 0.0


def _restore(transitions: Any, owner: Any, start: Any, end: Any, names: Any) -> LatentChain:
    return LatentChain(transitions, owner, start, end, names=names)
