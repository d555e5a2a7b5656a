"""Lays out what was found for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich import box
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from certus_bench.harness.claims import Claim
from certus_bench.harness.timing import Spread

BUSY = (
    "A line can fail because the machine was busy with other work, or because a quick run measures little: "
    "run it again on an idle machine, without --quick, before you believe it."
)


def make_table(first: str, *others: str) -> Table:
    """Return a table whose first column is names, at the left, and the others figures, at the right."""
    table = Table(box=box.SIMPLE_HEAD)
    for number, name in enumerate((first, *others)):
        table.add_column(name, justify="right" if number else "left", no_wrap=True)
    return table


def add_title(title: str, table: Table) -> Group:
    """Put a title above a table, at the left."""
    return Group(Text(title, "bold"), table)


def warn_of_quick(what: str) -> Text:
    """Say what the figures of a quick run are worth."""
    return Text(f"quick: little was learned, so {what}", "yellow")


def conclude(
    console: Console, made: Sequence[Claim], machine: dict[str, Any], failures: Sequence[str] = ()
) -> None:
    """Print what all benchmarks end with: the claims, the machine, and what was wrong."""
    console.print(lay_out_claims(made))
    if any(claim.holds is False for claim in made):
        console.print(Text(BUSY, "yellow"))
    console.print(Text(describe_in_a_line(machine), "dim"))
    for failure in failures:
        console.print(Text(f"FAILED  {failure}", "bold red"))


def lay_out_claims(made: Sequence[Claim]) -> Group:
    """Lay out claims: what is needed, what was measured, whether it holds."""
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("claim")
    for name in ("needed", "measured", ""):
        table.add_column(name, justify="right", no_wrap=True)
    verdicts = {True: Text("pass", "green"), False: Text("FAIL", "bold red"), None: Text("not run", "dim")}
    for claim in made:
        measured = "–" if claim.measured is None else format_amount(claim.measured, claim.unit)
        limit = f"{claim.needed:,.0f}" if claim.needed >= 1000 else f"{claim.needed:g}"
        needed = f"{'≥' if claim.least else '≤'} {limit}{_space_unit(claim.unit)}"
        table.add_row(claim.text, needed, measured, verdicts[claim.holds])
    return add_title("what has to hold", table)


def format_amount(value: float, unit: str) -> str:
    """Write a figure with the digits that its unit deserves."""
    text = f"{value:.2f}" if unit in ("%", "points") else format_number(value)
    return text + _space_unit(unit)


def format_number(value: float) -> str:
    """Write a number with three digits that count, or whole."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def format_spread(spread: Spread, digits: str = ",.1f") -> str:
    """Write a median with its quartiles."""
    return f"{spread.median:{digits}} [{spread.low:{digits}}–{spread.high:{digits}}]"


def _space_unit(unit: str) -> str:
    return unit if unit in ("×", "/s") else f" {unit}"


def describe_in_a_line(about: dict[str, Any]) -> str:
    """Say in a line what the figures were taken on."""
    beside = ", ".join(f"{name} {version}" for name, version in about["rivals"].items())
    return (
        f"{about['processor']}, {about['cores']} cores; Python {about['python']}, NumPy {about['numpy']}, "
        f"Certus {about['certus']}" + (f"; beside it: {beside}" if beside else "")
    )
