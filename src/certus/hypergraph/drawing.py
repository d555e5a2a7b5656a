"""Pictures of small forests: SVG, or DOT for Graphviz.

Nodes are boxes, the goal with a thick frame. An edge is a dot under its head, with lines to its tails. What a
derivation uses is drawn in colour; what no derivation of the goal uses is grey.
"""

from __future__ import annotations

import os
from typing import Any
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certus.errors import InvalidInput
from certus.hypergraph import inputs
from certus.hypergraph.forest import Forest
from certus.hypergraph.layout import Layout
from certus.storage.files import open_atomically

MOST_EDGES = 200
_DOT = (".dot", ".gv")
_INK, _FAINT, _BEST = "#333333", "#b8b8b8", "#c2410c"
_STEP, _MARGIN, _BOX, _FONT = (
    46.0,
    16.0,
    24.0,
    7.3,
)  # between layers; around; height of a box; width of a letter


def draw(
    graph: Forest,
    path: str | os.PathLike[str] | None = None,
    scores: ArrayLike | None = None,
    derivation: ArrayLike | None = None,
) -> str:
    """Return a picture as text, and write it if a path is given; see ``Hypergraph.draw``."""
    suffix = os.path.splitext(os.fspath(path))[1].lower() if path is not None else ".svg"
    if suffix not in (*_DOT, ".svg"):
        raise InvalidInput(
            f"{path} cannot be written: pictures are .svg, or .dot and .gv for Graphviz, whose command makes "
            "others of these: dot -Tpng forest.dot -o forest.png"
        )
    if graph.edges > MOST_EDGES:
        raise InvalidInput(
            f"{graph.edges:,} edges are too many for a picture: it takes at most {MOST_EDGES}. Prune first: "
            "graph.prune(scores, threshold).graph, with a threshold close to the best score"
        )
    if scores is not None:
        scores = graph.check_scores(scores)
    if derivation is None and scores is not None:
        derivation = graph.decode(scores, infeasible="return").value
    chosen = np.zeros(graph.edges, bool)
    if derivation is not None:
        chosen[inputs.as_indices("derivation", derivation)] = True
    picture = _Picture(graph, scores, chosen)
    text = picture.dot() if suffix in _DOT else picture.svg()
    if path is not None:
        with open_atomically(path) as file:
            file.write(text)
    return text


