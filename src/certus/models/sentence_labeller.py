"""What labels sentences once something was learned: answers, their proofs, lattices to decode again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast, overload

import numpy as np
from numpy.typing import NDArray

from certus import _native
from certus.annotation.columns import Words, select_columns
from certus.annotation.tagging import Tagging
from certus.annotation.targets import Target
from certus.chain import Automaton, Chain
from certus.checks import as_array, check_count, check_infeasible, read_seconds
from certus.errors import InvalidInput, NotFitted
from certus.learn.decoder import Allowed, Cells, Decoded, Decoder, Request, check_room
from certus.learn.features.inventory import Inventory
from certus.learn.learner import Learner
from certus.models.answers import (
    Choices,
    Dictionary,
    find_best,
    find_several,
    refuse_infeasible,
    restrict_labels,
)
from certus.solution import LabelKBest, OnInfeasible, Status

if TYPE_CHECKING:
    from certus.lattice.lattices import TagLattices
    from certus.learn.latent_decoder import LatentDecoder
    from certus.learn.refinement import Refinement
    from certus.verification import Certificate, Problem


class SentenceLabeller:
    """Labels sentences by what a learner has learned.

    Attributes:
        target: what is predicted.
        learner: with its options.
        description: what the model file says about the model: training data, dev accuracy, ...
    """

    def __init__(self, target: Target, learner: Learner) -> None:
        self.target = target
        self.learner = learner
        self.description: dict[str, Any] = {}
        self._inventory = Inventory([])
        self._arrays: Mapping[str, NDArray[Any]] = {}
        self._learned: Decoder | None = None

    @property
    def _decoder(self) -> Decoder:
        """What labels sentences, once something was learned."""
        if self._learned is None:
            raise NotFitted("this tagger is not trained yet: call fit, or load one with certus.load")
        return self._learned

    @overload
    def tag(
        self,
        sentence: Words,
        *,
        k: Literal[1] = 1,
        confidence: bool = False,
        allowed: Choices | Automaton | None = None,
        legal: Automaton | None = None,
        dictionary: Dictionary | None = None,
        seconds: float | None = None,
        max_iterations: int | None = None,
        infeasible: OnInfeasible = "raise",
        certificate: bool = False,
    ) -> Tagging: ...
    @overload
    def tag(
        self,
        sentence: Words,
        *,
        k: int,
        confidence: bool = False,
        allowed: Choices | Automaton | None = None,
        legal: Automaton | None = None,
        dictionary: Dictionary | None = None,
        seconds: float | None = None,
        max_iterations: int | None = None,
        infeasible: OnInfeasible = "raise",
    ) -> LabelKBest[Tagging]: ...
    def tag(
        self,
        sentence: Words,
        *,
        k: int = 1,
        confidence: bool = False,
        allowed: Choices | Automaton | None = None,
        legal: Automaton | None = None,
        dictionary: Dictionary | None = None,
        seconds: float | None = None,
        max_iterations: int | None = None,
        infeasible: OnInfeasible = "raise",
        certificate: bool = False,
    ) -> Tagging | LabelKBest[Tagging]:
        """Label one sentence: a Tagging, or with k > 1 a KBest of at most k of them, best first.

        Args:
            sentence: its words; or a Sentence or a mapping from column names, where features look at other
                columns too.
            k: how many of the best label sequences to return.
            confidence: whether to return probabilities as well.

        Other args:
            allowed: for each word the labels it may get, or None for all; or which labels may follow which,
                as an Automaton: ``certus.bio(tagger.labels)``.
            legal: such an Automaton, beside what ``allowed`` lists.
            dictionary: the labels that words may get, for the words it lists and where ``allowed`` is None;
                ``NOUN`` stands for every ``NOUN|...``, too.
            seconds: the most time for proving the answer: after it, no further search of a pruned CRF and no
                further latent path is begun. The answer is then the best so far, with the bound of what was
                searched, which is finite; other learners prove theirs without searching.
            max_iterations: the most searches of a pruned CRF, in the same way; it begins with one.
            infeasible: whether a sentence that these leave no label sequence for raises Infeasible, or
                returns a Tagging with that status and without labels (for k > 1, an empty KBest).
            certificate: whether to return what proves the labels, for
                ``certus.verify((tagger, sentence), tagging)``; of all learners but spectral refinements.
        """
        if certificate and k != 1:
            raise InvalidInput(f"a certificate is of the best answer: k must be 1, not {k}")
        choices, automaton = _take_automaton(allowed, legal)
        given = None if choices is None else [choices]
        found: list[Tagging | LabelKBest[Tagging]] = [
            *self.tag_batch(
                [sentence],
                k=k,
                confidence=confidence,
                allowed=given,
                legal=automaton,
                dictionary=dictionary,
                seconds=seconds,
                max_iterations=max_iterations,
                infeasible=infeasible,
            )
        ]
        if certificate:
            best = cast("Tagging", found[0])
            problem = self.state_problem(sentence, choices, automaton, dictionary)
            best.certificate = self.certify(sentence, problem, best)
        return found[0]

    def state_problem(
        self,
        sentence: Words,
        allowed: Choices | Automaton | None = None,
        legal: Automaton | None = None,
        dictionary: Dictionary | None = None,
    ) -> Problem:
        """Return a sentence as plain data, the problem that certificates of its labels are about.

        Args:
            sentence: as for ``tag``.
            allowed: as for ``tag``.
            legal: as for ``tag``.
            dictionary: as for ``tag``.
        """
        decoder, cells = self._decoder, select_columns(sentence, self.columns)
        choices, automaton = _take_automaton(allowed, legal)
        restricted = restrict_labels(
            [cells], self._inventory, None if choices is None else [choices], dictionary
        )
        return decoder.state_problem(cells, Request(allowed=restricted, legal=automaton))

    def certify(self, sentence: Words, problem: Problem, found: Tagging) -> Certificate:
        """Return the certificate of an answer, given the problem that the sentence states."""
        decoder, possible = self._decoder, found.status is not Status.INFEASIBLE
        labels = self._inventory.number_labels(found.value).tolist() if possible else None
        return decoder.certify(select_columns(sentence, self.columns), problem, labels)

    @overload
    def tag_batch(
        self,
        sentences: Iterable[Words],
        *,
        k: Literal[1] = 1,
        confidence: bool = False,
        allowed: Sequence[Choices | None] | Automaton | None = None,
        legal: Automaton | None = None,
        dictionary: Dictionary | None = None,
        threads: int = 1,
        seconds: float | None = None,
        max_iterations: int | None = None,
        infeasible: OnInfeasible = "raise",
    ) -> list[Tagging]: ...
    @overload
    def tag_batch(
        self,
        sentences: Iterable[Words],
        *,
        k: int,
        confidence: bool = False,
        allowed: Sequence[Choices | None] | Automaton | None = None,
        legal: Automaton | None = None,
        dictionary: Dictionary | None = None,
        threads: int = 1,
        seconds: float | None = None,
        max_iterations: int | None = None,
        infeasible: OnInfeasible = "raise",
    ) -> list[LabelKBest[Tagging]]: ...
    def tag_batch(
        self,
        sentences: Iterable[Words],
        *,
        k: int = 1,
        confidence: bool = False,
        allowed: Sequence[Choices | None] | Automaton | None = None,
        legal: Automaton | None = None,
        dictionary: Dictionary | None = None,
        threads: int = 1,
        seconds: float | None = None,
        max_iterations: int | None = None,
        infeasible: OnInfeasible = "raise",
    ) -> list[Tagging] | list[LabelKBest[Tagging]]:
        """Label many sentences, as ``tag`` would one by one.

        Args:
            sentences: as for ``tag``.
            k: as for ``tag``.
            confidence: as for ``tag``.
            threads: how many threads to use; the answers do not depend on it.

        Other args:
            allowed: for each sentence the list that ``tag`` takes, or None; or an Automaton for all.
            legal: as for ``tag``.
            dictionary: as for ``tag``.
            seconds: as for ``tag``, for each sentence.
            max_iterations: as for ``tag``.
            infeasible: as for ``tag``.
        """
        self._decoder  # noqa: B018 (raises NotFitted)
        check_infeasible(infeasible)
        choices, automaton = _take_automaton(allowed, legal)
        names = self.columns
        cells = [select_columns(sentence, names) for sentence in sentences]
        restricted = restrict_labels(cells, self._inventory, choices, dictionary)
        decoded = self.decode(
            cells,
            k=k,
            confidence=confidence,
            threads=threads,
            allowed=restricted,
            legal=automaton,
            seconds=seconds,
            max_iterations=max_iterations,
        )
        if infeasible == "raise":
            refuse_infeasible(decoded)
        if k == 1:
            return [find_best(decoded, n, self.labels) for n in range(len(cells))]
        return [find_several(decoded, n, k, self.labels) for n in range(len(cells))]

    def decode(
        self,
        cells: Cells,
        *,
        k: int = 1,
        confidence: bool = False,
        threads: int = 1,
        allowed: Allowed | None = None,
        legal: Automaton | None = None,
        seconds: float | None = None,
        max_iterations: int | None = None,
    ) -> Decoded:
        """Label sentences given as columns of cells; the answers stay arrays, for those who want speed."""
        check_count("k", k)
        check_count("threads", threads)
        check_room(cells, k)
        if legal is not None and list(legal.labels) != self.labels:
            raise InvalidInput("legal is over other labels than the tagger's: make it from tagger.labels")
        limits: dict[str, Any] = {"seconds": read_seconds(seconds)}
        if max_iterations is not None:
            check_count("max_iterations", max_iterations)
            limits["max_iterations"] = int(max_iterations)
        return self._decoder.decode(cells, Request(k, confidence, threads, allowed, legal, **limits))

    def lattices(
        self,
        sentences: Iterable[Words],
        *,
        pruning: float = 1.0,
        threads: int = 1,
        margins: Sequence[float] | NDArray[np.float64] | None = None,
    ) -> TagLattices:
        """Search many sentences once, and keep what is left to decode again with adjusted scores.

        Args:
            sentences: as for ``tag``.
            threads: how many threads to use; the lattices do not depend on it.

        Other args:
            pruning: what a pruned CRF's thresholds are multiplied by: less than 1 leaves more to choose from,
                0 everything, which only small tag sets bear. Other learners prune nothing anyway.
            margins: for each sentence, how far below its best label sequence all those have to score that its
                lattice lacks. A pruned CRF prunes less until they do, or until the lattice would be too
                large; its ``outside`` says so. What adjustments by no more than that, all in all, make the
                best in the lattice is then the best of all. By default it is 0: the lattice has the best
                sequence.
        """
        from certus.lattice.lattices import TagLattices

        self._decoder  # noqa: B018 (raises NotFitted)
        names = self.columns
        cells = [select_columns(sentence, names) for sentence in sentences]
        wanted = None if margins is None else np.asarray(as_array("margins", margins), np.float64)
        found = self.search(cells, pruning=pruning, threads=threads, margins=wanted)
        return TagLattices(found, self.labels)

    def search(
        self,
        cells: Cells,
        *,
        pruning: float = 1.0,
        threads: int = 1,
        margins: NDArray[np.float64] | None = None,
    ) -> _native.Lattices:
        """Search sentences given as columns of cells; the lattices stay in the kernels."""
        check_count("threads", threads)
        if not 0 <= pruning < float("inf"):
            raise InvalidInput(f"pruning is {pruning}; it must be a number that is not below 0")
        if margins is not None and (margins.shape != (len(cells),) or not (margins >= 0).all()):
            raise InvalidInput("margins must be a number that is not below 0 for each sentence")
        return self._decoder.search(cells, pruning=pruning, threads=threads, margins=margins)

    def emissions(self, sentence: Words) -> NDArray[np.float32]:
        """Return the scores of all labels at all tokens, (T, L), that decoding starts from."""
        decoder = self._decoder
        return decoder.emissions(select_columns(sentence, self.columns))

    @property
    def chain(self) -> Chain:
        """The transitions of an exact tagger, to decode ``emissions`` with."""
        return self._decoder.label_chain

    @property
    def certifies(self) -> bool:
        """Whether answers can have certificates: those of all learners but spectral refinements can."""
        return self._decoder.certifies

    @property
    def proof(self) -> bool:
        """Whether a pruned CRF proves its answers. Without, it is faster, and bounds may be infinite."""
        return self._decoder.proof

    @proof.setter
    def proof(self, proof: bool) -> None:
        self._decoder.set_proof(bool(proof))

    @property
    def latent(self) -> LatentDecoder:
        """What decodes a trained ``latent-crf``: its ``inference`` may be set, its ``chain`` looked at."""
        return cast("LatentDecoder", self._decoder.latent)

    @property
    def refinement(self) -> Refinement:
        """The model of a trained ``refinement``, with its diagnostics."""
        return cast("Refinement", self._decoder.refinement)

    @property
    def labels(self) -> list[str]:
        """The names of the labels, in the order of their numbers."""
        return self._inventory.labels

    @property
    def coarse_labels(self) -> list[str]:
        """The first part of each label: the tag without its features, the first of several columns."""
        return [self.target.parts(label)[0] for label in self.labels]

    @property
    def order(self) -> int:
        """How many labels back the transitions look."""
        return self.learner.history

    @property
    def target_expression(self) -> str:
        """What is predicted, as an expression over columns."""
        return self.target.expression

    @property
    def agreement_scale(self) -> float:
        """How many times larger than log-probabilities the scores are, which weights of agreement follow."""
        return self.learner.agreement_scale

    @property
    def columns(self) -> list[str]:
        """The columns that features look at, the words first."""
        return list(self.description.get("columns", ["word"]))

    @property
    def layout(self) -> list[str] | None:
        """The names of all columns of the training data, if they were a column file; None of others."""
        layout: list[str] | None = self.description.get("layout")
        return layout

    @property
    def known(self) -> NDArray[np.uint32]:
        """The words of the training data, as keys of ``certus.annotation.vocabulary``."""
        self._decoder  # noqa: B018 (raises NotFitted)
        if "known" not in self._arrays:
            raise InvalidInput(
                "this model does not hold the words of its training data, as models of older versions do "
                "not: train it again, or say which words are known (in Python known=, on the command line "
                "--known with the training file)"
            )
        return self._arrays["known"]


C = TypeVar("C")


def _take_automaton(
    allowed: C | Automaton | None, legal: Automaton | None
) -> tuple[C | None, Automaton | None]:
    """Return the labels that words may get, and the automaton of those that may follow one another."""
    if not isinstance(allowed, Automaton):
        return allowed, legal
    if legal is not None:
        raise InvalidInput("allowed and legal are both automata: give one of them")
    return None, allowed
