"""Language models: what they score, and their upper bounds, by the definition of back-off models."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from tests.attack.attack import Question, Truth
from tests.attack.ngrams import WORDS, Backoff, Ngram, draw_ngrams, make_model

ROUNDING = 1e-5  # relative: probabilities and weights are held in single precision


@dataclass(frozen=True)
class NgramProblem:
    """A model and sentences."""

    ngrams: tuple[tuple[Ngram, float, float], ...]
    sentences: tuple[tuple[str, ...], ...]


class LanguageModels:
    """Scores and bounds of n-gram models."""

    name = "language-models"

    def draw(self, rng: Random) -> NgramProblem:
        """Return a small model and short sentences."""
        sentences = [tuple(rng.choices((*WORDS, "new"), k=rng.randint(0, 5))) for _ in range(5)]
        return NgramProblem(draw_ngrams(rng), tuple(sentences))

    def enumerate(self, problem: NgramProblem) -> Truth:
        """There is nothing to enumerate."""
        return Truth({})

    def ask(self, problem: NgramProblem) -> Iterator[Question]:
        """Ask for scores, and for bounds over all contexts."""
        yield Question("score", lambda: _check_scores(problem))
        yield Question("bound", lambda: _check_bounds(problem))


def _check_scores(problem: NgramProblem) -> list[str]:
    model, truth = make_model(problem.ngrams), Backoff(problem.ngrams)
    wrong = []
    for words in problem.sentences:
        terms = list(truth.list_terms(words))
        expected, found = math.fsum(terms), model.score(list(words))
        if not abs(found - expected) <= ROUNDING * (1 + math.fsum(map(abs, terms))):
            wrong.append(f"{words} scores {found!r}, not {expected!r}")
    return wrong


def _check_bounds(problem: NgramProblem) -> list[str]:
    """Compare the bound of a word after some words with its scores after longer contexts."""
    model, truth = make_model(problem.ngrams), Backoff(problem.ngrams)
    wrong = []
    for word, last in itertools.product(("</s>", *WORDS), ((), ("a",), ("b", "c"))):
        bound = model.bound(word, list(last))
        for size in range(3):
            for before in itertools.product(("<s>", *WORDS), repeat=size):
                score = math.fsum(truth.list_word((*before, *last), word))
                if not bound >= score - ROUNDING * (1 + abs(score)):
                    wrong.append(f"bound({word!r}, {last}) is {bound!r}, but {score!r} after {before}")
    return wrong
