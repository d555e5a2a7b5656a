"""Hierarchical grammars at work: sentences parsed into forests, which are searched natively."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import partial
from typing import ClassVar

import numpy as np

from certus import _native
from certus.errors import InvalidInput
from certus.solution import KBest, OnInfeasible, Status
from certus.translate.hierarchical_forest import count_work
from certus.translate.hierarchical_methods import (
    CubePruning,
    ForestMethod,
    ForestProgram,
    choose_forest_method,
)
from certus.translate.methods import Method
from certus.translate.solution import SearchTimes, TranslatedPhrase, Translation, judge
from certus.translate.table_engine import TableEngine
from certus.translate.terms import Terms
from certus.translate.weights import Weights, name_features

TUNING_WIDTH = 100  # cells that cube pruning looks at for each node


class HierarchicalEngine(TableEngine[_native.GrammarTranslator]):
    """A hierarchical grammar (Chiang 2007) and a language model.

    The arrays are those of a phrase table, in which the gaps of rules are words: ``[X]`` in the source,
    ``[X,1]`` and ``[X,2]`` in the target. The feature Distortion is minus the number of times that glue
    joins two parts of a sentence.
    """

    name = "hierarchical"
    usual_seconds: ClassVar[float] = 5.0  # long sentences may take hours and all memory
    kernel = _native.GrammarTranslator

    @staticmethod
    def choose_method(method: str | Method | ForestMethod, k: int) -> ForestMethod:
        """Return the method meant, or say what is wrong with the choice."""
        if isinstance(method, Method):
            raise InvalidInput(f"{method.name} with options of phrases; use certus.translate.FOREST_METHODS")
        return choose_forest_method(method, k)

    @staticmethod
    def choose_tuning_method(k: int) -> ForestMethod:
        """Return the method that makes the lists that weights are tuned on.

        It is cube pruning: proofs of k translations of long sentences would take most of the time.
        """
        return CubePruning(width=max(TUNING_WIDTH, 2 * k))

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
        """Return the k best translations of each sentence; ``limit`` is the most words of a rule's span."""
        if terms.forced or terms.forbidden:
            raise InvalidInput("terms need a model of phrases; this one is hierarchical")
        texts = [list(words) for words in sentences]
        chosen = self.choose_method(method, k)
        longest = max(map(len, texts), default=0)
        span = max(longest, 1) if limit is None else max(limit, 1)
        asked = weights.make_native()
        if isinstance(chosen, ForestProgram):
            from certus.translate.forest_program import solve_forest_program

            solve = partial(solve_forest_program, method=chosen, seconds=seconds)
            found = [self._native.translate_by(words, asked, span, options, solve) for words in texts]
        else:
            request = chosen.make_request(k, distinct, seconds)
            found = self._native.translate(texts, asked, span, options, request, threads)
        return [_make_answers(result, len(words)) for result, words in zip(found, texts, strict=True)]


def _make_answers(result: _native.GrammarResult, length: int) -> KBest[Translation]:
    answer = result.answer
    if not answer.best:  # time ran out before there was a derivation
        return KBest([Translation((), -math.inf, answer.bound, Status.SECONDS)])
    rows = np.array(result.features).reshape(len(answer.best), -1)
    times = SearchTimes(result.seconds, answer.relaxation_seconds, answer.beam_seconds)
    made = []
    for one, words, row in zip(answer.best, result.text, rows, strict=True):
        status, bound = judge(answer, one.score)
        phrases = (TranslatedPhrase(0, length, tuple(words), 0),) if words else ()
        work = count_work(answer) | {"edges": result.edges}
        features = name_features(row)
        made.append(Translation(phrases, one.score, bound, status, work, features=features, times=times))
    return KBest(made, exhausted=answer.exhausted)
