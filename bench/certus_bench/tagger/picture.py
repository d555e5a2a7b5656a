"""Draws decoders on trained lattices: speed over the label set, and over k."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from certus.errors import CertusError
from certus_bench.entries import FLOOR
from certus_bench.picture import check
from certus_bench.plan import Row
from certus_bench.tagger.decoders import SMALL
from certus_bench.tagger.plan import Report
from certus_bench.tagger.tables import usual

_COLOURS = {
    "auto": "#0b7a75",
    "viterbi": "#3d5a98",
    "viterbi-astar": "#3d5a98",
    "staggered": "#8f6bb3",
    "iterative-viterbi-astar": "#8f6bb3",
    "carpediem": "#e08e45",
    "kbest-astar": "#d1495b",
    "kbest-viterbi": "#a3a380",
    "iterative-astar": "#d1495b",
    FLOOR: "#bdbdbd",
}


def draw(report: Report, path: Path) -> None:
    """Draw the speeds of a report's decoders to a file; its suffix says in which format."""
    check(path)
    if not report.rows:
        raise CertusError(f"there is nothing to draw in {path.name}: the run timed no decoder")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10.5, 4.6), dpi=160, layout="constrained")
    left, right = figure.subplots(1, 2)
    _panel(left, [row for row in report.rows if row.k == 1 and usual(row)], "labels", "the best sequence")
    _panel(right, [row for row in report.rows if _over_k(row)], "k", f"the k best, {SMALL}")
    figure.savefig(path)


def _over_k(row: Row) -> bool:
    return row.lattice == SMALL and row.method in ("auto", "viterbi-astar", "iterative-viterbi-astar",
                                                   "kbest-astar", "kbest-viterbi")  # fmt: skip


def _panel(axes: Any, rows: list[Row], over: str, title: str) -> None:
    """Draw a line for each method, with its name at the right end."""
    for method in (name for name in _COLOURS if any(row.method == name for row in rows)):
        points = sorted((getattr(row, over), 1 / row.spread.median) for row in rows if row.method == method)
        xs, ys = zip(*points, strict=True)
        width = 3.0 if method == "auto" else 1.6
        axes.plot(xs, ys, color=_COLOURS[method], linewidth=width, marker="o", markersize=4,
                  linestyle=":" if method == FLOOR else "-", label=method)  # fmt: skip
    axes.set_xscale("log")
    axes.set_yscale("log")
    ticks = sorted({getattr(row, over) for row in rows})
    axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    axes.tick_params(axis="x", which="minor", bottom=False, labelbottom=False)
    axes.set_xlabel(over)
    axes.set_ylabel("sentences a second, one core")
    axes.set_title(f"Trained models: {title}", loc="left", fontsize=11, fontweight="bold")
    axes.grid(axis="y", color="#e6e6e6", linewidth=0.8)
    axes.legend(fontsize=8, frameon=False)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
