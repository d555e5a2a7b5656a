"""Shows what the latent benchmark found on a terminal, or writes it as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rich import box
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from certus_bench.latent.claims import claims
from certus_bench.latent.plan import STEPS, Report, TaskReport
from certus_bench.report import conclude, titled

_SHOWN = (1, 10, 100, 400, 800, 2000)  # latent paths whose mass is printed


def show(report: Report, console: Console) -> None:
    """Print every table of a report."""
    if report.plan.quick:
        console.print(Text("quick: little was learned, so quality and times say little", "yellow"))
    for task in report.tasks:
        console.print(_table(task))
        console.print(_curves(task))
        console.print(_concentration(task))
    conclude(console, claims(report), report.machine)


def _columns(*names: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD)
    for n, name in enumerate(names):
        table.add_column(name, justify="right" if n else "left", no_wrap=True)
    return table


def _table(task: TaskReport) -> Group:
    """Tables 3, 4 and 5 of the paper."""
    table = _columns("", "S.A.", "Pre.", "Rec.", "F1", "seconds", "exact %", "paths", "prefixes")
    for row in task.rows:
        figures = (row.sentences, row.precision, row.recall, row.f1)
        table.add_row(
            row.name,
            *(f"{x:.2f}" for x in figures),
            f"{row.seconds:.2f}",
            f"{row.exact:.1f}",
            f"{row.paths:,.1f}",
            f"{row.prefixes:,.1f}",
        )
    learned = ", ".join(
        f"{name} {task.seconds[name]:.0f} s ({task.iterations[name]} iterations)" for name in task.seconds
    )
    table.caption = (
        f"{task.learned:,} sentences to learn from, {task.measured:,} to test; {task.states} latent states, "
        f"{task.features:,} features; learning: {learned}"
    )
    return titled(f"{task.task}: {task.title}", table)


def _curves(task: TaskReport) -> Group:
    """Figures 4 and 5 of the paper, by both bounds."""
    head = (
        f"{what}, {bound}" for what in ("F1", "exact %", "paths", "seconds") for bound in ("mass", "label")
    )
    table = _columns("n", *head)
    for steps in STEPS:
        rows = [task.point(bound, steps) for bound in ("mass", "label")]
        cells = [
            "–" if row is None else f"{getattr(row, what):,.{digits}f}"
            for what, digits in (("f1", 2), ("exact", 1), ("paths", 1), ("seconds", 2))
            for row in rows
        ]
        table.add_row(f"{steps:,}", *cells)
    return titled(f"{task.task}: LDI stopped after n latent paths", table)


def _concentration(task: TaskReport) -> Text:
    """Figure 2 of the paper."""
    shown = [n for n in _SHOWN if n <= len(task.concentration)]
    masses = ", ".join(f"{n:,}: {100 * task.concentration[n - 1]:.1f} %" for n in shown)
    return Text(f"{task.task}: mass of the best latent paths, on average: {masses}\n")


def as_json(report: Report) -> dict[str, Any]:
    """Return all of a report as what JSON can hold; times are in seconds."""
    plan = asdict(report.plan)
    return {
        "plan": {**plan, "data": str(report.plan.data), "only": sorted(report.plan.only)},
        "machine": report.machine,
        "tasks": [asdict(task) for task in report.tasks],
        "claims": [claim.as_json() for claim in claims(report)],
    }
