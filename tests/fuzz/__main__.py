"""``python -m tests.fuzz --minutes 10``: fuzzes every target in a process of its own, and reports."""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.fuzz.names import NAMES

HERE = Path(__file__).parent
KEPT = HERE / "corpus"  # small inputs that reach different code, kept with the sources
ROOT = HERE.parents[1]
HANG, MEMORY = 20, 2500  # seconds that an input may take; megabytes that a process may


@dataclass(frozen=True)
class Outcome:
    """What fuzzing a target came to."""

    target: str
    executions: int
    seconds: float
    crashes: int
    hangs: int
    peak_megabytes: int
    inputs: list[str]  # the files that hold what crashed or hung
    reason: str = ""

    @property
    def failed(self) -> bool:
        return bool(self.crashes or self.hangs or self.reason)


def fuzz(target: str, seconds: float, work: Path) -> Outcome:
    """Fuzz a target; a process that ends before its time has found something."""
    grown, found = work / "corpus" / target, work / "found" / target
    kept = KEPT / target
    for folder in (grown, found, kept):
        folder.mkdir(parents=True, exist_ok=True)
    options = [f"-max_total_time={max(1, round(seconds))}", f"-timeout={HANG}", f"-rss_limit_mb={MEMORY}"]
    options += ["-print_final_stats=1", "-max_len=2000", f"-artifact_prefix={found}/"]
    command = [sys.executable, "-m", "tests.fuzz.child", target, *options, str(grown), str(kept)]
    began = time.perf_counter()
    before = set(found.iterdir())
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False, env=make_environment())
    inputs = sorted(str(path) for path in set(found.iterdir()) - before)
    told = done.stderr.decode(errors="replace") + done.stdout.decode(errors="replace")
    (work / f"{target}.log").write_text(told, encoding="utf-8")
    hangs = sum("timeout-" in name for name in inputs)
    return Outcome(
        target,
        _read_number(r"number_of_executed_units: (\d+)", told) or _read_number(r"#(\d+)\s", told),
        round(time.perf_counter() - began, 1),
        len(inputs) - hangs,
        hangs,
        _read_number(r"peak_rss_mb:\s+(\d+)", told) or _read_number(r"rss: (\d+)Mb", told),
        inputs,
        "" if done.returncode == 0 or inputs else f"ended with {done.returncode}: {told[-400:]}",
    )


def make_environment() -> dict[str, str]:
    """Let the child find the sources of this copy."""
    paths = [str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


def _read_number(pattern: str, text: str) -> int:
    found = re.findall(pattern, text)
    return int(found[-1]) if found else 0


def keep_corpus(work: Path) -> None:
    """Replace the kept inputs by a smallest set that reaches as much, of short ones."""
    for target in NAMES:
        chosen = work / "kept" / target
        chosen.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "tests.fuzz.child", target, "-merge=1", "-max_len=200", str(chosen)]
        command += [str(KEPT / target), str(work / "corpus" / target)]
        subprocess.run(command, cwd=ROOT, capture_output=True, check=True, env=make_environment())
        for path in (KEPT / target).iterdir():
            path.unlink()
        for path in sorted(chosen.iterdir(), key=lambda path: path.stat().st_size)[:40]:
            (KEPT / target / path.name[:12]).write_bytes(path.read_bytes())


def main() -> int:
    """Fuzz the targets, print a line about each, add to the reports; return 1 where anything was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", default=list(NAMES), help="some of the targets; all by default")
    parser.add_argument("--minutes", type=float, default=10, help="for all of them together")
    parser.add_argument("--keep", action="store_true", help="keep the inputs that reach new code")
    given = parser.parse_args()
    work = ROOT / "build" / "fuzz"
    outcomes = []
    for target in given.targets:
        outcome = fuzz(target, 60 * given.minutes / len(given.targets), work)
        outcomes.append(outcome)
        print(
            f"{target:18} {outcome.executions:>11,} executions  {outcome.crashes:>3} crashes  "
            f"{outcome.hangs:>3} hangs  {outcome.peak_megabytes:>6,} MB at most  {outcome.seconds:>6.1f} s",
            flush=True,
        )
        for line in (*outcome.inputs, outcome.reason):
            if line:
                print(f"  {line}")
    total = sum(outcome.executions for outcome in outcomes)
    print(f"{total:,} executions, {sum(outcome.failed for outcome in outcomes)} targets with findings")
    report = {"date": time.strftime("%Y-%m-%d"), "targets": [asdict(outcome) for outcome in outcomes]}
    with (work / "reports.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(report) + "\n")
    if given.keep:
        keep_corpus(work)
    return int(any(outcome.failed for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
