"""Shows the comparison of optimisers on a terminal, or writes it as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from certus_bench.claims import Claim
from certus_bench.relax.compare import AUTO, OPTIMIZERS, PAPER, PROOF, Report, Row
from certus_bench.report import claims_table, titled

JOINT = "parsing and tagging"


def claims(report: Report) -> list[Claim]:
    """Hold what is promised of the default against a report."""
    pairs = [(report.row(kind, AUTO), report.row(kind, PAPER)) for kind in report.plan.kinds]
    known = [(auto, paper) for auto, paper in pairs if auto is not None and paper is not None]
    least = min((auto.proven - paper.proven for auto, paper in known), default=None)
    auto, paper = report.row(JOINT, AUTO), report.row(JOINT, PAPER)
    ratio = auto.percentile(0.5) / paper.percentile(0.5) if auto is not None and paper is not None else None
    proofs = [row.proven for kind in report.plan.kinds if (row := report.row(kind, PROOF)) is not None]
    return [
        Claim("auto proves more than the paper's step does, without branching (least of all kinds)", 0, True,
              least, "points"),
        Claim(f"iterations of auto over the paper's step's, {JOINT} (median)", 0.5, False, ratio),
        Claim("proven with branching (least of all kinds)", 100, True, min(proofs, default=None), "%"),
    ]  # fmt: skip


def show(report: Report, console: Console) -> None:
    """Print the table of each kind, and the claims."""
    for kind in report.plan.kinds:
        console.print(titled(f"{kind}: {report.plan.count} problems", _table(report, kind)))
    console.print(claims_table(claims(report)))


def _table(report: Report, kind: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("optimizer", no_wrap=True)
    for name in ("proven", "iterations, median", "95 %", "mean gap", "ms", "branches"):
        table.add_column(name, justify="right", no_wrap=True)
    rows = [row for way in (*OPTIMIZERS, PROOF) if (row := report.row(kind, way)) is not None]
    fewest = min((row.percentile(0.5) for row in rows if row.optimizer != PROOF), default=0.0)
    for row in rows:
        table.add_row(*_cells(row, fewest))
    return table


def _cells(row: Row, fewest: float) -> list[Text]:
    median = row.percentile(0.5)
    return [
        Text(row.optimizer, "cyan" if row.optimizer in (AUTO, PROOF) else ""),
        Text(f"{row.proven:.0f} %"),
        Text(f"{median:.0f}", "bold green" if median <= fewest else ""),
        Text(f"{row.percentile(0.95):.0f}"),
        Text(f"{row.gap:.3g}"),
        Text(f"{1000 * row.seconds:.0f}"),
        Text(f"{row.nodes}"),
    ]


def as_json(report: Report) -> dict[str, Any]:
    """Return all of a report as what JSON can hold."""
    return {
        "plan": asdict(report.plan),
        "rows": [asdict(row) for row in report.rows],
        "claims": [claim.as_json() for claim in claims(report)],
    }
