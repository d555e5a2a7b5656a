"""Alignments as grids: source words in rows, target words in columns; for terminals, as SVG and as HTML."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from html import escape

import numpy as np
from numpy.typing import ArrayLike

from certus.align.solution import Link
from certus.errors import InvalidInput


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


_CELL, _LETTER, _MARGIN = 20.0, 7.6, 8.0  # pixels
_LINKED, _GRID = "#0b7a75", "#d8d8d8"


def draw_svg(
    source: Sequence[str],
    target: Sequence[str],
    links: Iterable[Link],
    probabilities: ArrayLike | None = None,
) -> str:
    """Return a grid as an SVG picture: a square for each link, and shades for probabilities.

    Args:
        source: words, in rows.
        target: words, in columns.
        links: pairs of places, from 0.
        probabilities: (I, J) of all links, from 0 to 1; None for a picture without shades.
    """
    left, top = (
        _MARGIN + _LETTER * max((_measure(word) for word in words), default=0) for words in (source, target)
    )
    shapes = _shade_cells(source, target, probabilities, left, top)
    wide, high = left + _CELL * len(target), top + _CELL * len(source)
    for n in range(len(source) + 1):
        shapes.append(f'<path d="M{left:.0f},{top + n * _CELL:.0f} H{wide:.0f}"/>')
    for n in range(len(target) + 1):
        shapes.append(f'<path d="M{left + n * _CELL:.0f},{top:.0f} V{high:.0f}"/>')
    for i, j in sorted(set(links)):
        if not (0 <= i < len(source) and 0 <= j < len(target)):
            raise InvalidInput(f"link {i}-{j} is outside of a pair of {len(source)} and {len(target)} words")
        x, y = left + j * _CELL + 4, top + i * _CELL + 4
        title = f"<title>{escape(source[i])} – {escape(target[j])}</title>"
        shapes.append(f'<rect class="l" x="{x:.0f}" y="{y:.0f}" width="12" height="12">{title}</rect>')
    for i, word in enumerate(source):
        y = top + (i + 0.5) * _CELL + 4
        shapes.append(f'<text class="s" x="{left - 4:.0f}" y="{y:.0f}">{escape(word)}</text>')
    for j, word in enumerate(target):
        x = left + (j + 0.5) * _CELL + 4
        turn = f"rotate(-90 {x:.0f} {top - 4:.0f})"
        shapes.append(f'<text x="{x:.0f}" y="{top - 4:.0f}" transform="{turn}">{escape(word)}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide + _MARGIN:.0f}" height="{high + _MARGIN:.0f}">'
        f"<style>text{{font:13px monospace}}.s{{text-anchor:end}}path{{stroke:{_GRID}}}"
        f".l{{fill:{_LINKED}}}.p{{fill:{_LINKED}}}</style>" + "".join(shapes) + "</svg>"
    )


def _shade_cells(
    source: Sequence[str], target: Sequence[str], probabilities: ArrayLike | None, left: float, top: float
) -> list[str]:
    if probabilities is None:
        return []
    shades = np.asarray(probabilities, float)
    if shades.shape != (len(source), len(target)):
        raise InvalidInput(
            f"probabilities have shape {shades.shape}, but the pair {len(source)} and {len(target)} words"
        )
    return [
        f'<rect class="p" x="{left + j * _CELL:.0f}" y="{top + i * _CELL:.0f}" width="{_CELL:.0f}" '
        f'height="{_CELL:.0f}" fill-opacity="{0.6 * shades[i, j]:.2f}"/>'
        for i, j in np.argwhere(shades >= 0.01).tolist()
    ]


def draw_page(pictures: Iterable[str], title: str = "Word alignment") -> Iterable[str]:
    """Yield an HTML page of pictures, part by part."""
    head = f'<meta charset="utf-8"><title>{escape(title)}</title>'
    yield f"<!DOCTYPE html>\n<html><head>{head}<style>figure{{margin:2em}}</style></head><body>\n"
    for number, picture in enumerate(pictures, 1):
        yield f"<figure>{picture}<figcaption>{number}</figcaption></figure>\n"
    yield "</body></html>\n"
