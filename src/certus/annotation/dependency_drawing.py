"""Pictures of dependency trees: for the terminal, and as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import escape


def draw_text(words: Sequence[str], heads: Sequence[int], relations: Sequence[str]) -> str:
    """Return a drawing in lines of text: one word per line, in their order, heads to the left."""
    depths = _measure_depths(heads)
    grid = [[" "] * (2 * max(depths) + 3) for _ in range(len(words) + 1)]
    children: dict[int, list[int]] = {}
    for word, head in enumerate(heads, 1):
        children.setdefault(head, []).append(word)
    for head, below in children.items():
        column, first, last = 2 * depths[head] + 1, min(head, below[0]), max(head, below[-1])
        for row in range(first, last + 1):
            if grid[row][column] == " ":
                grid[row][column] = "│"
        for word in below:
            grid[word][column] = "╭" if word == first else "╰" if word == last else "├"
            grid[word][column + 1] = "─"
    for word in range(len(words) + 1):
        grid[word][2 * depths[word] + 1] = _choose_joint(word, children.get(word, []))
    grid[0][0] = "─"
    lines = ["".join(grid[0]).rstrip()]
    lines += [
        f"{''.join(cells).rstrip()} {form}  {relation}"
        for cells, form, relation in zip(grid[1:], words, relations, strict=True)
    ]
    return "\n".join(lines)


def _measure_depths(heads: Sequence[int]) -> list[int]:
    """Return how many arcs lead from the root to each word; the root itself comes first."""
    depths = [0] + [-1] * len(heads)
    for start in range(1, len(heads) + 1):
        path = []
        word = start
        while depths[word] < 0:
            path.append(word)
            word = heads[word - 1]
        for step, passed in enumerate(reversed(path), 1):
            depths[passed] = depths[word] + step
    return depths


def _choose_joint(word: int, children: Sequence[int]) -> str:
    """Return the character where the arc into a word meets those to its children above and below."""
    if not children:
        return "╼"
    if children[0] > word:
        return "┮"
    return "┶" if children[-1] < word else "┾"


_LETTER, _GAP, _LEVEL, _MARGIN = 8.0, 18.0, 26.0, 14.0  # pixels


def draw_svg(words: Sequence[str], heads: Sequence[int], relations: Sequence[str]) -> str:
    """Return a drawing as an SVG picture: words in a row, arcs above them from heads to modifiers."""
    places, x = [], _MARGIN
    for word, relation in zip(words, relations, strict=True):
        width = max(len(word), len(relation)) * _LETTER
        places.append(x + width / 2)
        x += width + _GAP
    levels = _stack_arcs(heads)
    base = _MARGIN + _LEVEL * (1 + max(levels, default=0))
    shapes = []
    for place, (head, relation, level) in enumerate(zip(heads, relations, levels, strict=True)):
        end, top = places[place], base - _LEVEL * level
        start = end if head == 0 else places[head - 1] + (4 if head - 1 < place else -4)
        path = f"M{start:.0f},{base:.0f} V{top:.0f} H{end:.0f} V{base - 2:.0f}"
        if head == 0:
            path = f"M{end:.0f},{_MARGIN:.0f} V{base - 2:.0f}"
        shapes.append(f'<path d="{path}" fill="none" stroke="#456" marker-end="url(#tip)"/>')
        middle, height = (start + end) / 2, _MARGIN + 10 if head == 0 else top - 3
        shapes.append(f'<text x="{middle:.0f}" y="{height:.0f}" class="r">{escape(relation)}</text>')
    row = base + 18
    shapes += [
        f'<text x="{centre:.0f}" y="{row:.0f}">{escape(word)}</text>'
        for centre, word in zip(places, words, strict=True)
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{x:.0f}" height="{row + _MARGIN:.0f}">'
        "<style>text{font:14px sans-serif;text-anchor:middle}.r{font-size:11px;fill:#456}</style>"
        '<defs><marker id="tip" markerWidth="6" markerHeight="6" refX="3" refY="4" orient="auto">'
        '<path d="M0,0 L6,3 L0,6 z" fill="#456"/></marker></defs>' + "".join(shapes) + "</svg>"
    )


def _stack_arcs(heads: Sequence[int]) -> list[int]:
    """Return the height of each arc, from 1: above all shorter ones that it overlaps."""
    arcs = sorted(range(len(heads)), key=lambda word: (abs(heads[word] - word - 1), word))
    levels = [1] * len(heads)
    done: list[tuple[int, int, int]] = []
    for word in arcs:
        if heads[word] == 0:
            continue
        low, high = sorted((heads[word], word + 1))
        levels[word] = 1 + max((level for a, b, level in done if a < high and low < b), default=0)
        done.append((low, high, levels[word]))
    top = max(levels, default=1)
    return [top + 1 if head == 0 else level for head, level in zip(heads, levels, strict=True)]
