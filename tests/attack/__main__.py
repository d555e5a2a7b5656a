"""``python -m tests.attack --seconds 60``: attacks every kind of problem by brute force, and reports."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from tests.attack.attack import make_random
from tests.attack.judge import FAULTS
from tests.attack.kinds import KINDS, load_kind
from tests.attack.reproduction import show_problem
from tests.attack.watchdog import Outcome, Plan, run


def show_table(outcomes: Sequence[Outcome]) -> str:
    """Return the counts by kind and method; columns of faults that nobody made are left out."""
    met = [name for name in FAULTS if any(o.counts[m, n] for o in outcomes for m, n in o.counts if n == name)]
    lines = [" | ".join(["| kind", "method", "problems", "answers", "proven", *met, "seconds |"])]
    lines.append("|---|---|" + "---:|" * (4 + len(met)))
    for outcome in outcomes:
        methods = sorted({method for method, _ in outcome.counts})
        for method in methods:
            row = [outcome.counts[method, name] for name in ("answers", "proven", *met)]
            lines.append(_show_row(outcome.kind, method, "", row, ""))
        row = [sum(outcome.counts[m, name] for m in methods) for name in ("answers", "proven", *met)]
        lines.append(_show_row(outcome.kind, "all", outcome.problems, row, f"{outcome.seconds:.0f}"))
    return "\n".join(lines)


def _show_row(kind: str, method: str, problems: int | str, counts: Sequence[int], seconds: str) -> str:
    return f"| {kind} | {method} | {problems} | " + " | ".join(map(str, counts)) + f" | {seconds} |"


def main(arguments: Sequence[str] | None = None) -> int:
    """Attack, print a table and what was found; return 1 where anything was."""
    parser = argparse.ArgumentParser(prog="python -m tests.attack", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="for all kinds together")
    parser.add_argument("--kinds", default=",".join(KINDS), help=f"some of {', '.join(KINDS)}")
    parser.add_argument("--seed", type=int, default=0, help="of the random problems")
    parser.add_argument("--jobs", type=int, default=1, help="kinds that are attacked at a time")
    parser.add_argument("--problem", type=int, help="attack and print only the problem of this number")
    parser.add_argument("--patience", type=float, default=30, help="seconds after which an answer hangs")
    given = parser.parse_args(arguments)
    kinds = given.kinds.split(",")
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown:
        parser.error(f"there is no kind {unknown[0]!r}; there are {', '.join(KINDS)}")
    if given.problem is not None:
        for kind in kinds:
            problem = load_kind(kind).draw(make_random(kind, given.seed, given.problem))
            print(show_problem(kind, given.seed, given.problem, problem, "auto"))
    share = given.seconds * given.jobs / len(kinds)
    plans = [
        Plan(kind, given.seed, seconds=share, patience=given.patience)
        if given.problem is None
        else Plan(kind, given.seed, given.problem, problems=1, patience=given.patience)
        for kind in kinds
    ]
    with ThreadPoolExecutor(given.jobs) as pool:
        outcomes = []
        for outcome in pool.map(run, plans):
            faults = sum(finding.count for finding in outcome.findings.values())
            print(f"{outcome.kind}: {outcome.problems:,} problems, {faults:,} faults", flush=True)
            outcomes.append(outcome)
    for outcome in outcomes:
        for finding in outcome.findings.values():
            times = f"{finding.count:,} times, first after {finding.seconds:.0f} s; the smallest"
            print(f"\n# {outcome.kind}, {finding.method}: {finding.kind}, {times}:\n{finding.text}")
    print(show_table(outcomes))
    return int(any(outcome.findings for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
