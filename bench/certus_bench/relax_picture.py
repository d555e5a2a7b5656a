"""The picture of ``certus bench relax``: how far from the best score each solver was, over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certus_bench.harness import pictures
from certus_bench.relax_solvers import Proof

FIRST = 1e-4  # seconds at which the picture begins
LEAST = 1e-3  # percent that are drawn as nothing
COLOURS = {
    "certus": pictures.TEAL,
    "certus, no clusters": pictures.GREY,
    "HiGHS": pictures.BLUE,
    "CP-SAT": pictures.ORANGE,
    "toulbar2": pictures.RED,
    "toulbar2, VAC": pictures.PURPLE,
    "AD3, exact": pictures.OLIVE,
}


def paint_paths(runs: Mapping[str, Mapping[str, Sequence[Proof]]], patience: float) -> Any:
    """Draw a panel for each kind of problem; ``runs`` are by kind and solver, one proof per problem."""
    if not runs:
        raise pictures.NothingToDraw("the picture shows factor graphs, and this run solved none")
    columns = min(len(runs), 3)
    rows = -(-len(runs) // columns)
    figure = pictures.make_figure(3.6 * columns, 3.0 * rows + 0.4)
    panels = np.ravel(figure.subplots(rows, columns, sharex=True, sharey=True))
    for unused in panels[len(runs) :]:
        unused.set_visible(False)
    for lowest in panels[len(runs) - columns : len(runs)]:
        lowest.tick_params(labelbottom=True)
    times = np.geomspace(FIRST, patience, 200)
    for axes, (kind, by_solver) in zip(panels, runs.items(), strict=False):
        best = [max(proof.score for proof in proofs) for proofs in zip(*by_solver.values(), strict=True)]
        for solver, proofs in by_solver.items():
            gaps = np.mean(
                [measure_gaps(proof, most, times) for proof, most in zip(proofs, best, strict=True)], axis=0
            )
            colour, width = COLOURS.get(solver, pictures.GREY), 2.4 if solver == "certus" else 1.4
            axes.plot(times, np.maximum(gaps, LEAST), color=colour, linewidth=width, label=solver)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_ylim(LEAST, 150)
        pictures.dress_axes(axes, kind, legend=False)
    figure.supxlabel("seconds", fontsize=10)
    figure.supylabel("% below the best score, in the mean", fontsize=10)
    lines, names = panels[0].get_legend_handles_labels()
    figure.legend(lines, names, loc="outside upper center", ncols=len(names), fontsize=8, frameon=False)
    return figure


def measure_gaps(proof: Proof, best: float, times: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how far below the best score the answer was at each time, in percent; 100 before any."""
    gaps = np.full(len(times), 100.0)
    for when, score in proof.path:
        gap = 100 * (best - score) / max(abs(best), 1e-12)
        gaps[times >= when] = min(100.0, max(gap, 0.0))
    return gaps
