"""Draws the time of later iterations relative to the first (Rush et al. 2012, figure 3)."""

from __future__ import annotations

from pathlib import Path

from certus.errors import CertusError
from certus_bench.corpus.plan import Report
from certus_bench.picture import check

_COLOURS = ("#0b7a75", "#3d5a98", "#8f6bb3", "#e08e45", "#d1495b")


def draw(report: Report, path: Path) -> None:
    """Draw the iterations of a report's runs to a file; its suffix says in which format."""
    check(path)
    rows = [row for row in report.rows if row.shares and row.target == report.plan.targets[0]]
    if not rows:
        raise CertusError(f"there is nothing to draw in {path.name}: no run took an iteration")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.4), dpi=160, layout="constrained")
    axes = figure.subplots()
    for row in rows:
        colour = _COLOURS[report.plan.sizes.index(row.size) % len(_COLOURS)]
        shares = [100 * share for share in row.shares]
        style = "-" if row.text else ":"
        label = f"{row.size} sentences" + (", text added" if row.text else "")
        axes.plot(range(1, len(shares) + 1), shares, style, color=colour, linewidth=1.8, label=label)
    axes.set_xlabel("iteration")
    axes.set_ylabel("percent of the time of decoding all once")
    title = f"EWT {rows[0].target}: iterations get cheap"
    axes.set_title(title, loc="left", fontsize=11, fontweight="bold")
    axes.grid(axis="y", color="#e6e6e6", linewidth=0.8)
    axes.legend(fontsize=8, frameon=False)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    figure.savefig(path)
