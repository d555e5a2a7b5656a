"""What tags words may have, and how likely they are: known words, rare words, and words never seen.

The score of a word w under a refined tag r of the tag t is log P(w | r), by Bayes' rule from

    P(r | w) = P(t | w) P(r | t, w)

    P(t | w)    = ( c(t, w) + a P(t | class of w) ) / ( c(w) + a )
    P(r | t, w) = ( c(r, w) + b P(r | t) ) / ( c(t, w) + b )

A word never seen has the distribution of its class alone (``signatures``), which is that of the
rare words in it, smoothed with that of the next wider class. Words seen often have the tags they were seen
with, and no others.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from certus.errors import InvalidInput
from certus.ragged import offsets_of
from certus.syntax.constituency.signatures import make_signatures


class Leaves(NamedTuple):
    """What may stand over a word.

    Attributes:
        symbols: (n,) preterminals, ascending.
        scores: (n,) of the word under each of them.
    """

    symbols: NDArray[np.int32]
    scores: NDArray[np.float64]


class ListedLexicon:
    """Leaves as they are given: for each preterminal symbol the words it derives, with their scores."""

    def __init__(self, scores: Mapping[int, Mapping[str, float]]) -> None:
        found: dict[str, list[tuple[int, float]]] = defaultdict(list)
        for symbol, words in sorted(scores.items()):
            for word, score in words.items():
                if not abs(score) <= 1e30:
                    raise InvalidInput(
                        f"the word {word!r} has the score {score}; leave out what is forbidden"
                    )
                found[word].append((symbol, score))
        self._leaves = {
            word: Leaves(
                np.array([s for s, _ in pairs], np.int32), np.array([x for _, x in pairs], np.float64)
            )
            for word, pairs in found.items()
        }
        self._none = Leaves(np.zeros(0, np.int32), np.zeros(0))

    def leaves(self, words: Sequence[str]) -> list[Leaves]:
        """Return the leaves of the words of a sentence; a word that is not listed has none."""
        return [self._leaves.get(word, self._none) for word in words]


class Lexicon:
    """The leaves of words.

    Args:
        seen: for each word, how often it was seen with which preterminal symbols.
        tags: for each symbol the number of its tag; -1 for those that are no preterminals.
        rare: words seen at most this often tell about words never seen.
        trusted: words seen at least this often have the tags they were seen with, and no others.
        word_prior: the weight a of the class of a word.
        split_prior: the weight b of a tag's refinements in general.
        class_prior: the weight of the next wider class.
    """

    def __init__(
        self,
        seen: Mapping[str, Mapping[int, int]],
        tags: NDArray[np.int32],
        *,
        rare: int = 5,
        trusted: int = 20,
        word_prior: float = 1.0,
        split_prior: float = 5.0,
        class_prior: float = 5.0,
    ) -> None:
        self.options = {
            "rare": rare,
            "trusted": trusted,
            "word_prior": word_prior,
            "split_prior": split_prior,
            "class_prior": class_prior,
        }
        self._tags = tags
        self._seen = seen
        symbol_counts = np.zeros(len(tags))
        for counts in seen.values():
            for symbol, count in counts.items():
                symbol_counts[symbol] += count
        self._symbol_counts = symbol_counts
        self._count = int(tags.max()) + 1 if len(tags) else 0
        tag_counts = np.zeros(self._count)
        used = np.flatnonzero(symbol_counts)
        np.add.at(tag_counts, tags[used], symbol_counts[used])
        # Preterminals that were seen, and of each its place among them, its tag, P(r | t) and c(r).
        self._used, self._used_tags, self._used_counts = (
            used.astype(np.int32),
            tags[used],
            symbol_counts[used],
        )
        self._place = np.zeros(len(tags), np.int64)
        self._place[used] = np.arange(len(used))
        self._share = symbol_counts[used] / tag_counts[tags[used]]
        self._cache: dict[tuple[str, bool], Leaves] = {}
        self._class_cache: dict[tuple[str, ...], NDArray[np.float64]] = {}  # by the classes, narrowest first
        self._unseen_cache: dict[tuple[str, ...], Leaves] = {}  # of words never seen, by their classes

    @property
    def words(self) -> list[str]:
        """The words that were seen."""
        return list(self._seen)

    @property
    def size(self) -> int:
        """How many words were seen, counted each time."""
        return int(self._symbol_counts.sum())

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return what was seen as arrays, in the order of ``words``; ``from_arrays`` is the other way."""
        pairs = [pair for found in self._seen.values() for pair in found.items()]
        return {
            "word_first": offsets_of([len(found) for found in self._seen.values()]),
            "word_symbol": np.array([symbol for symbol, _ in pairs], np.int32),
            "word_count": np.array([count for _, count in pairs], np.int32),
        }

    @classmethod
    def from_arrays(
        cls, words: Sequence[str], arrays: Mapping[str, NDArray[Any]], tags: NDArray[np.int32], **options: Any
    ) -> Lexicon:
        """Return a lexicon of what ``arrays`` returned."""
        first = arrays["word_first"].tolist()
        symbols, counts = arrays["word_symbol"].tolist(), arrays["word_count"].tolist()
        bounds = zip(words, first[:-1], first[1:], strict=True)
        if (
            len(first) != len(words) + 1
            or first[-1] != len(symbols)
            or len(counts) != len(symbols)
            or (symbols and not 0 <= min(symbols) <= max(symbols) < len(tags))
        ):
            raise ValueError("its words do not fit its symbols")
        seen = {word: dict(zip(symbols[a:b], counts[a:b], strict=True)) for word, a, b in bounds}
        return cls(seen, tags, **options)

    @cached_property
    def _classes(self) -> dict[str, NDArray[np.float64]]:
        """The tag counts of each class of words, from rare ones; made when the first rare word comes."""
        classes: dict[str, NDArray[np.float64]] = {}
        everything = np.zeros(self._count)
        for word, seen in self._seen.items():
            total = sum(seen.values())
            if total > self.options["rare"]:
                continue
            counts = np.zeros(self._count)
            for symbol, count in seen.items():
                counts[self._tags[symbol]] += count
            counts /= total  # a word counts once, as a type: the next new word is one more type
            everything += counts
            for name in make_signatures(word):
                if name in classes:
                    classes[name] += counts
                else:
                    classes[name] = counts.copy()
        if not everything.any():  # no rare words: every tag may be that of a new one
            np.add.at(everything, self._tags[self._tags >= 0], 1.0)
        classes[""] = everything
        return classes

    def class_tags(self, word: str, first: bool = False) -> NDArray[np.float64]:
        """Return P(t | class of the word), for each tag."""
        return self._find_class_tags(make_signatures(word, first))

    def _find_class_tags(self, names: tuple[str, ...]) -> NDArray[np.float64]:
        """Return P(t | class) for the first of these classes, each of which is smoothed with the next."""
        found = self._class_cache.get(names)
        if found is not None:
            return found
        if len(names) > 1:
            found = self._find_class_tags(names[1:])
        else:
            found = self._classes[""] / self._classes[""].sum()
        counts = self._classes.get(names[0])
        if counts is None and names[0].startswith("First"):
            counts = self._classes.get("Cap" + names[0][len("First") :])
        if counts is not None:
            prior = self.options["class_prior"]
            found = (counts + prior * found) / (counts.sum() + prior)
        self._class_cache[names] = found
        return found

    def leaves(self, words: Sequence[str]) -> list[Leaves]:
        """Return the leaves of the words of a sentence."""
        return [self._leaves(word, place == 0) for place, word in enumerate(words)]

    def _leaves(self, word: str, first: bool) -> Leaves:
        key = (word, first)
        found = self._cache.get(key)
        if found is None:
            if len(self._cache) > 200_000:  # of long runs; the words of a language are not finitely many
                for cache in (self._cache, self._class_cache, self._unseen_cache):
                    cache.clear()
            found = self._cache[key] = self._compute(word, first)
        return found

    def _compute(self, word: str, first: bool) -> Leaves:
        if first and word not in self._seen and word[:1].isupper():
            lower = word[:1].lower() + word[1:]
            if lower in self._seen:
                word = lower
        seen = self._seen.get(word)
        if seen:
            return self._compute_seen(word, seen, first)
        names = make_signatures(word, first)
        found = self._unseen_cache.get(names)
        if found is None:
            nothing = np.zeros(self._count)
            tags = self._find_class_tags(names)
            found = self._unseen_cache[names] = self._score(tags, 0.0, nothing, 0.5)
        return found

    def _compute_seen(self, word: str, seen: Mapping[int, int], first: bool) -> Leaves:
        total = sum(seen.values())
        by_tag, by_symbol = np.zeros(self._count), np.zeros(len(self._used))
        for symbol, count in seen.items():
            by_tag[self._tags[symbol]] += count
            by_symbol[self._place[symbol]] = count
        if total >= self.options["trusted"]:
            tags = by_tag / total
        else:
            prior = self.options["word_prior"]
            tags = (by_tag + prior * self.class_tags(word, first)) / (total + prior)
        return self._score(tags, by_symbol, by_tag, total)

    def _score(
        self,
        tag_given_word: NDArray[np.float64],
        by_symbol: NDArray[np.float64] | float,
        by_tag: NDArray[np.float64],
        total: float,
    ) -> Leaves:
        """Return the leaves of a word by P(t | w), c(r, w), c(t, w) and c(w)."""
        prior = self.options["split_prior"]
        given = (by_symbol + prior * self._share) / (by_tag + prior)[self._used_tags]
        chance = tag_given_word[self._used_tags] * given
        possible = np.flatnonzero(chance)
        return Leaves(self._used[possible], np.log(chance[possible] * total / self._used_counts[possible]))
