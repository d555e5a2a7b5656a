"""Draws figure 5 of Rush et al. (2010) from a report, and how soon each optimiser proves its answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from certus_bench.joint.plan import PAPER, PROOF, K, Report
from certus_bench.picture import check

_COLOURS = {
    "f1": "#0b7a75",
    "certificates": "#d1495b",
    "match": "#3d5a98",
    PAPER: "#d1495b",
    PROOF: "#0b7a75",
}


def draw(report: Report, path: Path) -> None:
    """Draw a report to a file; its suffix says in which format."""
    check(path)
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10.5, 4.4), dpi=160, layout="constrained")
    left, right = figure.subplots(1, 2)
    _after_k(left, report)
    _proven(right, report)
    figure.savefig(path)


def _after_k(axes: Any, report: Report) -> None:
    ks = [point.k for point in report.curve]
    for name, figure in (("% certificates", "certificates"), (f"% match K={K}", "match"), ("F1", "f1")):
        values = [getattr(point, figure) for point in report.curve]
        axes.plot(ks, values, color=_COLOURS[figure], marker="o", markersize=4, label=name)
    axes.set_title("The paper's method, stopped after K", loc="left", fontsize=11, fontweight="bold")
    axes.set_xlabel("at most K iterations")
    axes.set_ylabel("percent")
    _finish(axes)


def _proven(axes: Any, report: Report) -> None:
    for method in (PAPER, PROOF):
        rows = report.of(method)
        if rows:
            counts = np.sort([row.iterations if row.proven else np.inf for row in rows])
            share = 100 * np.arange(1, len(counts) + 1) / len(counts)
            axes.step(counts, share, where="post", color=_COLOURS[method], label=method)
    axes.set_xscale("log")
    axes.set_title("Sentences proven optimal", loc="left", fontsize=11, fontweight="bold")
    axes.set_xlabel("iterations")
    axes.set_ylabel("percent")
    _finish(axes)


def _finish(axes: Any) -> None:
    axes.grid(axis="y", color="#e6e6e6", linewidth=0.8)
    axes.legend(fontsize=8, frameon=False)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
