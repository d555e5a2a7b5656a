"""Pictures of trees: for the terminal, and as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol
from xml.sax.saxutils import escape

_GAP = 2  # blanks between the columns of words


class Constituent(Protocol):
    """What of a tree is drawn."""

    label: str

    @property
    def is_tag(self) -> bool:
        """Whether this is a tag over a word."""

    @property
    def word(self) -> str:
        """The word of a tag."""

    @property
    def trees(self) -> Sequence[Constituent]:
        """The constituents right below; none below a tag."""


class _Block:
    """A drawn constituent: lines of equal length, and the column of its middle."""

    __slots__ = ("lines", "middle", "width")

    def __init__(self, lines: list[str], middle: int) -> None:
        self.lines = lines
        self.middle = middle
        self.width = len(lines[0])


def draw_text(tree: Constituent) -> str:
    """Return a drawing in lines of text: labels above what they dominate, the words at the bottom."""
    return "\n".join(line.rstrip() for line in _draw_block(tree, _measure_height(tree)).lines)


def _measure_height(tree: Constituent) -> int:
    return 0 if tree.is_tag else 1 + max(map(_measure_height, tree.trees))


def _draw_block(tree: Constituent, height: int) -> _Block:
    """Draw a tree so high that its words stand on the line they share with others."""
    if tree.is_tag:
        width = max(len(tree.label), len(tree.word))
        middle = (width - 1) // 2
        stem = [_put_at("│", middle, width)] * (2 * height)
        return _Block([*stem, _centre(tree.label, width), _centre(tree.word, width)], middle)
    below = [_draw_block(child, height - 1) for child in tree.trees]
    middles, start = [], 0
    for block in below:
        middles.append(start + block.middle)
        start += block.width + _GAP
    width = start - _GAP
    lines = [(" " * _GAP).join(rows) for rows in zip(*(block.lines for block in below), strict=True)]
    middle = (middles[0] + middles[-1]) // 2
    left = max(0, (len(tree.label) - 1) // 2 - middle)
    right = max(0, middle - (len(tree.label) - 1) // 2 + len(tree.label) - width)
    lines = [" " * left + line + " " * right for line in (_draw_fork(middles, middle, width), *lines)]
    middle, width = middle + left, width + left + right
    start = middle - (len(tree.label) - 1) // 2
    head = " " * start + tree.label + " " * (width - start - len(tree.label))
    return _Block([head, *lines], middle)


def _draw_fork(middles: list[int], middle: int, width: int) -> str:
    """Draw the line that joins children, with a stem up to the parent."""
    if len(middles) == 1:
        return _put_at("│", middle, width)
    line = [" "] * width
    for place in range(middles[0], middles[-1] + 1):
        line[place] = "─"
    for place in middles[1:-1]:
        line[place] = "┬"
    line[middles[0]], line[middles[-1]] = "╭", "╮"
    line[middle] = {"─": "┴", "┬": "┼", "╭": "├", "╮": "┤"}[line[middle]]
    return "".join(line)


def _put_at(mark: str, place: int, width: int) -> str:
    return " " * place + mark + " " * (width - place - 1)


def _centre(text: str, width: int) -> str:
    left = (width - 1) // 2 - (len(text) - 1) // 2
    return " " * left + text + " " * (width - left - len(text))


_LETTER, _COLUMN, _ROW, _MARGIN = 8.0, 14.0, 44.0, 12.0  # pixels


def draw_svg(tree: Constituent) -> str:
    """Return a drawing as an SVG picture."""
    height = _measure_height(tree)
    shapes: list[str] = []
    right = _place_shapes(tree, 0, height, _MARGIN, shapes)[1]
    wide, high = right - _COLUMN + _MARGIN, (height + 1) * _ROW + 3 * _MARGIN
    style = (
        'font-family="Helvetica, Arial, sans-serif" font-size="13" text-anchor="middle" fill="currentColor"'
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide:.0f}" height="{high:.0f}" {style}>'
        + "".join(shapes)
        + "</svg>"
    )


def _place_shapes(
    tree: Constituent, depth: int, height: int, left: float, shapes: list[str]
) -> tuple[float, float]:
    """Draw a tree from ``left`` on; return the middle of its label, and where the next one may begin."""
    top = depth * _ROW + 2 * _MARGIN
    if tree.is_tag:
        bottom = height * _ROW + 2 * _MARGIN
        middle = left + max(len(tree.label), len(tree.word)) * _LETTER / 2
        shapes.append(
            _draw_text(tree.label, middle, top) + _draw_text(tree.word, middle, bottom + _ROW / 2, "italic")
        )
        shapes.append(_draw_line(middle, top + 5, middle, bottom + _ROW / 2 - 14))
        return middle, 2 * middle - left + _COLUMN
    middles, end = [], left
    for child in tree.trees:
        middle, end = _place_shapes(child, depth + 1, height, end, shapes)
        middles.append(middle)
    centre = (middles[0] + middles[-1]) / 2
    shapes.append(_draw_text(tree.label, centre, top))
    shapes.extend(_draw_line(centre, top + 5, middle, top + _ROW - 14) for middle in middles)
    return centre, max(end, centre + len(tree.label) * _LETTER / 2 + _COLUMN)


def _draw_text(text: str, x: float, y: float, style: str = "normal") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" font-style="{style}">{escape(text)}</text>'


def _draw_line(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="currentColor"/>'
