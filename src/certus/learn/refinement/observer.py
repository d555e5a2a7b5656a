"""What a refinement HMM observes of a token: its word, a column, or both, as fine as training data bear.

A token has several names, from the finest to the coarsest: a word, then its shape with ever shorter endings;
or a part of speech with the word, then the part of speech. It is observed as the finest that was seen more
often than ``rare`` among the tokens that have no finer one. So rare words tell what unknown ones are like.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from certus.annotation.targets import Target
from certus.errors import InvalidInput

Name: TypeAlias = "tuple[str, ...]"  # the cells of a token that are looked at

WORD = "word"
_MARK = "\x01"  # tells what is no word from words
UNKNOWN = _MARK + _MARK  # the name of what has none that was seen


class Observer:
    """Names observations.

    Args:
        observe: a column, or ``COLUMN+word``.
        suffixes: the longest ending of rare words to look at.

    Attributes:
        columns: that are looked at, the words first, as taggers want them.
    """

    def __init__(self, observe: str, suffixes: int) -> None:
        column, plus, word = ("word" if part == "form" else part for part in observe.partition("+"))
        if not column or (plus and (word != WORD or column == WORD)):
            raise InvalidInput(
                f"observe is {observe!r}; name a column such as word or pos, or one with the word: pos+word"
            )
        self.columns: tuple[str, ...] = (WORD,) if column == WORD else (WORD, column)
        self._suffixes = suffixes
        self._names: Callable[[Name], list[str]] = (
            self._name_word if column == WORD else self._name_both if plus else self._name_column
        )

    def learn(self, sentences: Sequence[list[list[str]]], rare: int) -> list[list[str]]:
        """Return the observations of training sentences, given as columns of cells."""
        distinct = Counter(name for cells in sentences for name in zip(*cells, strict=True))
        kept = self._choose_names(distinct, rare)
        chosen = {name: next(x for x in self._names(name) if x in kept) for name in distinct}
        return [[chosen[name] for name in zip(*cells, strict=True)] for cells in sentences]

    def number_tokens(self, sentences: Sequence[list[list[str]]], known: Mapping[str, int]) -> list[int]:
        """Return the numbers of the observations of all tokens; the one after the last for unknown ones."""
        unseen = len(known)
        cache: dict[Name, int] = {}
        found = []
        for cells in sentences:
            for name in zip(*cells, strict=True):
                number = cache.get(name)
                if number is None:
                    number = next((known[x] for x in self._names(name) if x in known), unseen)
                    cache[name] = number
                found.append(number)
        return found

    def _choose_names(self, distinct: Counter[Name], rare: int) -> set[str]:
        """Return the names that are seen often enough; the coarsest ones in any case."""
        left = [(self._names(name), count) for name, count in distinct.items()]
        kept: set[str] = set()
        while left:
            counts: Counter[str] = Counter()
            for names, count in left:
                counts[names[0]] += count
            kept |= {names[0] for names, _ in left if counts[names[0]] > rare or len(names) == 1}
            left = [(names[1:], count) for names, count in left if names[0] not in kept]
        return kept

    def _name_word(self, name: Name) -> list[str]:
        word = name[0]
        shape = _MARK + _describe_shape(word)
        longest = min(self._suffixes, len(word))
        return [word, *(shape + word[-k:].lower() for k in range(longest, 0, -1)), shape]

    @staticmethod
    def _name_column(name: Name) -> list[str]:
        return [name[1]]

    @staticmethod
    def _name_both(name: Name) -> list[str]:
        return [name[1] + _MARK + name[0], name[1]]


def choose_observed(observe: str, available: Sequence[str], target: Target) -> str:
    """Return what to observe in sentences with these columns: parts of speech, unless they are learned."""
    if observe != "auto":
        columns = observe.split("+")
        told = next((column for column in columns if column in target.fields), None)
        if told is not None:
            raise InvalidInput(f"observe is {observe!r}, but {told} is what is to be learned: name others")
        return observe
    return "pos+word" if "pos" in available and "pos" not in target.fields else WORD


def _describe_shape(word: str) -> str:
    """Return what a word looks like, in one of few ways."""
    if any(map(str.isdigit, word)):
        return "9"
    if not any(map(str.isalpha, word)):
        return "."
    if "-" in word:
        return "-"
    if word.isupper() and len(word) > 1:
        return "A"
    return "a" if word[:1].islower() else "Aa"
