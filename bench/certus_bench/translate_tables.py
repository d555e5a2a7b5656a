"""The promises, tables and picture of ``certus bench translate``."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from rich.console import Group

from certus.translate import SearchTrace
from certus_bench.harness import pictures
from certus_bench.harness.claims import Claim, divide
from certus_bench.harness.tables import add_title, make_table
from certus_bench.translate_report import OPTIMAL, PROGRAM, RELAXED, SHORT, TranslateReport
from certus_bench.translate_systems import TOY


def make_claims(report: TranslateReport) -> list[Claim]:
    """Return what has to hold."""
    claims = []
    for system in report.plan.languages:
        for limit in report.plan.limits:
            where = f"{system}, limit {limit}"
            ours, theirs = report.find(system, limit, OPTIMAL), report.find(system, limit, RELAXED)
            if ours is None:
                continue
            needed = 100.0 if system == TOY else 99.5
            claims.append(Claim(f"{where}: certified", needed, True, ours.certified, " %"))
            claims.append(Claim(f"{where}: median seconds", 0.3, False, ours.median, " s"))
            claims.append(Claim(f"{where}: mean seconds", 1.0, False, ours.seconds, " s"))
            claims.append(Claim(f"{where}: scored higher by others", 0, False, report.lower[where], ""))
            for name, bleu in report.bleu.get(where, {}).items():
                if name.startswith("stack"):
                    measured = report.bleu[where][OPTIMAL]
                    claims.append(Claim(f"{where}: BLEU against {name}", bleu, True, measured, ""))
            if theirs is not None:
                same = statistics.fmean(report.first[where][: theirs.sentences])
                claims.append(
                    Claim(f"{where}: over relaxation alone", 3.5, True, divide(theirs.seconds, same))
                )
            program = report.program.get(where)
            if program is not None:
                claims.append(Claim(f"{where}: over HiGHS", 50, True, divide(program.theirs, program.ours)))
    return claims


def lay_out(report: TranslateReport) -> Iterator[Group | str]:
    """Yield a table for each system and limit, and those of parts, gaps and BLEU."""
    for system in report.plan.languages:
        for limit in report.plan.limits:
            table = make_table(
                "decoder", "words", "sentences", "mean s", "median s", "certified %", "exact %"
            )
            for line in report.lines:
                if (line.system, line.limit) == (system, limit):
                    name = "all" if line.words == (1, 1000) else f"{line.words[0]}–{line.words[1]}"
                    figures = f"{line.seconds:.3f}", f"{line.median:.3f}", f"{line.certified:.1f}"
                    table.add_row(line.decoder, name, str(line.sentences), *figures, f"{line.exact:.1f}")
            yield add_title(f"{system}, distortion limit {limit}", table)
    table = make_table("optimal beam search", "graph %", "relaxation %", "beams %")
    for system, parts in report.parts.items():
        table.add_row(system, *(f"{part:.1f}" for part in parts))
    yield add_title("where the time goes", table)
    table = make_table("rounds of relaxation", "system", "median gap", "mean gap", "gap below 0.001 %")
    for one in report.gaps:
        if one.gaps:
            closed = 100 * sum(gap < 1e-3 for gap in one.gaps) / len(one.gaps)
            figures = (
                f"{statistics.median(one.gaps):.3f}",
                f"{statistics.fmean(one.gaps):.3f}",
                f"{closed:.1f}",
            )
            table.add_row(str(one.rounds), f"{one.system}, limit {one.limit}", *figures)
    yield add_title("gaps", table)
    table = make_table(PROGRAM, "sentences", "solved", "seconds", "optimal beam search")
    for system, times in report.program.items():
        table.add_row(
            system, str(times.sentences), str(times.solved), f"{times.theirs:.2f}", f"{times.ours:.4f}"
        )
    yield add_title(f"sentences of at most {SHORT} words", table)
    table = make_table("BLEU", *report.plan.decoders)
    for system, found in report.bleu.items():
        table.add_row(
            system, *(f"{found[name]:.2f}" if name in found else "" for name in report.plan.decoders)
        )
    yield add_title("BLEU of all sentences", table)


def paint(report: TranslateReport) -> Any:
    """Draw how the gap of the longest search closed, and how small gaps are after some rounds."""
    if not any(one.gaps for one in report.gaps) or report.longest is None:
        raise pictures.NothingToDraw("no gap was measured")
    figure = pictures.make_figure(10, 4.2)
    left, right = figure.subplots(1, 2)
    system, trace = report.longest
    milliseconds = 1000 * trace.seconds
    left.plot(milliseconds, trace.bound, color=pictures.RED, label="bound")
    left.plot(milliseconds, trace.score, color=pictures.BLUE, label="best translation")
    left.set_ylim(*_frame_gap(trace))
    pictures.dress_axes(left, f"The longest search of {system}", "milliseconds", "score")
    first = next(one for one in report.gaps if one.gaps)
    shown = [one for one in report.gaps if (one.system, one.limit) == (first.system, first.limit)]
    for one, colour in zip(shown, (pictures.RED, pictures.BLUE, pictures.TEAL), strict=True):
        gaps = sorted(one.gaps)
        shares = [100 * (n + 1) / len(gaps) for n in range(len(gaps))]
        right.plot(gaps, shares, color=colour, label=f"{one.rounds} rounds")
    title = f"Bounds of relaxation, {first.system}, distortion limit {first.limit}"
    pictures.dress_axes(right, title, "gap", "% of sentences")
    return figure


def _frame_gap(trace: SearchTrace) -> tuple[float, float]:
    """Return the least and the highest score to show: what comes after the first fall of the bound."""
    scores = [score for score in trace.score.tolist() if score > -float("inf")]
    falls = [before - after for before, after in pairwise(trace.bound.tolist())]
    top = trace.bound[1] if falls and falls[0] > max(falls[1:], default=0.0) else trace.bound[0]
    margin = 0.05 * (top - scores[0]) + 0.01
    return scores[0] - margin, top + margin
