"""Phrase-based decoding of one sentence, from phrases and scores of one's own.

The set Y: sequences of phrases that translate each source word exactly once, where no jump between the end of
a phrase and the beginning of the next is longer than the limit. The score of a sequence is the sum of its
phrases' scores, of the weighted log probability of the target words, and of -distortion for each word of each
jump.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, overload

import numpy as np
from numpy.typing import NDArray

from certus import _native
from certus.checks import check_count, read_seconds
from certus.errors import Infeasible, InvalidInput, describe_infeasible
from certus.solution import KBest, OnInfeasible, Status, conclude
from certus.translate.methods import AUTO, Method, Program, choose_method
from certus.translate.solution import TranslatedPhrase, Translation, make_translations


class HasKernel(Protocol):
    """A certus.LanguageModel."""

    @property
    def kernel(self) -> _native.LanguageModel:
        """What answers natively."""


@dataclass(frozen=True)
class Phrase:
    """A phrase that may translate source words ``begin`` to ``end``, the last one excluded."""

    begin: int
    end: int
    target: Sequence[str]
    score: float = 0.0


class PhraseProblem:
    """The translation of one sentence by phrases.

    Args:
        words: how many the source has.
        phrases: what may translate its spans.
        model: of the target language.

    Other args:
        weight: of the language model's log probability (natural logarithm); not negative.
        distortion: what each word of a jump costs.
        limit: the longest jump; None for any.
        forbidden: sequences of target words that no translation may hold.

    Example:
        >>> model = certus.LanguageModel(order=2).fit([["the", "house"], ["a", "house"]])
        >>> phrases = [Phrase(0, 1, ["the"]), Phrase(0, 1, ["a"], -1), Phrase(1, 2, ["house"])]
        >>> certus.translate.PhraseProblem(2, phrases, model).decode().text
        'the house'
    """

    def __init__(
        self,
        words: int,
        phrases: Iterable[Phrase],
        model: HasKernel,
        *,
        weight: float = 1.0,
        distortion: float = 0.0,
        limit: int | None = None,
        forbidden: Iterable[Sequence[str]] = (),
    ) -> None:
        if words < 0:
            raise InvalidInput(f"a sentence cannot have {words} words")
        self.words = words
        self.phrases = tuple(phrases)
        check_weights(weight, distortion, limit)
        vocabulary: dict[str, int] = {}
        for number, phrase in enumerate(self.phrases):
            _check_phrase(number, phrase, words)
            for word in phrase.target:
                vocabulary.setdefault(word, len(vocabulary))
        self._native = _native.PhraseProblem(
            model.kernel,
            words,
            np.array([phrase.begin for phrase in self.phrases], np.int32),
            np.array([phrase.end for phrase in self.phrases], np.int32),
            np.array([phrase.score for phrase in self.phrases], np.float64),
            np.cumsum([0, *(len(phrase.target) for phrase in self.phrases)], dtype=np.int64),
            _gather(self.phrases, dict(zip(vocabulary, model.kernel.number(list(vocabulary)), strict=True))),
            _gather(self.phrases, vocabulary),
            float(weight),
            float(distortion),
            -1 if limit is None else limit,
        )
        self._forbidden = number_terms(forbidden, vocabulary)

    @overload
    def decode(
        self,
        *,
        k: Literal[1] = ...,
        method: str | Method = ...,
        seconds: float | None = ...,
        distinct: bool = ...,
        infeasible: OnInfeasible = ...,
    ) -> Translation: ...
    @overload
    def decode(
        self,
        *,
        k: int,
        method: str | Method = ...,
        seconds: float | None = ...,
        distinct: bool = ...,
        infeasible: OnInfeasible = ...,
    ) -> Translation | KBest[Translation]: ...
    def decode(
        self,
        *,
        k: int = 1,
        method: str | Method = AUTO,
        seconds: float | None = None,
        distinct: bool = False,
        infeasible: OnInfeasible = "raise",
    ) -> Translation | KBest[Translation]:
        """Return the best translation with its proof, or the k best.

        Args:
            k: how many derivations to return; more than 1 is a KBest.
            method: one of certus.translate.METHODS, by its name or as an object with its options.

        Other args:
            seconds: the most time to spend; what is found by then comes back with its gap. None for no limit.
            distinct: whether the k best must differ in their target words, not only in their phrases.
            infeasible: "raise" an error where there is no derivation, or "return" an empty answer.
        """
        check_count("k", k)
        chosen = choose_method(method, k)
        limit = read_seconds(seconds)
        if isinstance(chosen, Program):
            from certus.translate.program import solve_program

            found = solve_program(self._native, self._forbidden, chosen, limit)
        else:
            found = self._native.search(self._forbidden, chosen.make_request(k, distinct, limit))
        if not found.best:
            return answer_nothing(found, self._explain(), k, infeasible)
        used = [tuple(map(self._use_phrase, one.options.tolist())) for one in found.best]
        answers = make_translations(found, used, [None] * len(used))
        return answers[0] if k == 1 else answers

    def score(self, derivation: Sequence[int]) -> float:
        """Return the score of a sequence of phrases, given by their numbers."""
        for number in derivation:
            if not 0 <= number < len(self.phrases):
                raise InvalidInput(f"there is no phrase {number}")
        return self._native.score(list(derivation))

    def _use_phrase(self, number: int) -> TranslatedPhrase:
        phrase = self.phrases[number]
        return TranslatedPhrase(phrase.begin, phrase.end, tuple(phrase.target), number)

    def _explain(self) -> str:
        missing = self._native.uncovered
        if missing >= 0:
            return f"no phrase translates source word {missing}"
        return "no sequence of phrases translates each word once, within the limit, without forbidden terms"


def answer_nothing(
    found: _native.PhraseAnswer,
    reason: str,
    k: int,
    infeasible: OnInfeasible,
    sentence: int | None = None,
) -> Translation | KBest[Translation]:
    """Return or raise that there is no derivation, or none that was found in time."""
    if found.bound == -math.inf and infeasible == "raise":
        message = describe_infeasible(reason, "Add phrases, raise the limit, or forbid less", sentence)
        raise Infeasible(message, sentence=sentence)
    limit = Status.SECONDS if found.timed_out else Status.ITERATIONS
    status, bound = conclude(-math.inf, found.bound, limit)
    empty = Translation((), -math.inf, bound, status)
    return empty if k == 1 else KBest([], exhausted=status is Status.INFEASIBLE)


def check_weights(weight: float, distortion: float, limit: int | None) -> None:
    """Refuse weights under which bounds would be none."""
    if not (math.isfinite(weight) and weight >= 0):
        raise InvalidInput(f"the weight of the language model is {weight}; it must be 0 or more")
    if not math.isfinite(distortion):
        raise InvalidInput(f"distortion is {distortion}; a finite number is needed")
    if limit is not None and limit < 0:
        raise InvalidInput(f"the distortion limit is {limit}; it must be 0 or more, or None for no limit")


def number_terms(terms: Iterable[Sequence[str]], vocabulary: Mapping[str, int]) -> list[list[int]]:
    """Return terms by the numbers of their words; those with words that no phrase has cannot occur."""
    found = []
    for term in terms:
        if isinstance(term, str) or not len(term):
            raise InvalidInput(f"a forbidden term is a sequence of words, not {term!r}")
        if all(word in vocabulary for word in term):
            found.append([vocabulary[word] for word in term])
    return found


def _check_phrase(number: int, phrase: Phrase, words: int) -> None:
    if not 0 <= phrase.begin < phrase.end <= words:
        raise InvalidInput(
            f"phrase {number} translates words {phrase.begin} to {phrase.end} of a sentence of {words}"
        )
    if isinstance(phrase.target, str) or not len(phrase.target):
        raise InvalidInput(f"phrase {number} has no target words; give a sequence of them")
    if math.isnan(phrase.score) or phrase.score == math.inf:
        raise InvalidInput(f"phrase {number} has a score of {phrase.score}; a number is needed")


def _gather(phrases: Sequence[Phrase], numbers: Mapping[str, Any]) -> NDArray[np.uint32]:
    return np.array([numbers[word] for phrase in phrases for word in phrase.target], np.uint32)
