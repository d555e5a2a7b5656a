"""Draws the refinement benchmark: error over sample size, accuracy over hidden states."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from certus.errors import CertusError
from certus_bench.picture import check
from certus_bench.refinement.plan import Report

_COLOURS = {"spectral": "#0b7a75", "EM": "#d1495b", "plain HMM": "#8d8d8d"}


def draw(report: Report, path: Path) -> None:
    """Draw a report to a file; its suffix says in which format."""
    check(path)
    panels = [
        panel
        for panel, rows in ((_errors, report.errors), (_states, report.rows("states", "spectral")))
        if rows
    ]
    if not panels:
        raise CertusError(f"there is nothing to draw in {path.name}: run the part consistency or states")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.2 * len(panels), 4.2), dpi=160, layout="constrained")
    for axes, panel in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
        panel(axes, report)
        axes.grid(axis="y", color="#e6e6e6", linewidth=0.8)
        axes.legend(fontsize=8, frameon=False)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    figure.savefig(path)


def _errors(axes: Any, report: Report) -> None:
    for what in dict.fromkeys(row.what for row in report.errors):
        rows = [row for row in report.errors if row.what == what]
        name = (
            f"{what}, slope {report.slope:.2f}" if what == "spectral" and report.slope is not None else what
        )
        _line(axes, [row.sentences for row in rows], [row.relative for row in rows], what, name)
    axes.set_xscale("log")
    axes.set_yscale("log")
    sizes = sorted({row.sentences for row in report.errors})
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
    axes.tick_params(axis="x", which="minor", bottom=False, labelbottom=False)
    axes.set_xlabel("sentences drawn from a known model")
    axes.set_ylabel("relative error of marginals")
    axes.set_title("Consistency", loc="left", fontsize=11, fontweight="bold")


def _states(axes: Any, report: Report) -> None:
    for what in ("spectral", "EM"):
        rows = report.rows("states", what)
        _line(axes, [row.hidden for row in rows], [row.dev for row in rows], what, what)
    for row in report.rows("states", "HMM"):
        axes.axhline(row.dev, color=_COLOURS["plain HMM"], linestyle=":", linewidth=1.4, label="plain HMM")
    axes.set_xlabel("hidden states (m)")
    axes.set_ylabel("accuracy on dev, %")
    axes.set_title("Chunk tags from parts of speech", loc="left", fontsize=11, fontweight="bold")


def _line(axes: Any, xs: list[int], ys: list[float], what: str, name: str) -> None:
    axes.plot(xs, ys, color=_COLOURS[what], linewidth=2.0, marker="o", markersize=4, label=name)
