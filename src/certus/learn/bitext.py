"""Sentence pairs as numbers of words, each different pair once."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from certus.errors import InvalidInput

RARE = "<rare words>"  # with a blank, which no word has


@dataclass
class BitextSide:
    """The sentences of one language.

    Attributes:
        words: the vocabulary, in order of appearance.
        ids: the words of all sentences, one after the other.
        first: where each sentence begins, and where the last one ends.
    """

    words: dict[str, int] = field(default_factory=dict)
    ids: array[int] = field(default_factory=lambda: array("I"))
    first: array[int] = field(default_factory=lambda: array("q", [0]))

    def number(self, sentence: Sequence[str]) -> array[int]:
        """Return the numbers of the words of a sentence; new words get the next ones."""
        known = self.words
        return array("I", [known.setdefault(word, len(known)) for word in sentence])

    def add(self, numbers: array[int]) -> None:
        """Append a sentence."""
        self.ids.extend(numbers)
        self.first.append(len(self.ids))

    def merge_rare(self, least: int, times: NDArray[np.int32]) -> None:
        """Replace words that occur less often by RARE; ``times`` is how often each sentence does."""
        ids = np.frombuffer(self.ids, np.uint32)
        first = np.frombuffer(self.first, np.int64)
        counts = np.bincount(ids, np.repeat(times, first[1:] - first[:-1]), len(self.words))
        kept = counts >= least
        if kept.all():
            return
        number = np.cumsum(kept, dtype=np.uint32)  # RARE is 0
        ids[:] = np.where(kept, number, 0).astype(np.uint32)[ids]
        words = [word for word, is_kept in zip(self.words, kept.tolist(), strict=True) if is_kept]
        self.words = {word: n for n, word in enumerate([RARE, *words])}

    def list_words(self) -> list[str]:
        """Return the vocabulary, by number."""
        return list(self.words)


def pair_up(
    source: Iterable[Sequence[str]], target: Iterable[Sequence[str]]
) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    """Yield each sentence with its translation, and refuse to end where one side has more."""
    others = iter(target)
    count = 0
    for sentence in source:
        translation = next(others, None)
        if translation is None:
            raise InvalidInput(f"there is no target sentence {count}, but there is a source sentence")
        yield sentence, translation
        count += 1
    if next(others, None) is not None:
        raise InvalidInput(f"there are more target sentences than source sentences, which are {count}")


class Bitext:
    """Sentence pairs to learn from.

    Args:
        pairs: sentences and their translations, each a sequence of words; they are read once.
        max_length: pairs with more words on a side are left out.
        min_count: words that occur less often are taken for one and the same.

    Attributes:
        sides: source and target.
        pairs: how many pairs there are, repeated ones included.
        skipped: numbers of pairs that were left out, from 0, by the reason: "empty" or "long".
    """

    def __init__(
        self,
        pairs: Iterable[tuple[Sequence[str], Sequence[str]]],
        *,
        max_length: int = 250,
        min_count: int = 1,
    ) -> None:
        self.sides = (BitextSide(), BitextSide())
        self.pairs = 0
        self.skipped: dict[str, list[int]] = {"empty": [], "long": []}
        self._times = array("i")
        self._digest = blake2b(digest_size=16)
        seen: dict[int, int] = {}  # by hash, so that ten million pairs fit; the words of both are compared
        for number, (sentence, translation) in enumerate(pairs):
            self._add(seen, number, sentence, translation, max_length)
        if min_count > 1 and self._times:
            for side in self.sides:
                side.merge_rare(min_count, self.times)

    def _add(
        self,
        seen: dict[int, int],
        number: int,
        sentence: Sequence[str],
        translation: Sequence[str],
        longest: int,
    ) -> None:
        for name, words in (("source", sentence), ("target", translation)):
            if isinstance(words, str):
                raise InvalidInput(f"{name} sentence {number} is a text; give its words, text.split()")
        lengths = len(sentence), len(translation)
        if not min(lengths) or max(lengths) > longest:
            self.skipped["long" if min(lengths) else "empty"].append(number)
            return
        self.pairs += 1
        ids = [side.number(words) for side, words in zip(self.sides, (sentence, translation), strict=True)]
        text = b"%d %d " % lengths + ids[0].tobytes() + ids[1].tobytes()
        self._digest.update(text)
        same = seen.setdefault(hash(text), len(self._times))
        if same < len(self._times) and self._list_ids(same) == ids:
            self._times[same] += 1
            return
        self._times.append(1)
        for side, numbers in zip(self.sides, ids, strict=True):
            side.add(numbers)

    def _list_ids(self, pair: int) -> list[array[int]]:
        return [side.ids[side.first[pair] : side.first[pair + 1]] for side in self.sides]

    @property
    def times(self) -> NDArray[np.int32]:
        """How often each different pair occurs."""
        return np.frombuffer(self._times, np.int32) if self._times else np.zeros(0, np.int32)

    @property
    def digest(self) -> str:
        """A short name for all pairs and words, in their order."""
        digest = self._digest.copy()
        for side in self.sides:
            digest.update("\n".join(side.words).encode(errors="surrogatepass"))
        return digest.hexdigest()
