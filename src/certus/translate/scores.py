"""What a language model says about text."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from certus import _native


@dataclass(frozen=True)
class WordScore:
    """What a model says about one word of a sentence.

    Attributes:
        word: the word, or "</s>" for the end of the sentence.
        score: its log probability after the words before it (natural logarithm).
        length: of the longest n-gram that ends in it and is in the model; 1 for the word alone.
        known: whether it is in the vocabulary.
    """

    word: str
    score: float
    length: int
    known: bool


@dataclass(frozen=True)
class Step:
    """What a word costs in a state, and the state after it: the shortest context that matters.

    Attributes:
        score: the log probability of the word (natural logarithm).
        state: to go on from; equal states have equal futures.
        length: of the longest n-gram that ends in the word and is in the model.
    """

    score: float
    state: int
    length: int


@dataclass(frozen=True)
class Perplexity:
    """How well a model predicts a text.

    Attributes:
        known_score: the log probability of known words and of ends of sentences (natural logarithm).
        unknown_score: that of unknown words.
        sentences: how many there are.
        tokens: words and ends of sentences.
        unknown: words that are not in the vocabulary.
        blank: lines without words, which are left out.
    """

    known_score: float
    unknown_score: float
    sentences: int
    tokens: int
    unknown: int
    blank: int

    @property
    def score(self) -> float:
        """The log probability of the text."""
        return self.known_score + self.unknown_score

    @property
    def perplexity(self) -> float:
        """Of all words and ends of sentences; unknown words have the probability of ``<unk>``."""
        return _exponentiate(self.score, self.tokens)

    @property
    def known_perplexity(self) -> float:
        """The same without the unknown words, as if nobody had to predict them."""
        return _exponentiate(self.known_score, self.tokens - self.unknown)

    @property
    def bits(self) -> float:
        """The cross-entropy, in bits per word or end of sentence."""
        return -self.score / self.tokens / math.log(2) if self.tokens else math.nan

    def as_dict(self) -> dict[str, Any]:
        """Return all figures, ready for JSON; None where one is not finite."""
        figures = {
            "perplexity": self.perplexity,
            "known_perplexity": self.known_perplexity,
            "bits": self.bits,
            "score": self.score,
        }
        counts = {name: getattr(self, name) for name in ("sentences", "tokens", "unknown", "blank")}
        return {name: value if math.isfinite(value) else None for name, value in figures.items()} | counts


def make_perplexity(total: _native.Likelihood) -> Perplexity:
    """Return the figures of totals."""
    names = ("known_score", "unknown_score", "sentences", "tokens", "unknown", "blank")
    return Perplexity(*(getattr(total, name) for name in names))


def _exponentiate(score: float, tokens: int) -> float:
    """Return the inverse of the geometric mean of probabilities."""
    if not tokens:
        return math.nan
    try:
        return math.exp(-score / tokens)
    except OverflowError:
        return math.inf
