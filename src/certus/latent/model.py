"""The latent chain: states that belong to labels; scores of states in, the most probable labels out.

A label sequence y has the probability of all its latent paths together::

    P(y | x) = sum over paths h with owner(h_t) = y_t of exp(score(h)) / Z

where ``score`` is that of ``certus.Chain`` over states (Sun & Tsujii 2009, equations 2 and 3). A sentence may
come with scores of its own for pairs of states in a row, which are added to the transitions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, Literal, TypeAlias, overload
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certus import _native
from certus import checks as inputs
from certus.chain import Automaton, Chain, Marginals
from certus.checks import Mask, Scores, read_seconds
from certus.errors import Infeasible, InvalidInput
from certus.latent.batch import Floats, Ints, find_owners, gather_pairs, gather_scores
from certus.latent.certificate import certify_labels
from certus.latent.inference import choose_inference
from certus.latent.mbr import MBR
from certus.latent.method import Inference
from certus.latent.solution import LabelSequences, LatentSolution, make_solutions, read_sequences
from certus.ragged import Ragged
from certus.solution import LabelKBest, OnInfeasible, Status
from certus.verification import Problem, make_problem

Pairs: TypeAlias = NDArray[np.floating]
Answer: TypeAlias = LatentSolution | LabelKBest[LatentSolution]


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

    papers: ClassVar[tuple[str, ...]] = ("sun2009",)

    def __init__(
        self,
        transitions: Scores,
        latent: int | ArrayLike,
        start: Scores | None = None,
        end: Scores | None = None,
        *,
        names: Sequence[str] | None = None,
    ) -> None:
        self.hidden = Chain(np.asarray(inputs.as_array("transitions", transitions), np.float64), start, end)
        if len(self.hidden.transitions.shape) != 2:
            raise InvalidInput(f"transitions must have shape (H, H), not {self.hidden.transitions.shape}")
        self.owner = find_owners(latent, self.hidden.labels)
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

    @overload
    def decode(
        self,
        emissions: Scores,
        *,
        pairs: Scores | None = None,
        k: Literal[1] = 1,
        inference: str | Inference = "ldi",
        allowed: Mask | Automaton | None = None,
        infeasible: OnInfeasible = "raise",
        certificate: bool = False,
    ) -> LatentSolution: ...
    @overload
    def decode(
        self,
        emissions: Scores,
        *,
        pairs: Scores | None = None,
        k: int,
        inference: str | Inference = "ldi",
        allowed: Mask | Automaton | None = None,
        infeasible: OnInfeasible = "raise",
    ) -> LabelKBest[LatentSolution]: ...
    def decode(
        self,
        emissions: Scores,
        *,
        pairs: Scores | None = None,
        k: int = 1,
        inference: str | Inference = "ldi",
        allowed: Mask | Automaton | None = None,
        infeasible: OnInfeasible = "raise",
        certificate: bool = False,
    ) -> Answer:
        """Find the most probable labels of a sentence: a LatentSolution, or with k > 1 a KBest of them.

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
                solution with that status (with k > 1, an empty KBest).
            certificate: whether the answer comes with what proves it, for ``certus.verify``; for k = 1.
                Where the search stopped early, it says how much more probable other labels could be.
        """
        if certificate and k != 1:
            raise InvalidInput(f"a certificate is of the best answer: k must be 1, not {k}")
        limits = allowed if allowed is None or isinstance(allowed, Automaton) else [allowed]
        steps = None if pairs is None else [pairs]
        found = self._decode([emissions], steps, k, inference, limits, 1, infeasible, lambda _: None)[0]
        if certificate and isinstance(found, LatentSolution):
            labels = None if found.status is Status.INFEASIBLE else found.value.tolist()
            found.certificate = certify_labels(self.state_problem(emissions, pairs, allowed), labels)
        return found

    def state_problem(
        self, emissions: Scores, pairs: Scores | None = None, allowed: Mask | Automaton | None = None
    ) -> Problem:
        """Return a sentence as plain data, the problem that certificates of its answers are about."""
        if isinstance(allowed, Automaton):
            return self.constrain(allowed).state_problem(emissions, pairs)
        own = None if pairs is None else [pairs]
        scores, steps = self._gather([emissions], own, None if allowed is None else [allowed])
        hidden = self.hidden
        data = {
            "transitions": hidden.transitions,
            "start": hidden.start,
            "end": hidden.end,
            "owner": self.owner,
        }
        given = {"emissions": scores.data, "pairs": None if steps is None else steps[1:], **data}
        return make_problem("latent", {name: array for name, array in given.items() if array is not None})

    @overload
    def decode_batch(
        self,
        emissions: Sequence[Scores],
        *,
        pairs: Sequence[Scores] | None = None,
        k: Literal[1] = 1,
        inference: str | Inference = "ldi",
        allowed: Sequence[Mask] | Automaton | None = None,
        threads: int = 1,
        infeasible: OnInfeasible = "raise",
    ) -> list[LatentSolution]: ...
    @overload
    def decode_batch(
        self,
        emissions: Sequence[Scores],
        *,
        pairs: Sequence[Scores] | None = None,
        k: int,
        inference: str | Inference = "ldi",
        allowed: Sequence[Mask] | Automaton | None = None,
        threads: int = 1,
        infeasible: OnInfeasible = "raise",
    ) -> list[LabelKBest[LatentSolution]]: ...
    def decode_batch(
        self,
        emissions: Sequence[Scores],
        *,
        pairs: Sequence[Scores] | None = None,
        k: int = 1,
        inference: str | Inference = "ldi",
        allowed: Sequence[Mask] | Automaton | None = None,
        threads: int = 1,
        infeasible: OnInfeasible = "raise",
    ) -> Sequence[Answer]:
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
        return self._decode(emissions, pairs, k, inference, allowed, threads, infeasible, lambda n: n)

    def infer(
        self,
        scores: Ragged[np.float64],
        inference: Inference,
        *,
        pairs: Pairs | None = None,
        k: int = 1,
        threads: int = 1,
        seconds: float | None = None,
    ) -> list[_native.LatentAnswer]:
        """Decode sentences that lie end to end; what comes back are the records of the kernels, for speed.

        Args:
            scores: (tokens, H) of states, in float64.
            inference: as an object.
            pairs: (tokens, H, H) or (tokens, L, L) in float32 or float64, row t those of the step into token
                t; the first of a sentence counts for nothing.
            k: as in ``decode``.
            threads: how many threads to use.
            seconds: the most time for looking at the latent paths of a sentence; None for no limit.
        """
        request = inference.request(k, self.names)
        request.seconds = read_seconds(seconds)
        answers = self._native.infer(
            self._arrange(scores.data), scores.offsets, self._arrange_pairs(pairs), request, threads
        )
        self._check(answers, scores, pairs)
        return answers

    def sequences(self, emissions: Scores, steps: int, *, pairs: Scores | None = None) -> LabelSequences:
        """Return the labels of the best ``steps`` latent paths, with their exact probabilities."""
        scores, own = self._gather([emissions], None if pairs is None else [pairs], None)
        answer = self.infer(scores, MBR(gain=_gain_nothing, steps=steps), pairs=own)[0]
        if answer.status is _native.Status.INFEASIBLE:
            raise Infeasible.at_position(answer.position)
        return read_sequences(answer)

    def marginals(self, emissions: Scores, *, pairs: Scores | None = None) -> Marginals:
        """Compute each label's probability at each position, (T, L), summed over its states."""
        scores, own = self._gather([emissions], None if pairs is None else [pairs], None)
        probabilities, (answer,) = self._sum(scores, own, 1)
        if answer.status is _native.Status.INFEASIBLE:
            raise Infeasible.at_position(answer.position)
        return Marginals(probabilities, answer.log_partition)

    def marginals_batch(
        self, scores: Ragged[np.float64], *, pairs: Pairs | None = None, threads: int = 1
    ) -> Floats:
        """Compute them for sentences as in ``infer``: (tokens, L); zeros where no labels are possible."""
        return self._sum(scores, pairs, threads)[0]

    def log_probability(self, emissions: Scores, labels: ArrayLike, *, pairs: Scores | None = None) -> float:
        """Return log P(labels | emissions), exactly; -inf for forbidden labels."""
        scores, own = self._gather([emissions], None if pairs is None else [pairs], None)
        ids = inputs.as_labels(labels, len(scores.data), self.labels)
        if ids.ndim != 1:
            raise InvalidInput(f"labels must have shape (T,) with T = {len(scores.data)}, not {ids.shape}")
        answer = self._native.log_probability(
            self._arrange(scores.data), self._arrange_pairs(own), ids.astype(np.int32)
        )
        self._check([answer], scores, own)
        return float(answer.log_probabilities[0])

    # ------------------------------------------------------------------------------------------ limits

    def constrain(self, automaton: Automaton) -> LatentChain:
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
        transitions = np.where(legal, np.asarray(hidden.transitions), -np.inf)
        made = LatentChain(transitions, own, start, end, names=self.names)
        self._constrained[automaton] = made
        return made

    # ------------------------------------------------------------------------------------------ inside

    def _decode(
        self,
        emissions: Sequence[Scores],
        pairs: Sequence[Scores] | None,
        k: int,
        inference: str | Inference,
        allowed: Sequence[Mask] | Automaton | None,
        threads: int,
        infeasible: OnInfeasible,
        number: Callable[[int], int | None],  # what an error calls a sentence
    ) -> list[Answer]:
        inputs.check_count("k", k)
        inputs.check_count("threads", threads)
        inputs.check_infeasible(infeasible)
        chosen = choose_inference(inference, k)
        chain = self
        if isinstance(allowed, Automaton):
            chain, allowed = self.constrain(allowed), None
        scores, own = chain._gather(emissions, pairs, allowed)
        answers = chain.infer(scores, chosen, pairs=own, k=k, threads=threads)
        return [_settle(answer, k, chosen, infeasible, number(n)) for n, answer in enumerate(answers)]

    def _gather(
        self, emissions: Sequence[Scores], pairs: Sequence[Scores] | None, allowed: Sequence[Mask] | None
    ) -> tuple[Ragged[np.float64], Floats | None]:
        scores = gather_scores(emissions, self.owner, self.labels, allowed)
        if pairs is None:
            return scores, None
        return scores, gather_pairs(pairs, scores.offsets, len(self.owner), self.labels)

    def _sum(
        self, scores: Ragged[np.float64], pairs: Pairs | None, threads: int
    ) -> tuple[Floats, list[_native.LatentAnswer]]:
        out = np.zeros((len(scores.data), self.labels))
        own = self._arrange_pairs(pairs)
        answers = self._native.marginals(self._arrange(scores.data), scores.offsets, own, out, threads)
        self._check(answers, scores, pairs)
        return out, answers

    def _arrange(self, scores: Floats) -> Floats:
        """Put the states of a label side by side."""
        return np.ascontiguousarray(scores if self._sorted else scores[:, self._order])

    def _arrange_pairs(self, pairs: Pairs | None) -> Pairs | None:
        if pairs is None:
            return None
        as_is = self._sorted or pairs.shape[1] != len(self._order)
        return np.ascontiguousarray(pairs if as_is else pairs[:, self._order[:, None], self._order])

    def _check(
        self, answers: Sequence[_native.LatentAnswer], scores: Ragged[np.float64], pairs: Pairs | None
    ) -> None:
        """Refuse NaN, +inf and what may add up beyond float64."""
        for n, answer in enumerate(answers):
            if answer.status is not _native.Status.INVALID:
                continue
            own, where = scores[n], (answer.position, int(self._order[answer.state]))
            ending = "" if len(answers) == 1 else f"[{n}]"
            if not np.isfinite(own[where]):
                inputs.refuse(f"emissions{ending}", where, own)
            hidden = self.hidden
            steps = None if pairs is None else pairs[scores.offsets[n] + 1 : scores.offsets[n + 1]]
            inputs.refuse_sums(
                len(own),
                {
                    f"emissions{ending}": own,
                    f"pairs{ending}": steps,
                    "transitions": np.asarray(hidden.transitions),
                    "start": hidden.start,
                    "end": hidden.end,
                },
            )

    def __reduce__(self) -> tuple[Callable[..., LatentChain], tuple[object, ...]]:
        hidden = self.hidden
        return _restore, (hidden.transitions, self.owner, hidden.start, hidden.end, self.names)

    def __repr__(self) -> str:
        return f"LatentChain({self.labels} labels, {len(self.owner)} latent states)"


def _settle(
    answer: _native.LatentAnswer,
    k: int,
    inference: Inference,
    infeasible: OnInfeasible,
    sentence: int | None,
) -> Answer:
    """Return what a sentence came to, or raise Infeasible."""
    if answer.status is not _native.Status.INFEASIBLE:
        several = make_solutions(answer, k, inference)
        proven = answer.status is _native.Status.OPTIMAL  # else a limit ended the search
        exhausted = proven and len(several) < k
        return several[0] if k == 1 else LabelKBest(several, exhausted=exhausted)
    if infeasible != "return":
        raise Infeasible.at_position(answer.position, sentence)
    return LatentSolution.infeasible(answer.position) if k == 1 else LabelKBest([], exhausted=True)


def _gain_nothing(_: Ints, __: Ints) -> float:
    return 0.0


def _restore(
    transitions: Scores, owner: Ints, start: Scores | None, end: Scores | None, names: Sequence[str] | None
) -> LatentChain:
    return LatentChain(transitions, owner, start, end, names=names)
