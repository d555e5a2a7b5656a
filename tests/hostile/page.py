"""``make robustness``: writes the tables of docs/robustness.md from what the last runs left in build/.

``make properties``, ``make fuzz`` and ``make peers`` leave their reports there; those of the first two add up
over runs, until ``make clean``. A table without a report stays as it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "robustness.md"
REPORTS = {
    "properties": ROOT / "build" / "properties.jsonl",
    "fuzz": ROOT / "build" / "fuzz" / "reports.jsonl",
    "peers": ROOT / "build" / "peers" / "report.json",
}


def make_table(heading: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Return a table in Markdown; numbers get commas."""
    lines = [list(heading), ["---" for _ in heading]]
    lines += [[f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def tabulate_properties(text: str) -> str:
    """Tabulate the lines that ``compared`` of tests/hostile/conftest.py wrote, added up by property."""
    names = ("answers", "proven", "infeasible", "refused", "failed")
    sums = add_up([json.loads(line) for line in text.splitlines()], "property", names)
    rows: list[list[Any]] = [
        [name.removeprefix("test_").replace("_", " "), *counts.values()] for name, counts in sums.items()
    ]
    rows.append(["all", *(sum(counts[name] for counts in sums.values()) for name in names)])
    return make_table(
        ("property", "answers compared", "proven", "infeasible", "refused", "runs that failed"), rows
    )


def add_up(found: Iterable[dict[str, Any]], key: str, names: Sequence[str]) -> dict[str, dict[str, int]]:
    """Add up the counts of all runs, by what they are counts of."""
    sums: dict[str, dict[str, int]] = {}
    for one in found:
        counts = sums.setdefault(one[key], dict.fromkeys(names, 0))
        for name in names:
            counts[name] += one[name]
    return sums


def tabulate_fuzz(text: str) -> str:
    """Tabulate the reports of tests/fuzz, added up by target."""
    targets = [one for line in text.splitlines() for one in json.loads(line)["targets"]]
    names = ("executions", "crashes", "hangs")
    sums, most = add_up(targets, "target", names), dict.fromkeys((one["target"] for one in targets), 0)
    for one in targets:
        most[one["target"]] = max(most[one["target"]], one["peak_megabytes"])
    rows: list[list[Any]] = [
        [f"`{name}`", *counts.values(), f"{most[name]} MB"] for name, counts in sums.items()
    ]
    total = [sum(counts[name] for counts in sums.values()) for name in names]
    rows.append(["all", *total, f"{max(most.values(), default=0)} MB"])
    return make_table(("target", *names, "memory at most"), rows)


def tabulate_peers(text: str) -> str:
    """Tabulate the report of tests/peers."""
    rows = []
    for one in json.loads(text)["peers"]:
        reasons = sorted(set(one["left_out"].values())) or [one["reason"]]
        numbers = ["–"] * 3 if one["reason"] else [one["passed"], len(one["failed"]), len(one["left_out"])]
        rows.append([f"{one['name']} {one['version']}".strip(), *numbers, "; ".join(reasons)])
    return make_table(("suite", "passed", "failed", "not applicable", "why"), rows)


def main() -> None:
    """Replace each table between its marks."""
    page = PAGE.read_text(encoding="utf-8")
    makers = {"properties": tabulate_properties, "fuzz": tabulate_fuzz, "peers": tabulate_peers}
    for name, path in REPORTS.items():
        if path.exists():
            table = makers[name](path.read_text(encoding="utf-8"))
            marks = (f"<!-- {name} -->", f"<!-- end of {name} -->")
            page = re.sub(
                f"{marks[0]}.*?{marks[1]}", f"{marks[0]}\n{table}\n{marks[1]}", page, flags=re.DOTALL
            )
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
