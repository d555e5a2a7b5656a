"""Shows what the corpus benchmark found on a terminal, or writes it as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rich import box
from rich.console import Console, Group
from rich.table import Table

from certus_bench.corpus.claims import claims
from certus_bench.corpus.plan import Report, Row
from certus_bench.report import conclude, titled

_SHOWN = (1, 2, 5, 10, 20, 50, 100, 200)  # iterations


def show(report: Report, console: Console) -> None:
    """Print every table of a report."""
    console.print(accuracy(report))
    console.print(problems(report))
    if report.steps:
        console.print(steps(report))
    conclude(console, claims(report), report.machine)


def _table(*names: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD)
    for n, name in enumerate(names):
        table.add_column(name, justify="left" if n == 0 else "right", no_wrap=True)
    return table


def _name(row: Row) -> str:
    return f"{row.target}, {row.size}" + (", text" if row.text else "")


def accuracy(report: Report) -> Group:
    """Lay out accuracies by size of the training data (Rush et al. 2012, table 4)."""
    table = _table("target, sentences", "base %", "model %", "ER", "unknown base %", "model %", "ER", "p")
    for row in report.rows:
        table.add_row(
            _name(row),
            f"{row.base:.2f}", f"{row.model:.2f}", f"{row.reduction:.2f}",
            f"{row.base_unknown:.2f}", f"{row.model_unknown:.2f}", f"{row.unknown_reduction:.2f}",
            f"{row.p:.4f}",
        )  # fmt: skip
    return titled(f"accuracy on {report.plan.part}; ER: percent of the errors that are gone", table)


def problems(report: Report) -> Group:
    """Lay out how large the problems are, how they end, and what they cost."""
    table = _table(
        "target, sentences", "types", "words", "components", "iterations", "certified %", "memory s",
        "all s", "ratio", "command s", "all s", "ratio",
    )  # fmt: skip
    for row in report.rows:
        cells = ["–"] * 3
        if row.command is not None:
            cells = [*(f"{seconds:.2f}" for seconds in row.command), f"{row.command_cost:.2f}×"]
        table.add_row(
            _name(row), f"{row.nodes:,}", f"{row.constrained:,}", f"{row.components:,}", f"{row.iterations}",
            f"{row.certified:.2f}", f"{row.tagging.median:.2f}", f"{row.consistent.median:.2f}",
            f"{row.cost:.2f}×", *cells,
        )  # fmt: skip
    return titled(
        "problems, and their cost over sentence by sentence: from words in memory, and of certus tag", table
    )


def steps(report: Report) -> Group:
    """Lay out how fast the bound falls, in two ways."""
    table = _table("sentences, method", *(f"after {n}" for n in _SHOWN), "solved", "certified %", "s")
    for row in report.steps:
        cells = [f"{row.gaps[n - 1]:.2f}" if n <= len(row.gaps) else "" for n in _SHOWN]
        table.add_row(
            f"{row.size}, {row.method}",
            *cells,
            f"{row.solved:,}",
            f"{row.certified:.2f}",
            f"{row.seconds:.2f}",
        )
    return titled("the bound over the optimum after so many iterations, without text", table)


def as_json(report: Report) -> dict[str, Any]:
    """Return all of a report as what JSON can hold; times are in seconds."""
    plan = asdict(report.plan)
    return {
        "plan": {**plan, "data": str(report.plan.data)},
        "machine": report.machine,
        "rows": [asdict(row) for row in report.rows],
        "steps": [asdict(row) for row in report.steps],
        "claims": [claim.as_json() for claim in claims(report)],
    }
