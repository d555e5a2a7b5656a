"""Lays out what the joint benchmark found, in the shape of the paper's tables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from rich import box
from rich.console import Group
from rich.table import Table

from certus_bench.joint.plan import PAPER, PATIENCE, PROOF, AtK, K, Quality, Report, Timed, buckets
from certus_bench.report import titled
from certus_bench.timing import Spread

_TABLE_1 = {"1": 58.7, "2": 15.4, "3": 6.3, "4": 3.6, "5-10": 10.3, "11-20": 3.8, "21-50": 0.8, "**": 1.1}
_TABLE_3 = (
    Quality("paper: fixed tags", 88.1, 87.6, 87.9, 96.7, 2416, 0),
    Quality("paper: DD combination", 88.7, 88.0, 88.3, 97.1, 2416, 0),
)


def convergence(report: Report) -> Group:
    """Percent of sentences by iterations until the certificate (Rush et al. 2010, table 1)."""
    table = _table("iterations", *_TABLE_1)
    table.add_row("paper, Collins' parser, section 23", *(f"{share:.1f}" for share in _TABLE_1.values()))
    for method in (PAPER, PROOF):
        rows = report.of(method)
        if rows:
            table.add_row(method, *(f"{share:.1f}" for share in buckets(rows, K).values()))
    return titled(f"sentences with a certificate after so many iterations, %; ** none after {K}", table)


def effort(report: Report) -> Group:
    """Lay out iterations, branches and times of every way of solving."""
    table = _table(
        "method", "proven %", "mean", "median", "95 %", "99 %", "most", "branched", "ms a sentence"
    )
    for method in (PAPER, PROOF):
        rows = report.of(method)
        if not rows:
            continue
        counts = [row.iterations for row in rows]
        spread = Spread.of([row.seconds for row in rows]).scaled(1e3)
        table.add_row(
            method,
            f"{100 * sum(row.proven for row in rows) / len(rows):.1f}",
            f"{np.mean(counts):.1f}",
            *(f"{report.iterations(method, share):.0f}" for share in (0.5, 0.95, 0.99, 1.0)),
            str(sum(row.nodes > 1 for row in rows)),
            f"{spread.median:.1f} [{spread.low:.1f}–{spread.high:.1f}]",
        )
    return titled(f"iterations until the certificate; the paper's method gets at most {PATIENCE}", table)


def quality(rows: Sequence[Quality]) -> Group:
    """Brackets and tags (Rush et al. 2010, table 3)."""
    table = _table("", "precision", "recall", "F1", "tags", "sentences", "unparsed")
    for row in (*_TABLE_3, *rows):
        figures = (row.precision, row.recall, row.f1, row.tags)
        table.add_row(row.what, *(f"{x:.2f}" for x in figures), f"{row.sentences:,}", str(row.unparsed))
    return titled("labelled brackets and tags, %", table)


def curve(points: Sequence[AtK]) -> Group:
    """Lay out what is known after K iterations of the paper's method (Rush et al. 2010, figure 5)."""
    table = _table("K", *(str(point.k) for point in points))
    for name, figure in (("F1", "f1"), ("certificates", "certificates"), (f"match K={K}", "match")):
        table.add_row(name, *(f"{getattr(point, figure):.2f}" for point in points))
    return titled("after at most K iterations of the paper's method, %", table)


def tuning(report: Report) -> Group:
    """How the weight was chosen."""
    table = _table("weight", *(f"{weight:g}" for weight, _, _ in report.tuning))
    table.add_row("F1", *(f"{f1:.2f}" for _, f1, _ in report.tuning))
    table.add_row("tags", *(f"{tags:.2f}" for _, _, tags in report.tuning))
    return titled(f"held out from the training trees, %; the weight is {report.weight:g}", table)


def highs(rows: Sequence[Timed]) -> Group:
    """Lay out times beside HiGHS: median and quartiles over sentences."""
    table = _table("", "ms a sentence", "times ours")
    for name, figure in (
        ("Certus, words to proof", "ours"),
        ("HiGHS, linear, the forest given", "linear"),
        ("HiGHS, integer, the forest given", "integer"),
        ("HiGHS, integer, forest cut by the fixed tags' tree, from words", "cut"),
    ):
        pairs = [(time, row.ours) for row in rows if (time := getattr(row, figure)) is not None]
        if pairs:
            times = Spread.of([time for time, _ in pairs]).scaled(1e3)
            table.add_row(name, _spread(times), _spread(Spread.of([time / ours for time, ours in pairs])))
    whole = sum(row.whole for row in rows)
    size = Spread.of([float(row.variables) for row in rows])
    table.caption = (
        f"{len(rows)} sentences of 15-25 words; {size.median:,.0f} variables; "
        f"the relaxation is whole for {whole}"
    )
    return titled("the same problem as a program, median [quartiles]", table)


def _spread(spread: Spread) -> str:
    return f"{spread.median:,.1f} [{spread.low:,.1f}–{spread.high:,.1f}]"


def _table(first: str, *others: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column(first, no_wrap=True)
    for name in others:
        table.add_column(name, justify="right", no_wrap=True)
    return table
