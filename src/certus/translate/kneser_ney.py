"""Interpolated modified Kneser–Ney estimation (Chen & Goodman 1999; Heafield et al. 2013)."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from certus import _native
from certus.errors import InvalidInput, SmoothingWarning
from certus.translate.text import Text, add_texts


@dataclass(frozen=True)
class Estimate:
    """A model, and what it was made of.

    Attributes:
        ngrams: all n-grams with their probabilities.
        sentences: how many there were.
        tokens: words in them.
        blank: lines without words, which were left out.
        discounts: for each order, what is taken off counts of one, two, and three or more.
        problems: for orders whose discounts could not be computed, why.
    """

    ngrams: _native.Ngrams
    sentences: int
    tokens: int
    blank: int
    discounts: list[list[float]]
    problems: dict[str, str]

    def describe(self) -> dict[str, Any]:
        """Return what a model file says about it."""
        about: dict[str, Any] = {
            "training": {"sentences": self.sentences, "tokens": self.tokens, "blank": self.blank},
            "discounts": self.discounts,
        }
        return {**about, "problems": self.problems} if self.problems else about


def estimate_ngrams(
    texts: Iterable[Text],
    order: int,
    *,
    encoding: str = "utf-8",
    progress: Callable[[str], object] = lambda _: None,
) -> Estimate:
    """Return an n-gram model of texts.

    Args:
        texts: paths or streams, a sentence per line, or sentences.
        order: the words of the longest n-grams.
        encoding: of files.
        progress: is called with what is done next.
    """
    counter = _native.NgramCounter()
    progress("reading")
    add_texts(texts, encoding, counter.add_text, counter.add_sentences, lambda: counter.lines)
    if not counter.tokens:
        raise InvalidInput("there is nothing to learn from: the text holds no words")
    for k in range(1, order + 1):
        progress(f"counting {k}-grams")
        counter.count_longer()
    progress(f"estimating {sum(counter.size(k) for k in range(1, order + 1)):,} n-grams")
    sentences, tokens, blank = counter.sentences, counter.tokens, counter.blank
    sizes = [counter.size(k) for k in range(1, order + 1)]
    ngrams = counter.estimate()
    problems = dict(_find_problems(counter.discounts, sizes))
    for problem in problems.values():
        warnings.warn(problem, SmoothingWarning, stacklevel=3)
    amounts = [found.amounts for found in counter.discounts]
    return Estimate(ngrams, sentences, tokens, blank, amounts, problems)


def _find_problems(discounts: list[_native.Discounts], sizes: list[int]) -> Iterable[tuple[str, str]]:
    for k, (found, size) in enumerate(zip(discounts, sizes, strict=True), 1):
        if size and not found.computed:
            missing = next((j for j, count in enumerate(found.counts[:3], 1) if not count), None)
            reason = "a discount would be out of range"
            if missing is not None:
                reason = f"none has an adjusted count of {missing}"
            amounts = ", ".join(f"{amount:g}" for amount in found.amounts)
            yield (
                str(k),
                f"the discounts of {k}-grams cannot be computed, for {reason} (a small or repetitive text?): "
                f"{amounts} are used instead",
            )
