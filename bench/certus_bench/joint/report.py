"""Shows what the joint benchmark found on a terminal, or writes it as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.text import Text

from certus_bench.joint import tables
from certus_bench.joint.claims import claims
from certus_bench.joint.plan import Report
from certus_bench.report import conclude


def show(report: Report, console: Console) -> None:
    """Print every table of a report."""
    if report.plan.quick:
        console.print(Text("quick: little was learned, so the figures say nothing", "yellow"))
    for made in (
        tables.tuning(report),
        tables.convergence(report),
        tables.effort(report),
        tables.quality(report.quality),
        tables.curve(report.curve),
    ):
        console.print(made)
    if report.timed:
        console.print(tables.highs(report.timed))
    conclude(console, claims(report), report.machine, report.failures)


def as_json(report: Report) -> dict[str, Any]:
    """Return all of a report as what JSON can hold; times are in seconds."""
    return {
        "plan": {**asdict(report.plan), "data": str(report.plan.data)},
        "machine": report.machine,
        "weight": report.weight,
        "tuning": report.tuning,
        "solved": [asdict(row) for row in report.solved],
        "quality": [asdict(row) for row in report.quality],
        "curve": [asdict(row) for row in report.curve],
        "highs": [asdict(row) for row in report.timed],
        "claims": [claim.as_json() for claim in claims(report)],
        "failures": report.failures,
    }
