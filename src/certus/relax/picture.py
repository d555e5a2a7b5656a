"""Draws the trace of a solve: the bound comes down, the best score goes up, the optimum is between them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from certus.errors import CertusError, InvalidInput
from certus.storage.figures import save_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DUAL, PRIMAL, BETWEEN = "#d1495b", "#0b7a75", "#f3e9d2"


class Curves(Protocol):
    """What is drawn, one number per iteration: see certus.relax.Trace."""

    dual: list[float]
    bound: list[float]
    primal: list[float]
    best: list[float]
    node: list[int]


def draw_curves(trace: Curves, path: str | Path | None = None, title: str | None = None) -> Figure:
    """Return a matplotlib figure of a trace; write it to a file if a path is given."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise CertusError("drawing needs matplotlib: pip install 'certus[plot]'") from None
    if not trace.dual:
        raise InvalidInput("there is nothing to draw: the trace has no iterations")
    figure = Figure(figsize=(7.5, 4.2), dpi=160, layout="constrained")
    axes = figure.add_subplot()
    rounds = np.arange(1, len(trace.dual) + 1)
    bound, best = np.array(trace.bound), np.array(trace.best)
    best[best == -np.inf] = np.nan
    axes.fill_between(rounds, best, bound, step="post", color=BETWEEN, label="where the optimum can be")
    axes.plot(rounds, trace.dual, ".", color=DUAL, alpha=0.35, markersize=4, label="dual")
    axes.step(rounds, bound, where="post", color=DUAL, label="bound")
    axes.plot(rounds, trace.primal, ".", color=PRIMAL, alpha=0.5, markersize=4, label="score of a whole")
    axes.step(rounds, best, where="post", color=PRIMAL, label="best score")
    _frame_gap(axes, trace.dual, bound, best)
    _mark_branches(axes, trace.node)
    axes.set_ylabel("score")
    if title:
        axes.set_title(title, loc="left", fontsize=11, fontweight="bold")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    figure.legend(loc="outside lower center", ncols=5, fontsize=8, frameon=False)
    if path is not None:
        save_figure(figure, path)
    return figure


def _frame_gap(
    axes: Axes, dual: Sequence[float], bound: NDArray[np.float64], best: NDArray[np.float64]
) -> None:
    """Show the gap, not the first duals, which may be far above all that follows."""
    known = best[~np.isnan(best)]
    low = float(known.min()) if len(known) else float(bound.min())
    high = float(np.quantile(dual, 0.9))
    room = 0.08 * max(high - low, 1e-9 * abs(high), 1e-300)
    axes.set_ylim(low - room, max(high, low) + room)


def _mark_branches(axes: Axes, node: Sequence[int]) -> None:
    """Draw a line where an iteration is in another branch than the one before it."""
    branched = [i + 1 for i in range(1, len(node)) if node[i] != node[i - 1]]
    for i in branched[:200]:
        axes.axvline(i, color="#cccccc", linewidth=0.6, zorder=0)
    axes.set_xlabel("iteration" + (" (grey lines: a new branch)" if branched else ""))
