"""Shows a benchmark report on a terminal, or writes it as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from certus.storage.files import atomic
from certus_bench.claims import Claim, claims
from certus_bench.entries import entries
from certus_bench.plan import Report, Row

_COLOURS = {"certus": "cyan", "rival": "yellow", "floor": "dim"}


def show(report: Report, console: Console) -> None:
    """Print every table of a report."""
    for lattice in report.plan.lattices:
        for k in sorted({row.k for row in report.rows if row.lattice == lattice}):
            console.print(_times(report, lattice, k))
    if report.whole:
        console.print(_whole(report))
    conclude(console, claims(report), report.machine, report.failures)


def microseconds(seconds: float) -> str:
    """Write a time in microseconds with three digits that count."""
    value = seconds * 1e6
    return f"{value:,.0f}" if value >= 99.95 else f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"


def _times(report: Report, lattice: str, k: int) -> Group:
    """Rows are methods, columns are sizes: the median, and the quartiles beside it."""
    rows = [row for row in report.rows if row.lattice == lattice and row.k == k]
    title = f"{lattice} lattices, k={k}: µs a sentence, median [quartiles], {report.plan.dtype}"
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("method", no_wrap=True)
    sizes = report.plan.sizes
    for labels, length in sizes:
        table.add_column(f"L={labels:,} T={length}", justify="right", no_wrap=True)
    fastest = {size: _fastest(rows, size) for size in sizes}
    order = [entry.name for entry in entries()]
    for method in sorted({row.method for row in rows}, key=order.index):
        cells = {row.size: row for row in rows if row.method == method}
        kind = next(iter(cells.values())).kind
        times = [_cell(cells.get(size), fastest[size]) for size in sizes]
        table.add_row(Text(method, _COLOURS[kind]), *times)
    if any(row.once for row in rows):
        table.caption = "* so slow that one call on one sentence had to do"
    return titled(title, table)


def titled(title: str, table: Table) -> Group:
    """Put a title above a table, at the left."""
    return Group(Text(title, "bold"), table)


def _fastest(rows: list[Row], size: tuple[int, int]) -> float:
    return min((row.spread.median for row in rows if row.size == size and row.kind != "floor"), default=0.0)


def _cell(row: Row | None, fastest: float) -> Text:
    if row is None:
        return Text("–", "dim")
    median = row.spread.median
    text = Text(microseconds(median), "bold green" if median <= fastest else "")
    quartiles = "*" if row.once else f" [{microseconds(row.spread.low)}–{microseconds(row.spread.high)}]"
    return text.append(quartiles, "not bold dim")


def _whole(report: Report) -> Group:
    title = f"whole calls: µs a sentence, median [quartiles], {report.plan.dtype}"
    table = Table(box=box.SIMPLE_HEAD)
    for name in ("L×T", "method", "what", "µs", "", "of what"):
        table.add_column(name, justify="right" if name == "µs" else "left", no_wrap=name != "of what")
    for item in report.whole:
        spread = item.spread
        table.add_row(
            f"{item.labels}×{item.length}",
            Text(item.method, _COLOURS["certus"]),
            item.what,
            microseconds(spread.median),
            Text(f"[{microseconds(spread.low)}–{microseconds(spread.high)}]", "dim"),
            Text(item.detail, "dim"),
        )
    return titled(title, table)


def conclude(
    console: Console, made: Sequence[Claim], machine: dict[str, Any], failures: Sequence[str] = ()
) -> None:
    """Print what all benchmarks end with: the claims, the machine, and what was wrong."""
    console.print(claims_table(made))
    console.print(Text(machine_line(machine), "dim"))
    for failure in failures:
        console.print(Text(f"FAILED  {failure}", "bold red"))


def claims_table(made: Sequence[Claim]) -> Group:
    """Lay out claims: what is needed, what was measured, whether it holds."""
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("claim")
    for name in ("needed", "measured", ""):
        table.add_column(name, justify="right", no_wrap=True)
    verdicts = {True: Text("pass", "green"), False: Text("FAIL", "bold red"), None: Text("not run", "dim")}
    for claim in made:
        measured = "–" if claim.measured is None else amount(claim.measured, claim.unit)
        needed = f"{'≥' if claim.least else '≤'} {_plain(claim.needed)}{_unit(claim.unit)}"
        table.add_row(claim.text, needed, measured, verdicts[claim.holds])
    return titled("what has to hold", table)


def amount(value: float, unit: str) -> str:
    """Write a figure with the digits that its unit deserves."""
    if unit in ("%", "points"):
        return f"{value:.2f}{_unit(unit)}"
    return (f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}") + _unit(unit)


def _unit(unit: str) -> str:
    return unit if unit in ("×", "/s") else f" {unit}"


def _plain(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:g}"


def machine_line(about: dict[str, Any]) -> str:
    """Say in a line what the figures were taken on."""
    names = (
        ", ".join(f"{name} {version}" for name, version in about["rivals"].items()) or "none of the rivals"
    )
    return (
        f"{about['processor']}, {about['cores']} cores; Python {about['python']}, NumPy {about['numpy']}, "
        f"Certus {about['certus']}; beside it: {names}"
    )


def as_json(report: Report) -> dict[str, Any]:
    """Return all of a report as what JSON can hold; times are in seconds."""
    return {
        "plan": asdict(report.plan),
        "machine": report.machine,
        "rows": [asdict(row) for row in report.rows],
        "whole": [asdict(item) for item in report.whole],
        "claims": [claim.as_json() for claim in claims(report)],
        "failures": report.failures,
    }


def store(content: Any, path: Path) -> None:
    """Write JSON so that the file is either all there or not there."""
    with atomic(path) as file:
        json.dump(content, file, indent=1)
        file.write("\n")
