"""Alignments as a grid of characters: source words in rows, target words in columns."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

from certus.align.solution import Link


def draw_links(source: Sequence[str], target: Sequence[str], links: Iterable[Link]) -> str:
    """Return a grid with a block for each link, target words written downwards above their columns."""
    linked = set(links)
    wide = max((_measure(word) for word in source), default=0)
    high = max((len(word) for word in target), default=0)
    lines = [
        " " * (wide + 1)
        + " ".join(word[row - (high - len(word))] if row >= high - len(word) else " " for word in target)
        for row in range(high)
    ]
    for i, word in enumerate(source):
        cells = ("■" if (i, j) in linked else "·" for j in range(len(target)))
        lines.append(" " * (wide - _measure(word)) + word + " " + " ".join(cells))
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _measure(text: str) -> int:
    """Return how many columns of a terminal a word takes."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)
