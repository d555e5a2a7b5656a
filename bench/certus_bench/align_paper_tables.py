"""The tables and the picture of what ``align_paper`` measures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from rich.console import Group
from rich.text import Text

from certus_bench.align_paper import GROUPS, LIMIT, POINTS, SLOW, Curve, PaperPlan, PaperReport, ProgramRow
from certus_bench.harness import pictures
from certus_bench.harness.tables import add_title, make_table


def lay_out(report: PaperReport, plan: PaperPlan) -> Iterator[Group]:
    """Yield the tables."""
    table = make_table("solver", "words", "pairs", "proven %", "exact %", "mean s", "median s", "slowest s")
    for row in report.solvers:
        shares = [f"{100 * count / max(row.pairs, 1):.1f}" for count in (row.proven, row.exact)]
        times = [f"{x:.4f}" for x in (row.mean, row.median, row.slowest)]
        table.add_row(Text(row.solver, "cyan"), row.words, str(row.pairs), *shares, *times)
    yield add_title(f"table 1: joint decoding of two HMMs, at most {LIMIT:g} s per pair", table)
    table = make_table("table 3: constraints added where LR does not prove", *GROUPS)
    added = [row.constraints for row in report.solvers if row.solver == "CONS"]
    table.add_row("CONS", *("–" if count is None else f"{count:.1f}" for count in added))
    yield Group(table)
    if report.programs:
        yield _lay_out_programs(report.programs, plan)
    table = make_table("model", "merged by", "AER", "precision", "recall", "phrases: P", "R", "F1")
    for one in report.accuracy:
        figures = (one.precision, one.recall, one.phrase_precision, one.phrase_recall, one.phrase_f1)
        aer = f"{100 * one.aer:.2f} ({100 * one.aer_held_out:.2f})"
        table.add_row(Text(one.model, "cyan"), one.merge, aer, *(f"{100 * x:.1f}" for x in figures))
    yield add_title(f"table 2: links and phrase pairs, % (AER without the first {plan.tuning} pairs)", table)
    yield _lay_out_curves(report.curves)


def _lay_out_programs(rows: list[ProgramRow], plan: PaperPlan) -> Group:
    table = make_table("words", "HiGHS s", "proven", "Certus s", "same score", "HiGHS / Certus")
    for row in rows:
        words = f"{row.words[0]} and {row.words[1]}"
        ratio = f"{row.program_seconds / row.seconds:,.0f}"
        cells = [str(row.program_proven), f"{row.seconds:.4f}", str(row.same), ratio]
        table.add_row(words, f"{row.program_seconds:.1f}", *cells)
    mean = [float(np.mean([getattr(row, name) for row in rows])) for name in ("program_seconds", "seconds")]
    proven = sum(row.program_proven for row in rows)
    table.add_row(
        "mean", f"{mean[0]:.1f}", f"{proven}/{len(rows)}", f"{mean[1]:.4f}", "", f"{mean[0] / mean[1]:,.0f}"
    )
    return add_title(f"integer programs, HiGHS with at most {plan.program_seconds:g} s", table)


def _lay_out_curves(curves: list[Curve]) -> Group:
    table = make_table("figure 7, average", *(f"{point}" for point in POINTS))
    for curve in curves:
        for what in ("dual", "primal", "intersection", "space"):
            values = [getattr(curve, what)[point - 1] for point in POINTS]
            texts = [f"{value:.3f}" if what == "space" else f"{value:+.2f}" for value in values]
            table.add_row(Text(f"{curve.solver}: {what}", "cyan"), *texts)
    return add_title(
        "scores less the best one, and share of transitions left, after so many iterations", table
    )


def paint(report: PaperReport) -> Any:
    """Draw figures 7a and 7b."""
    figure = pictures.make_figure(10.5, 4.4)
    left, right = figure.subplots(1, 2)
    for curve in report.curves:
        style = ":" if curve.solver in SLOW else "-"
        places = range(1, len(curve.dual) + 1)
        for what, colour in (
            ("dual", pictures.RED),
            ("primal", pictures.TEAL),
            ("intersection", pictures.GREY),
        ):
            values = getattr(curve, what)
            left.plot(places, values, style, color=colour, label=f"{what}, {curve.solver}")
        right.plot(places, curve.space, style, color=pictures.BLUE, label=curve.solver)
    left.set_ylim(-100, 100)
    pictures.dress_axes(left, "Bound and scores less the best score", "iteration", "average over pairs")
    pictures.dress_axes(right, "Search space left by pruning", "iteration", "share of transitions")
    return figure
