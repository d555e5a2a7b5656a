"""Pictures of trees: for the terminal, and as SVG."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
    """A drawn constituent: lines of equal length, the lowest first, and the column of its middle."""

    __slots__ = ("lines", "middle", "width")

    def __init__(self, lines: list[str], middle: int) -> None:
        self.lines = lines
        self.middle = middle
        self.width = len(lines[0])


def draw_text(tree: Constituent) -> str:
    """Return a drawing in lines of text: labels above what they dominate, the words at the bottom."""
    nodes = list(_list_nodes(tree))
    height = max(depth for _, depth in nodes)
    done: list[_Block] = []
    for node, depth in reversed(nodes):
        below = [done.pop() for _ in node.trees]
        done.append(_draw_node(node, below) if below else _draw_tag(node, height - depth))
    return "\n".join(line.rstrip() for line in reversed(done[0].lines))


def _list_nodes(tree: Constituent) -> Iterator[tuple[Constituent, int]]:
    """Yield all constituents with their depth, parents first, from left to right."""
    open_ = [(tree, 0)]
    while open_:
        node, depth = open_.pop()
        yield node, depth
        open_.extend((child, depth + 1) for child in reversed(node.trees))


def _draw_tag(tree: Constituent, height: int) -> _Block:
    """Draw a tag so high that its word stands on the line it shares with others."""
    width = max(len(tree.label), len(tree.word))
    middle = (width - 1) // 2
    stem = [_put_at("│", middle, width)] * (2 * height)
    return _Block([_centre(tree.word, width), _centre(tree.label, width), *stem], middle)


def _draw_node(tree: Constituent, below: list[_Block]) -> _Block:
    """Draw a label above what it dominates."""
    middles, start = [], 0
    for block in below:
        middles.append(start + block.middle)
        start += block.width + _GAP
    width = start - _GAP
    middle = (middles[0] + middles[-1]) // 2
    left = max(0, (len(tree.label) - 1) // 2 - middle)
    right = max(0, middle - (len(tree.label) - 1) // 2 + len(tree.label) - width)
    lines = below[0].lines
    if len(below) > 1:
        lines = [(" " * _GAP).join(rows) for rows in zip(*(block.lines for block in below), strict=True)]
    lines.append(_draw_fork(middles, middle, width))
    if left or right:
        lines = [" " * left + line + " " * right for line in lines]
    middle, width = middle + left, width + left + right
    start = middle - (len(tree.label) - 1) // 2
    lines.append(" " * start + tree.label + " " * (width - start - len(tree.label)))
    return _Block(lines, middle)


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
    height = max(depth for _, depth in _list_nodes(tree))
    shapes: list[str] = []
    right = _place_shapes(tree, height, shapes)
    wide, high = right - _COLUMN + _MARGIN, (height + 1) * _ROW + 3 * _MARGIN
    style = (
        'font-family="Helvetica, Arial, sans-serif" font-size="13" text-anchor="middle" fill="currentColor"'
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide:.0f}" height="{high:.0f}" {style}>'
        + "".join(shapes)
        + "</svg>"
    )


def _place_shapes(tree: Constituent, height: int, shapes: list[str]) -> float:
    """Draw a tree, from left to right and from the words up; return where the next one may begin."""
    end, middles = _MARGIN, list[float]()  # of what is drawn already and hangs from nothing yet
    open_: list[tuple[Constituent, int, bool]] = [(tree, 0, False)]
    while open_:
        node, depth, is_below_drawn = open_.pop()
        top = depth * _ROW + 2 * _MARGIN
        if node.is_tag:
            middle = end + max(len(node.label), len(node.word)) * _LETTER / 2
            shapes.append(_draw_tag_shapes(node, middle, top, height * _ROW + 2 * _MARGIN))
            end = 2 * middle - end + _COLUMN
            middles.append(middle)
        elif not is_below_drawn:
            open_.append((node, depth, True))
            open_.extend((child, depth + 1, False) for child in reversed(node.trees))
        else:
            below = middles[-len(node.trees) :]
            centre = (below[0] + below[-1]) / 2
            shapes.append(_draw_text(node.label, centre, top))
            shapes.extend(_draw_line(centre, top + 5, middle, top + _ROW - 14) for middle in below)
            end = max(end, centre + len(node.label) * _LETTER / 2 + _COLUMN)
            middles[-len(node.trees) :] = [centre]
    return end


def _draw_tag_shapes(tree: Constituent, middle: float, top: float, bottom: float) -> str:
    tag, word = (
        _draw_text(tree.label, middle, top),
        _draw_text(tree.word, middle, bottom + _ROW / 2, "italic"),
    )
    return tag + word + _draw_line(middle, top + 5, middle, bottom + _ROW / 2 - 14)


def _draw_text(text: str, x: float, y: float, style: str = "normal") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" font-style="{style}">{escape(text)}</text>'


def _draw_line(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="currentColor"/>'
