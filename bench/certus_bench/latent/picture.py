"""Draws the paper's figures: LDI over the number of steps, and how concentrated probability is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from certus_bench.latent.plan import Report, TaskReport
from certus_bench.picture import check

_COLOURS = {"mass": "#d1495b", "label": "#0b7a75"}
_NAMES = {"mass": "stopped by the mass that remains (the paper)", "label": "by the label bound, too"}
_CURVES = {
    "f1": "F1 (%)",
    "exact": "proven best (%)",
    "paths": "latent paths a sentence",
    "seconds": "seconds in all",
}


def draw(report: Report, path: Path) -> None:
    """Draw a row for each task; the suffix of the file says in which format."""
    check(path)
    from matplotlib.figure import Figure

    count = len(report.tasks)
    figure = Figure(figsize=(16, 3.1 * count + 0.4), dpi=120, layout="constrained")
    rows = figure.subplots(count, len(_CURVES) + 1, squeeze=False)
    for axes, task in zip(rows, report.tasks, strict=True):
        for panel, (what, label) in zip(axes, _CURVES.items(), strict=False):
            _curve(panel, task, what, label)
        _concentration(axes[-1], task)
    figure.legend(*rows[0][0].get_legend_handles_labels(), loc="outside upper left", ncols=2, frameon=False)
    figure.savefig(path)


def _curve(axes: Any, task: TaskReport, what: str, label: str) -> None:
    for bound in ("mass", "label"):
        points = [(p.steps, getattr(p.row, what)) for p in task.points if p.bound == bound]
        xs, ys = zip(*points, strict=True)
        axes.plot(xs, ys, color=_COLOURS[bound], marker="o", markersize=3.5, label=_NAMES[bound])
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(_whole)
    if what == "paths":
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(_whole)
    if what == "seconds":
        axes.set_ylim(bottom=0)
    axes.set_xlabel("n, the most latent paths")
    _dress(axes, f"{task.task}: {label}")


def _concentration(axes: Any, task: TaskReport) -> None:
    mass = [100 * x for x in task.concentration]
    axes.plot(range(1, len(mass) + 1), mass, color="#3d5a98")
    axes.set_xlabel("best latent paths")
    axes.set_ylim(0, 100)
    _dress(axes, f"{task.task}: mass of best paths (%)")


def _whole(value: float, _: int) -> str:
    return f"{value:,.0f}"


def _dress(axes: Any, title: str) -> None:
    axes.set_title(title, loc="left", fontsize=10, fontweight="bold")
    axes.grid(axis="y", color="#e6e6e6", linewidth=0.8)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
