"""Random back-off models, as ARPA files give them, and what they score: the definition, word by word."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from random import Random

import numpy as np

import certus

Ngram = tuple[str, ...]
WORDS = ("a", "b", "c", "d")
UNKNOWN = "<unk>"


def draw_ngrams(rng: Random) -> tuple[tuple[Ngram, float, float], ...]:
    """Return n-grams with log10 of probability and back-off weight; contexts and suffixes may be missing."""
    order = rng.randint(1, 4)
    vocabulary = [UNKNOWN, "<s>", "</s>", *WORDS]
    made: dict[Ngram, tuple[float, float]] = {}

    def add(ngram: Ngram) -> None:
        weight = 0.0 if len(ngram) == order or rng.random() < 0.3 else rng.randint(-200, 60) / 100
        made[ngram] = -rng.randint(0, 300) / 100, weight

    for word in vocabulary:
        add((word,))
    for length in range(2, order + 1):
        for _ in range(rng.randint(1, 10)):
            first, last = rng.choice(["<s>", *WORDS]), rng.choice(["</s>", *WORDS])
            add((first, *rng.choices(WORDS, k=length - 2), last))
    return tuple((ngram, *pair) for ngram, pair in made.items())


class Backoff:
    """What an n-gram model scores, in natural logarithms held in single precision."""

    def __init__(self, ngrams: Sequence[tuple[Ngram, float, float]]) -> None:
        self.order = max(len(ngram) for ngram, _, _ in ngrams)
        self.scores = {ngram: _read(score) for ngram, score, _ in ngrams}
        self.weights = {ngram: _read(weight) for ngram, _, weight in ngrams}

    def list_terms(self, words: Sequence[str]) -> Iterator[float]:
        """Yield the scores and back-off weights that a sentence is made of, up to its end."""
        history = ["<s>"]
        for word in (*words, "</s>"):
            yield from self.list_word(history, word)
            history.append(word)

    def list_word(self, history: Sequence[str], word: str) -> Iterator[float]:
        """Yield those of a word after others."""
        names = [name if (name,) in self.scores else UNKNOWN for name in (*history, word)]
        context, known = tuple(names[:-1]), names[-1]
        context = context[len(context) - min(len(context), self.order - 1) :]
        while (*context, known) not in self.scores:
            yield self.weights.get(context, 0.0)
            context = context[1:]
        yield self.scores[(*context, known)]


def _read(log10: float) -> float:
    return float(np.float32(log10 * math.log(10)))


@lru_cache(64)
def make_model(ngrams: tuple[tuple[Ngram, float, float], ...]) -> certus.LanguageModel:
    """Return the model of n-grams, read from the text of an ARPA file."""
    order = max(len(ngram) for ngram, _, _ in ngrams)
    sections = [[row for row in ngrams if len(row[0]) == n] for n in range(1, order + 1)]
    lines = ["\\data\\", *(f"ngram {n}={len(rows)}" for n, rows in enumerate(sections, 1))]
    for n, rows in enumerate(sections, 1):
        lines += ["", f"\\{n}-grams:"]
        lines += [
            f"{score}\t{' '.join(ngram)}" + (f"\t{weight}" if n < order else "")
            for ngram, score, weight in rows
        ]
    return certus.LanguageModel.read_arpa(io.StringIO("\n".join([*lines, "", "\\end\\", ""])))
