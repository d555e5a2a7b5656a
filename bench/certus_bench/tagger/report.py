"""Shows what the tagger benchmark found on a terminal, or writes it as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.text import Text

from certus_bench.report import conclude
from certus_bench.tagger import tables
from certus_bench.tagger.claims import claims
from certus_bench.tagger.decoders import SMALL
from certus_bench.tagger.plan import Report


def show(report: Report, console: Console) -> None:
    """Print every table of a report."""
    if report.plan.quick:
        console.print(Text("quick: little was learned, so accuracy and training times say nothing", "yellow"))
    for k in sorted({row.k for row in report.rows if row.k <= 5}):
        console.print(tables.speeds(report.rows, k))
    if any(row.k > 1 for row in report.rows):
        console.print(tables.rounds(report.rows))
        if any(row.lattice == SMALL for row in report.rows):
            console.print(tables.over_k(report.rows, SMALL))
    if report.learning:
        console.print(tables.learning(report.learning))
    if report.orders:
        console.print(tables.models(report.orders, "orders of CRFs, on dev"))
    if report.tasks:
        console.print(tables.models(report.tasks, "tasks, on test"))
    if report.startup:
        console.print(tables.startup(report.startup))
    conclude(console, claims(report), report.machine, report.failures)


def as_json(report: Report) -> dict[str, Any]:
    """Return all of a report as what JSON can hold; times are in seconds."""
    plan = asdict(report.plan)
    return {
        "plan": {**plan, "data": str(report.plan.data), "only": sorted(report.plan.only)},
        "machine": report.machine,
        "decoders": [asdict(row) for row in report.rows],
        "training": [{**asdict(row), "extrapolated": row.extrapolated} for row in report.learning],
        "orders": [asdict(row) for row in report.orders],
        "tasks": [asdict(row) for row in report.tasks],
        "startup": None if report.startup is None else asdict(report.startup),
        "claims": [claim.as_json() for claim in claims(report)],
        "failures": report.failures,
    }
