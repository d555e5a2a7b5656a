"""Phrase tables at work: the options of a sentence, found and searched natively."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from certus import _native
from certus.errors import InvalidInput
from certus.solution import KBest, OnInfeasible
from certus.translate.hierarchical_methods import ForestMethod
from certus.translate.methods import Method, OptimalBeam, Program, choose_method
from certus.translate.problem import Phrase, answer_nothing
from certus.translate.solution import TranslatedPhrase, Translation, make_translations
from certus.translate.table_engine import TableEngine
from certus.translate.terms import Terms
from certus.translate.weights import Weights, name_features

LONGEST = 512  # words of a sentence, as native/translate/phrase_search.hpp declares it


class PhraseEngine(TableEngine[_native.PhraseTranslator]):
    """A phrase table and a language model."""

    name = "phrases"
    kernel = _native.PhraseTranslator

    @staticmethod
    def choose_method(method: str | Method | ForestMethod, k: int) -> Method:
        """Return the method meant, or say what is wrong with the choice."""
        if isinstance(method, ForestMethod):
            raise InvalidInput(f"{method.name} is a method of forests; use one of certus.translate.METHODS")
        return choose_method(method, k)

    @staticmethod
    def choose_tuning_method(k: int) -> Method:
        """Return the method that makes the lists that weights are tuned on: nearly all of them proven.

        The few that take more rounds than these would take more than half of the time.
        """
        return OptimalBeam(rounds=6)

    def translate(
        self,
        sentences: Iterable[Sequence[str]],
        *,
        weights: Weights,
        terms: Terms,
        options: int,
        limit: int | None,
        method: Method | ForestMethod,
        k: int,
        distinct: bool,
        seconds: float,
        threads: int,
        infeasible: OnInfeasible = "raise",
    ) -> list[KBest[Translation]]:
        """Return the k best translations of each sentence."""
        method = self.choose_method(method, k)
        if isinstance(method, Program):
            raise InvalidInput("ilp is a method of certus.translate.PhraseProblem; use optimal-beam here")
        tasks = [_native.TranslationTask(list(words), terms.find(words)) for words in sentences]
        found = self._native.translate(
            tasks,
            [list(term) for term in terms.forbidden],
            weights.make_native(),
            options,
            -1 if limit is None else limit,
            method.make_request(k, distinct, seconds),
            threads,
        )
        return [self._make_answers(result, k, infeasible, number) for number, result in enumerate(found)]

    def list_phrases(
        self, sentence: Sequence[str], weights: Weights, terms: Terms, options: int
    ) -> list[Phrase]:
        """Return the phrases that a search of a sentence looks at, with their weighted scores."""
        task = _native.TranslationTask(list(sentence), terms.find(sentence))
        found = self._native.list_options(task, weights.make_native(), options)
        return [Phrase(*phrase) for phrase in self._native.list_phrases(found, range(len(found)))]

    def _make_answers(
        self, result: _native.TranslationResult, k: int, infeasible: OnInfeasible, number: int
    ) -> KBest[Translation]:
        answer = result.answer
        if not answer.best:
            reason = "no sequence of phrases avoids all forbidden terms"
            nothing = answer_nothing(answer, reason, k, infeasible, number)
            return nothing if isinstance(nothing, KBest) else KBest([nothing])
        numbers = [one.options.tolist() for one in answer.best]
        phrases = [
            tuple(
                TranslatedPhrase(begin, end, words, number)
                for number, (begin, end, words, _) in zip(
                    used, self._native.list_phrases(result, used), strict=True
                )
            )
            for used in numbers
        ]
        rows = np.array(result.features).reshape(len(answer.best), -1)
        return make_translations(answer, phrases, map(name_features, rows))
