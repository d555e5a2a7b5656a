"""Tables that offer the same words for a span more than once, and sentences without a translation."""

from __future__ import annotations

import itertools
import math
import os
import warnings
from typing import Any

import numpy as np
import pytest

import certus
from certus.errors import Infeasible
from certus.solution import Status
from certus.translate import METHODS, Phrase, PhraseProblem

PROBLEMS = int(os.environ.get("CERTUS_PROBLEMS", 2000)) // 4
EXACT = [name for name, method in METHODS.items() if method.proves]
Rng = np.random.Generator


def fit_model(order: int) -> certus.LanguageModel:
    rng = np.random.default_rng(order)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        text = [list(rng.choice(list("abc"), int(rng.integers(1, 7)))) for _ in range(8)]
        return certus.LanguageModel(order=order).fit([[str(word) for word in words] for words in text])


def draw_phrases(rng: Rng, words: int) -> list[Phrase]:
    """Phrases of which some come again with another score; of the words d and e the model knows nothing."""
    made = []
    for _ in range(int(rng.integers(1, 8))):
        begin = int(rng.integers(words))
        end = min(words, begin + int(rng.integers(1, 3)))
        target = [str(word) for word in rng.choice(list("abcde"), int(rng.choice([1, 1, 1, 2, 3])))]
        for _ in range(int(rng.integers(1, 3))):
            made.append(Phrase(begin, end, target, float(rng.integers(-3, 4))))
    return [made[int(i)] for i in rng.permutation(len(made))]


def list_scores(problem: PhraseProblem, limit: int | None) -> list[float]:
    """The scores of all derivations, best first."""
    scores = []

    def extend(chosen: list[int], covered: frozenset[int], end: int) -> None:
        if len(covered) == problem.words:
            scores.append(problem.score(chosen))
            return
        for number, phrase in enumerate(problem.phrases):
            span = frozenset(range(phrase.begin, phrase.end))
            if not span & covered and (limit is None or abs(phrase.begin - end) <= limit):
                extend([*chosen, number], covered | span, phrase.end)

    extend([], frozenset(), 0)
    return sorted((score for score in scores if score > -math.inf), reverse=True)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
@pytest.mark.parametrize("method", ["auto", *METHODS])
def test_the_better_of_repeated_phrases_wins(method: str, order: int) -> None:
    rng = np.random.default_rng(order)
    model = fit_model(order)
    for _ in range(PROBLEMS if method != "ilp" else PROBLEMS // 20):
        limit = [None, 0, 1, 2][int(rng.integers(4))]
        words = int(rng.integers(1, 5))
        phrases = draw_phrases(rng, words)
        problem = PhraseProblem(words, phrases, model, distortion=float(rng.integers(0, 2)), limit=limit)
        scores = list_scores(problem, limit)
        if not scores:
            with pytest.raises(Infeasible):
                problem.decode(method=method)
            assert problem.decode(method=method, infeasible="return").status is Status.INFEASIBLE
            continue
        found = problem.decode(method=method)
        assert found.bound >= scores[0] - 1e-9
        assert found.score <= scores[0] + 1e-9
        if method in EXACT or method == "auto":
            assert found.optimal
            assert found.score == pytest.approx(scores[0], abs=1e-9)


@pytest.mark.parametrize("method", ["auto", "optimal-beam", "beam", "astar"])
def test_repeated_phrases_in_lists(method: str) -> None:
    rng = np.random.default_rng(9)
    model = fit_model(3)
    for _ in range(PROBLEMS):
        words = int(rng.integers(1, 5))
        problem = PhraseProblem(words, draw_phrases(rng, words), model)
        scores = list_scores(problem, None)[:4]
        found = problem.decode(k=4, method=method, infeasible="return")
        assert isinstance(found, certus.solution.KBest)
        np.testing.assert_allclose([one.score for one in found], scores, atol=1e-9)
        assert all(one.optimal for one in found)


@pytest.mark.parametrize("method", ["auto", *METHODS])
def test_the_order_of_the_table_does_not_matter(method: str) -> None:
    table = [Phrase(0, 1, ["b"], -3), Phrase(0, 1, ["b"], 3), Phrase(1, 2, ["c", "a"], -1)]
    model = fit_model(3)
    found = [
        PhraseProblem(2, list(one), model).decode(method=method) for one in itertools.permutations(table)
    ]
    assert len({round(one.score, 9) for one in found}) == 1
    assert all(one.optimal for one in found) or method == "stack"


@pytest.mark.parametrize("method", ["auto", *METHODS])
def test_no_translation_is_an_error(method: str) -> None:
    problem = PhraseProblem(3, [Phrase(0, 2, ["a"]), Phrase(1, 3, ["b"])], fit_model(2))
    with pytest.raises(Infeasible):
        problem.decode(method=method)
    nothing = problem.decode(method=method, infeasible="return")
    assert (nothing.score, nothing.bound, nothing.status) == (-math.inf, -math.inf, Status.INFEASIBLE)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
@pytest.mark.parametrize("method", METHODS)
def test_first_answers_without_time_are_bounded(order: int, method: str) -> None:
    """The bound without any time is finite, holds, and says so where the source cannot be segmented."""
    rng, model, impossible = np.random.default_rng(70 + order), fit_model(order), 0
    for _ in range(60):
        words, limit = int(rng.integers(1, 5)), [None, 0, 1][int(rng.integers(3))]
        phrases = draw_phrases(rng, words)
        distortion = float(rng.choice([0.0, 0.5, -0.5]))
        problem = PhraseProblem(words, phrases, model, limit=limit, distortion=distortion)
        best = max(list_scores(problem, limit), default=-math.inf)
        found = problem.decode(method=method, seconds=0, infeasible="return")
        assert isinstance(found, certus.translate.Translation)
        assert found.score <= best + 1e-9
        assert best - 1e-9 <= found.bound < math.inf
        assert found.optimal <= math.isclose(found.score, best)
        impossible += found.status is Status.INFEASIBLE
    assert impossible


@pytest.mark.parametrize("rounds", [4, 5, 6, 7, 11])
def test_beams_take_the_multipliers_that_outside_scores_were_made_with(rounds: int) -> None:
    """After five rounds without a better bound, descent goes back to the best multipliers."""
    rng, model = np.random.default_rng(9), fit_model(2)
    for _ in range(300):
        words = int(rng.integers(2, 5))
        options: dict[str, Any] = {"weight": 0.0, "distortion": float(rng.choice([0.0, -0.5, 0.5]))}
        problem = PhraseProblem(words, draw_phrases(rng, words), model, **options)
        best = max(list_scores(problem, None), default=-math.inf)
        for width in (1, 3):
            method = certus.translate.Beam(width=width, first_rounds=rounds)
            found = problem.decode(method=method, infeasible="return")
            assert isinstance(found, certus.translate.Translation)
            assert found.bound >= best
            assert not found.optimal or found.score == best
