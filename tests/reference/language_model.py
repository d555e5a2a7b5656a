"""Modified Kneser–Ney by its definition, in exact fractions; and the back-off models of ARPA files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

Ngram = tuple[str, ...]
FALLBACK = (Fraction(0), Fraction(1, 2), Fraction(1), Fraction(3, 2))


class KneserNey:
    """A model of a few sentences; every question is answered from the counts."""

    def __init__(self, sentences: Sequence[Sequence[str]], order: int) -> None:
        self.order = order
        padded = [("<s>", *words, "</s>") for words in sentences if words]
        self.words = sorted({word for words in padded for word in words} - {"<s>"} | {"<unk>"})
        occurrences = Counter(
            words[i : i + k]
            for words in padded
            for k in range(1, order + 1)
            for i in range(len(words) - k + 1)
        )
        before: dict[Ngram, set[str]] = {}
        for ngram in occurrences:
            before.setdefault(ngram[1:], set()).add(ngram[0])
        self.counts = {
            ngram: count if len(ngram) == order or ngram[0] == "<s>" else len(before[ngram])
            for ngram, count in occurrences.items()
            if ngram != ("<s>",)
        }
        self.discounts = [self._find_discounts(k) for k in range(1, order + 1)]

    def _find_discounts(self, k: int) -> tuple[Fraction, ...]:
        n = Counter(count for ngram, count in self.counts.items() if len(ngram) == k)
        if not (n[1] and n[2] and n[3]):
            return FALLBACK
        y = Fraction(n[1], n[1] + 2 * n[2])
        found = (Fraction(0), *(j - (j + 1) * y * Fraction(n[j + 1], n[j]) for j in (1, 2, 3)))
        return found if all(0 < found[j] <= j for j in (1, 2, 3)) else FALLBACK

    def _discount(self, ngram: Ngram) -> Fraction:
        return self.discounts[len(ngram) - 1][min(self.counts[ngram], 3)]

    def _list_after(self, context: Ngram) -> list[Ngram]:
        longer = ((*context, word) for word in self.words)
        return [ngram for ngram in longer if ngram in self.counts]

    def find_weight(self, context: Ngram) -> Fraction:
        """Return what is left for words that were not seen after a context."""
        seen = self._list_after(context)
        total = sum(self.counts[ngram] for ngram in seen)
        return sum(map(self._discount, seen), Fraction()) / total if total else Fraction(1)

    def find_probability(self, word: str, context: Ngram) -> Fraction:
        """Return p(word | context), of which the last words count."""
        context = context[len(context) - min(len(context), self.order - 1) :]
        seen = self._list_after(context)
        total = sum(self.counts[ngram] for ngram in seen)
        shorter = self.find_probability(word, context[1:]) if context else Fraction(1, len(self.words))
        if not total:
            return shorter
        own = Fraction()
        if (*context, word) in self.counts:
            own = (self.counts[(*context, word)] - self._discount((*context, word))) / total
        return own + self.find_weight(context) * shorter


class Backoff:
    """A model given by its n-grams, as the lines of an ARPA file give them: (log10 p, log10 weight)."""

    def __init__(self, ngrams: dict[Ngram, tuple[float, float]]) -> None:
        self.ngrams = ngrams
        self.order = max(map(len, ngrams))

    def score(self, word: str, context: Ngram) -> float:
        """Return log10 p(word | context)."""
        if (word,) not in self.ngrams:
            word = "<unk>"
        context = tuple(w if (w,) in self.ngrams else "<unk>" for w in context)
        context = context[len(context) - min(len(context), self.order - 1) :]
        cost = 0.0
        while (*context, word) not in self.ngrams:
            cost += self.ngrams.get(context, (0.0, 0.0))[1]
            context = context[1:]
        return cost + self.ngrams[(*context, word)][0]
