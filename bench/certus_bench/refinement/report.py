"""Shows what the refinement benchmark found on a terminal, or writes it as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rich import box
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from certus_bench.refinement.claims import claims
from certus_bench.refinement.plan import Report, Trained
from certus_bench.report import conclude, titled

_TITLES = {
    "states": "chunk tags from parts of speech, CoNLL-2000: accuracy by hidden states (figures 5 and 8)",
    "ablation": "what features and smoothing bring (figure 7)",
    "words": "chunk tags from parts of speech and frequent words",
}


def show(report: Report, console: Console) -> None:
    """Print every table of a report."""
    if report.plan.quick:
        console.print(Text("quick: little was learned, so the figures say nothing", "yellow"))
    if report.errors:
        console.print(_errors(report))
    for part, title in _TITLES.items():
        rows = [row for row in report.trained if row.part == part]
        if rows:
            console.print(_models(title, rows))
    conclude(console, claims(report), report.machine)


def _errors(report: Report) -> Group:
    table = Table(box=box.SIMPLE_HEAD)
    for name in ("sentences", *dict.fromkeys(row.what for row in report.errors), "spectral, s", "EM, s"):
        table.add_column(name, justify="right")
    for size in dict.fromkeys(row.sentences for row in report.errors):
        found = {row.what: row for row in report.errors if row.sentences == size}
        table.add_row(
            f"{size:,}",
            *(f"{row.relative:.4f}" for row in found.values()),
            f"{found['spectral'].seconds:.2f}",
            f"{found['EM'].seconds:.2f}",
        )
    slope = "" if report.slope is None else f"; slope of spectral {report.slope:.2f}"
    return titled(f"relative error of marginals, sentences drawn from a known model{slope}", table)


def _models(title: str, rows: list[Trained]) -> Group:
    table = Table(box=box.SIMPLE_HEAD)
    for name in ("model", "m", "dev, %", "test, %", "training, s", "mended", "restart, iteration"):
        table.add_column(name, justify="left" if name == "model" else "right")
    for row in rows:
        chosen = "" if row.chosen is None else f"{row.chosen[0] + 1} of {row.restarts}, {row.chosen[1]}"
        cells = (f"{row.dev:.2f}", f"{row.test:.2f}", f"{row.seconds:.2f}", str(row.mended or ""), chosen)
        table.add_row(row.what, str(row.hidden), *cells)
    return titled(title, table)


def as_json(report: Report) -> dict[str, Any]:
    """Return all of a report as what JSON can hold; times are in seconds."""
    plan = asdict(report.plan)
    return {
        "plan": {**plan, "data": str(report.plan.data), "only": sorted(report.plan.only)},
        "machine": report.machine,
        "errors": [asdict(row) for row in report.errors],
        "slope": report.slope,
        "trained": [asdict(row) for row in report.trained],
        "claims": [claim.as_json() for claim in claims(report)],
    }
