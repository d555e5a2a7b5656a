"""Draws a benchmark report: time over label-set size, on logarithmic axes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from certus.errors import CertusError
from certus_bench.entries import FLOOR
from certus_bench.plan import Report, Row

FORMATS = (".png", ".svg", ".pdf")
_OURS = ("auto", "viterbi", "staggered")
_COLOURS = {
    "auto": "#0b7a75",
    "viterbi": "#3d5a98",
    "staggered": "#8f6bb3",
    "pytorch-crf": "#d1495b",
    "hmmlearn": "#e08e45",
    "dynamax": "#b5838d",
    "librosa": "#a3a380",
    "NumPy": "#8d8d8d",
    FLOOR: "#bdbdbd",
}


def check(path: Path) -> None:
    """Refuse a picture that could not be drawn, before any time is spent on measuring."""
    if path.suffix not in FORMATS:
        raise CertusError(
            f"cannot draw {path.name!r}: give the picture a name that ends in {', '.join(FORMATS)}"
        )
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise CertusError("drawing needs matplotlib: pip install 'certus[plot]'") from None


def draw(report: Report, path: Path, lattice: str = "peaked") -> None:
    """Draw the k = 1 times of the main methods and the rivals on one kind of lattice.

    Args:
        report: what was measured.
        path: the file to write; its suffix says in which format.
        lattice: which of the report's lattices; the first one if it does not have it.
    """
    check(path)
    from matplotlib.figure import Figure

    lattice = lattice if lattice in report.plan.lattices else report.plan.lattices[0]
    lines = _lines(report, lattice)
    figure = Figure(figsize=(8.2, 4.7), dpi=160, layout="constrained")
    axes = figure.subplots()
    for method, rows in lines.items():
        _line(axes, method, rows)
    _dress(axes, [row.labels for rows in lines.values() for row in rows], lattice)
    _name(axes, lines)
    figure.savefig(path)


def _lines(report: Report, lattice: str) -> dict[str, list[Row]]:
    """Return the rows of each method to draw, by label count."""
    lines: dict[str, list[Row]] = {}
    for row in sorted(report.rows, key=lambda row: row.labels):
        shown = row.method in _OURS or row.kind != "certus"
        if shown and row.lattice == lattice and row.k == 1:
            lines.setdefault(row.method, []).append(row)
    return lines


def _line(axes: Any, method: str, rows: list[Row]) -> None:
    ours, floor = method in _OURS, method == FLOOR
    labels = [row.labels for row in rows]
    # A position's time, so that sentences of different length make one line.
    times = [row.spread.median / row.length * 1e6 for row in rows]
    axes.plot(
        labels,
        times,
        color=_COLOURS.get(method, "#555555"),
        linewidth=3.2 if method == "auto" else 2.0 if ours else 1.4,
        linestyle=":" if floor else "-" if ours else "--",
        marker=None if floor else "o",
        markersize=6 if method == "auto" else 4,
        zorder=4 if ours else 2,
    )


def _dress(axes: Any, labels: list[int], lattice: str) -> None:
    ticks = sorted(set(labels))
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    axes.tick_params(axis="x", which="minor", bottom=False, labelbottom=False)
    axes.set_xlim(ticks[0] * 0.85, ticks[-1] * 4.2)
    axes.set_xlabel("labels")
    low, high = axes.get_ylim()
    axes.set_ylim(low, high * 4)
    axes.yaxis.set_major_formatter(lambda value, _: _unit(value))
    axes.set_ylabel("time a token, one core")
    axes.set_title(
        f"Exact decoding of one sentence, scores {_like(lattice)}", loc="left", fontsize=12, fontweight="bold"
    )
    axes.grid(axis="y", color="#e6e6e6", linewidth=0.8)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _unit(microseconds: float) -> str:
    """Write a power of ten of microseconds as people say it."""
    for size, unit in ((1e6, "s"), (1e3, "ms"), (1.0, "µs"), (1e-3, "ns")):
        if microseconds >= size * 0.999:
            return f"{microseconds / size:g} {unit}"
    return f"{microseconds:g} µs"


def _like(lattice: str) -> str:
    meanings = {
        "peaked": "like a trained tagger's",
        "flat": "that nothing can be pruned from",
        "ties": "full of ties",
    }
    return meanings.get(lattice, lattice)


def _name(axes: Any, lines: dict[str, list[Row]]) -> None:
    """Write each line's name at its right end, moved apart where they would overlap."""
    import numpy as np

    ends = sorted(
        (rows[-1].spread.median / rows[-1].length * 1e6, rows[-1].labels, m) for m, rows in lines.items()
    )
    low, high = np.log10(axes.get_ylim())
    gap = (high - low) * 0.052
    place = -np.inf
    for time, labels, method in ends:
        place = max(np.log10(time), place + gap)
        name = f"certus {method}" if method in _OURS else method
        axes.annotate(
            name,
            (labels, time),
            xytext=(labels * 1.12, 10**place),
            va="center",
            fontsize=9.5,
            color=_COLOURS.get(method, "#555555"),
            fontweight="bold" if method in _OURS else "normal",
        )