class _Picture:
    def __init__(self, graph: Forest, scores: NDArray[Any] | None, chosen: NDArray[np.bool_]) -> None:
        self.graph = graph
        self.goals = set(graph.goals.tolist())
        useful = graph.useful(scores)
        used = {int(graph.heads[edge]) for edge in np.flatnonzero(chosen)}
        alive = {int(graph.heads[edge]) for edge in np.flatnonzero(useful)}
        self.names = [_text(graph.name(node)) for node in range(graph.nodes)]
        self.labels = [_label(graph, scores, edge) for edge in range(graph.edges)]
        # The colour of each item: nodes, then edges.
        self.colours = [
            *(_BEST if node in used else _INK if node in alive else _FAINT for node in range(graph.nodes)),
            *(_BEST if chosen[edge] else _INK if useful[edge] else _FAINT for edge in range(graph.edges)),
        ]

    def svg(self) -> str:
        graph = self.graph
        halves = [max(14.0, _FONT * len(name) / 2 + 7) for name in self.names]
        texts = [5.0 + (0.85 * _FONT * len(label) + 2) * bool(label) for label in self.labels]
        self._layout = Layout(graph, [*halves, *[5.0] * graph.edges], [*halves, *texts])
        width = self._layout.width + 2 * _MARGIN
        height = (len(self._layout.layers) - 1) * _STEP + _BOX + 2 * _MARGIN
        lines = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
            f'viewBox="0 0 {width:.1f} {height:.1f}" '
            'font-family="DejaVu Sans, Verdana, sans-serif" font-size="12">',
            f"<title>{escape(repr(graph))}</title>",
            '<rect width="100%" height="100%" fill="white"/>',
        ]
        # What matters is drawn last, on top.
        by_weight = sorted(
            range(graph.edges), key=lambda edge: (_FAINT, _INK, _BEST).index(self._colour(edge))
        )
        for edge in by_weight:
            lines += self._lines(edge)
        lines += [self._box(node, 2 * halves[node]) for node in range(graph.nodes)]
        lines += [line for edge in by_weight for line in self._dot(edge)]
        return "\n".join([*lines, "</svg>", ""])

    def _colour(self, edge: int) -> str:
        return self.colours[self.graph.nodes + edge]

    def _at(self, item: int) -> tuple[float, float]:
        top = len(self._layout.layers) - 1
        return (
            self._layout.x[item] + _MARGIN,
            (top - self._layout.layer[item]) * _STEP + _MARGIN + _BOX / 2,
        )

    def _lines(self, edge: int) -> list[str]:
        graph = self.graph
        (x, y), (above, top) = self._at(graph.nodes + edge), self._at(int(graph.heads[edge]))
        paths = [f"M{above:.1f},{top + _BOX / 2:.1f} L{x:.1f},{y:.1f}"]
        drawn: dict[int, int] = {}  # a tail that occurs twice gets two lines
        for line in self._layout.lines[edge]:
            again = drawn[line[-1]] = drawn.get(line[-1], -1) + 1
            points = [self._at(item) for item in line]
            points[-1] = points[-1][0] + 5 * again, points[-1][1] - _BOX / 2
            paths.append(_curve(points))
        colour = self._colour(edge)
        thick = 2.2 if colour == _BEST else 1
        return [f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="{thick}"/>' for path in paths]

    def _box(self, node: int, width: float) -> str:
        x, y = self._at(node)
        colour, name = self.colours[node], escape(self.names[node])
        frame = 2.4 if node in self.goals else 1.2
        return (
            f'<rect x="{x - width / 2:.1f}" y="{y - _BOX / 2:.1f}" width="{width:.1f}" height="{_BOX}" '
            f'rx="5" fill="white" stroke="{colour}" stroke-width="{frame}"/>'
            f'<text x="{x:.1f}" y="{y + 4:.1f}" text-anchor="middle" fill="{colour}">{name}</text>'
        )

    def _dot(self, edge: int) -> list[str]:
        x, y = self._at(self.graph.nodes + edge)
        colour, label = self._colour(edge), self.labels[edge]
        marks = [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.2" fill="{colour}"/>']
        if label:
            marks.append(
                f'<text x="{x + 6:.1f}" y="{y + 4:.1f}" font-size="10" fill="{colour}" stroke="white" '
                f'stroke-width="3" paint-order="stroke">{escape(label)}</text>'
            )
        return marks

    def dot(self) -> str:
        graph = self.graph
        lines = ["digraph {", "  node [shape=box, style=rounded]; edge [dir=none];"]
        for node in range(graph.nodes):
            width = 2 if node in self.goals else 1
            colour = f'color="{self.colours[node]}", fontcolor="{self.colours[node]}", penwidth={width}'
            lines.append(f"  n{node} [label={_quote(self.names[node])}, {colour}];")
        for edge in range(graph.edges):
            colour = f'color="{self._colour(edge)}"'
            lines.append(f"  e{edge} [shape=point, xlabel={_quote(self.labels[edge])}, {colour}];")
            lines.append(f"  n{int(graph.heads[edge])} -> e{edge} [{colour}];")
            for tail in graph.tails[graph.offsets[edge] : graph.offsets[edge + 1]].tolist():
                lines.append(f"  e{edge} -> n{tail} [{colour}];")
        return "\n".join([*lines, "}", ""])


def _curve(points: list[tuple[float, float]]) -> str:
    """Return a path through points that goes straight down at each of them."""
    (x, y), *rest = points
    path = f"M{x:.1f},{y:.1f}"
    for to, low in rest:
        middle = (y + low) / 2
        path += f" C{x:.1f},{middle:.1f} {to:.1f},{middle:.1f} {to:.1f},{low:.1f}"
        x, y = to, low
    return path


def _label(graph: Forest, scores: NDArray[Any] | None, edge: int) -> str:
    label = "" if graph.labels is None or graph.labels[edge] is None else _text(graph.labels[edge])
    return label if scores is None else f"{label} {float(scores[edge]):.3g}".strip()


def _text(name: Any) -> str:
    return " ".join(map(str, name)) if isinstance(name, tuple) else str(name)


def _quote(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
