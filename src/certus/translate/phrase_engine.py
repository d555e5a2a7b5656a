"""Phrase tables at work: the options of a sentence, found and searched natively."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certus import _native
from certus.errors import InvalidInput, ModelError
from certus.solution import KBest, OnInfeasible
from certus.storage.declaration import Array, Declaration, offsets, reals, whole
from certus.storage.tensors import DAMAGED
from certus.translate.hierarchical_methods import ForestMethod
from certus.translate.methods import AUTO, Method, Program, choose_method
from certus.translate.problem import Phrase, answer_nothing
from certus.translate.solution import TranslatedPhrase, Translation, make_translations
from certus.translate.terms import Terms
from certus.translate.weights import Weights, name_features

LONGEST = 512  # words of a sentence, as native/translate/phrase_search.hpp declares it
# native/translate/phrase_table.hpp says what they hold.
DECLARATION = Declaration(
    {
        **{
            f"{side}_{name}": declared
            for side in ("source", "target")
            for name, declared in {
                "begin": offsets(f"{side}_words", into=f"{side}_bytes", each=1),
                "bytes": Array(("uint8",), (f"{side}_bytes",)),
                "slots": whole(f"{side}_slots", types="uint32", below=f"{side}_words+1"),
            }.items()
        },
        "phrase_first": offsets("phrases", into="phrase_words", each=1),
        "phrase_words": whole("phrase_words", types="uint32", below="source_words"),
        "entry_first": offsets("phrases", into="entries", each=1),
        "translation_first": offsets("entries", into="translation_words", each=1),
        "translation_words": whole("translation_words", types="uint32", below="target_words"),
        "scores": reals("features*entries"),
    }
)


class PhraseEngine:
    """A phrase table and a language model.

    Args:
        arrays: of the table.
        model: of the target language.
        features: how many scores a phrase pair has.
    """

    name = "phrases"  # of the kind of model, in model files

    def __init__(
        self, arrays: Mapping[str, NDArray[Any]], model: _native.LanguageModel, features: int
    ) -> None:
        sizes = DECLARATION.check(arrays, features=features)
        for side in ("source", "target"):
            slots = sizes[f"{side}_slots"]
            if slots & (slots - 1) or not slots or sizes[f"{side}_words"] < 3:
                raise ModelError(f"its {side} words cannot be looked up; {DAMAGED}")
        self.arrays = {name: arrays[name] for name in DECLARATION.arrays}
        self.features = features
        self.entries = sizes["entries"]
        self._native = _native.PhraseTranslator(self.arrays, model)

    @staticmethod
    def choose_method(method: str | Method | ForestMethod, k: int) -> Method:
        """Return the method meant, or say what is wrong with the choice."""
        if isinstance(method, ForestMethod):
            raise InvalidInput(f"{method.name} is a method of forests; use one of certus.translate.METHODS")
        return choose_method(method, k)

    @staticmethod
    def choose_tuning_method(k: int) -> Method:
        """Return the method that makes the lists that weights are tuned on: the proven one."""
        return choose_method(AUTO, k)

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
        seconds: float | None,
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
        return [
            Phrase(begin, end, self._native.spell(found, number), score)
            for number, (begin, end, score) in enumerate(
                zip(found.begin, found.end, found.score, strict=True)
            )
        ]

    def _make_answers(
        self, result: _native.TranslationResult, k: int, infeasible: OnInfeasible, number: int
    ) -> KBest[Translation]:
        answer = result.answer
        if not answer.best:
            reason = "no sequence of phrases avoids all forbidden terms"
            nothing = answer_nothing(answer, reason, k, infeasible, number)
            return nothing if isinstance(nothing, KBest) else KBest([nothing])
        begin, end = result.begin, result.end
        phrases = [
            tuple(
                TranslatedPhrase(begin[o], end[o], tuple(self._native.spell(result, o)), o)
                for o in one.options.tolist()
            )
            for one in answer.best
        ]
        rows = np.array(result.features).reshape(len(answer.best), -1)
        return make_translations(answer, phrases, map(name_features, rows))
