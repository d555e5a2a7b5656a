"""``make robustness``: writes the tables of docs/robustness.md from what the last runs left in build/.

``make properties``, ``make fuzz`` and ``make peers`` leave their reports there; a table without a report
stays as it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "robustness.md"
REPORTS = {
    "properties": ROOT / "build" / "properties.jsonl",
    "fuzz": ROOT / "build" / "fuzz" / "report.json",
    "peers": ROOT / "build" / "peers" / "report.json",
}


def make_table(heading: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Return a table in Markdown; numbers get commas."""
    lines = [list(heading), ["---" for _ in heading]]
    lines += [[f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def tabulate_properties(text: str) -> str:
    """Tabulate the lines that ``compared`` of tests/hostile/conftest.py wrote."""
    found = [json.loads(line) for line in text.splitlines()]
    names = ("answers", "proven", "infeasible", "refused")
    rows: list[list[Any]] = [
        [one["property"].removeprefix("test_").replace("_", " "), *(one[name] for name in names)]
        for one in found
    ]
    rows.append(["all", *(sum(one[name] for one in found) for name in names)])
    return make_table(("property", "answers compared", "proven", "infeasible", "refused"), rows)


def tabulate_fuzz(text: str) -> str:
    """Tabulate the report of tests/fuzz."""
    targets = json.loads(text)["targets"]
    names = ("executions", "crashes", "hangs")
    rows: list[list[Any]] = [
        [f"`{one['target']}`", *(one[name] for name in names), f"{one['peak_megabytes']} MB"]
        for one in targets
    ]
    most = max((one["peak_megabytes"] for one in targets), default=0)
    rows.append(["all", *(sum(one[name] for one in targets) for name in names), f"{most} MB"])
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
