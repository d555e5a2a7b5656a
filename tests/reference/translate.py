"""Phrase-based decoding by enumeration: all sequences of phrases that translate each word once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

Derivation = tuple[int, ...]  # phrases, by number


@dataclass(frozen=True)
class Phrase:
    """A phrase that may translate a span of the source."""

    begin: int
    end: int
    target: tuple[str, ...]
    score: float


def enumerate_derivations(words: int, phrases: Sequence[Phrase], limit: int | None) -> Iterator[Derivation]:
    """Yield all derivations of a sentence."""

    def extend(made: Derivation, covered: frozenset[int], end: int) -> Iterator[Derivation]:
        if len(covered) == words:
            yield made
            return
        for number, phrase in enumerate(phrases):
            span = frozenset(range(phrase.begin, phrase.end))
            if span & covered or (limit is not None and abs(phrase.begin - end) > limit):
                continue
            yield from extend((*made, number), covered | span, phrase.end)

    yield from extend((), frozenset(), 0)


def score_derivation(
    derivation: Derivation,
    phrases: Sequence[Phrase],
    score_text: Callable[[list[str]], float],
    distortion: float,
) -> float:
    """Return phrase scores, the score of the text, and what jumps cost."""
    total, end = 0.0, 0
    for number in derivation:
        phrase = phrases[number]
        total += phrase.score - distortion * abs(phrase.begin - end)
        end = phrase.end
    return total + score_text(spell(derivation, phrases))


def spell(derivation: Derivation, phrases: Sequence[Phrase]) -> list[str]:
    """Return the target words."""
    return [word for number in derivation for word in phrases[number].target]


def holds_term(text: Sequence[str], terms: Sequence[Sequence[str]]) -> bool:
    """Whether one of some sequences of words is in a text."""
    return any(
        list(text[i : i + len(term)]) == list(term)
        for term in terms
        for i in range(len(text) - len(term) + 1)
    )
