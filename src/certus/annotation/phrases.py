"""Phrase pairs: spans of source and target words that no link leaves (Och & Ney 2004; Koehn et al. 2003)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeAlias

from certus.checks import check_count
from certus.errors import InvalidInput

Link: TypeAlias = tuple[int, int]  # places in source and target, from 0

LONGEST = 7  # words of a phrase on one side


class PhrasePair(NamedTuple):
    """A span of each side; ends are excluded."""

    source_begin: int
    source_end: int
    target_begin: int
    target_end: int

    def holds(self, link: Link) -> bool:
        """Whether both words of a link are inside."""
        return self.holds_source(link[0]) and self.holds_target(link[1])

    def holds_source(self, place: int) -> bool:
        """Whether a source word is inside."""
        return self.source_begin <= place < self.source_end

    def holds_target(self, place: int) -> bool:
        """Whether a target word is inside."""
        return self.target_begin <= place < self.target_end


def extract_phrases(
    links: Iterable[Link], sources: int, targets: int, *, max_length: int = LONGEST
) -> list[PhrasePair]:
    """Return all pairs of phrases that have a link between them and none to outside, by source and target.

    Words without links at the edges are taken along and left out, both.

    Args:
        links: those of one sentence pair.
        sources: how many words the source has.
        targets: how many words the target has.
        max_length: the most words of a phrase.

    Example:
        >>> [tuple(pair) for pair in certus.align.extract_phrases([(0, 1), (1, 0)], 2, 2)]
        [(0, 1, 1, 2), (0, 2, 0, 2), (1, 2, 0, 1)]
    """
    check_count("max_length", max_length)
    of_source: list[list[int]] = [[] for _ in range(sources)]
    of_target: list[list[int]] = [[] for _ in range(targets)]
    for i, j in set(links):
        if not (0 <= i < sources and 0 <= j < targets):
            raise InvalidInput(f"link {i}-{j} is outside of a pair of {sources} and {targets} words")
        of_source[i].append(j)
        of_target[j].append(i)
    found: list[PhrasePair] = []
    for begin in range(sources):
        low, high = targets, 0
        for end in range(begin + 1, min(sources, begin + max_length) + 1):
            low, high = min([low, *of_source[end - 1]]), max([high, *(j + 1 for j in of_source[end - 1])])
            if high - low > max_length:
                break
            if low < high and all(begin <= i < end for j in range(low, high) for i in of_target[j]):
                found.extend(
                    PhrasePair(begin, end, first, last)
                    for first, last in _widen(low, high, of_target, max_length)
                )
    return sorted(found)


def _widen(low: int, high: int, linked: list[list[int]], longest: int) -> Iterator[tuple[int, int]]:
    """Yield a span and those with words without links at its edges."""
    first = low
    while True:
        last = high
        while last - first <= longest:
            yield first, last
            if last == len(linked) or linked[last]:
                break
            last += 1
        first -= 1
        if first < 0 or linked[first] or high - first > longest:
            return
