"""Runs the attack on a kind of problem in a process of its own: a crash or a hang is a finding."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.attack.attack import make_random
from tests.attack.child import PLACE
from tests.attack.judge import Fault
from tests.attack.kinds import load_kind
from tests.attack.reproduction import show_problem

ROOT = Path(__file__).parents[2]
POLL = 0.1  # seconds between looks at a process


@dataclass
class Finding:
    """A fault with the smallest problem that shows it, and the seconds after which the first one was seen."""

    method: str
    kind: str
    detail: str
    text: str
    seconds: float
    count: int = 0


@dataclass
class Outcome:
    """What the attack on a kind of problem came to.

    Attributes:
        counts: by method and by name: answers, proven, and the kinds of faults.
        findings: by method and kind of fault, the smallest problem.
    """

    kind: str
    began: float = field(default_factory=time.monotonic)
    problems: int = 0
    seconds: float = 0.0
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    findings: dict[tuple[str, str], Finding] = field(default_factory=dict)

    def add(self, method: str, kind: str, detail: str, text: str) -> None:
        """Keep a fault if its problem is the smallest yet."""
        key = method, f"{kind} {detail.split(':')[0]}" if kind == "error" else kind
        seconds = time.monotonic() - self.began
        known = self.findings.setdefault(key, Finding(method, kind, detail, text, seconds))
        known.count += 1
        if len(text) < len(known.text):
            known.detail, known.text = detail, text


@dataclass(frozen=True)
class Plan:
    """What to attack: a kind from a seed, for a time or a number of problems."""

    kind: str
    seed: int = 0
    first: int = 0
    seconds: float | None = None
    problems: int | None = None
    patience: float = 30.0


def run(plan: Plan) -> Outcome:
    """Attack a kind of problem; a new process goes on behind the problem that ended the one before."""
    outcome = Outcome(plan.kind)
    number = plan.first
    while True:
        spent = time.monotonic() - outcome.began
        if plan.seconds is not None and spent >= plan.seconds:
            break
        left = None if plan.problems is None else plan.first + plan.problems - number
        if left is not None and left <= 0:
            break
        seconds = None if plan.seconds is None else plan.seconds - spent
        after = _run_process(plan, number, seconds, left, outcome)
        if after is None:
            break
        number = after
    outcome.seconds = time.monotonic() - outcome.began
    return outcome


def _run_process(
    plan: Plan, first: int, seconds: float | None, problems: int | None, outcome: Outcome
) -> int | None:
    """Run one process; return where the next one goes on, or None where this one came to its end."""
    with tempfile.TemporaryDirectory() as folder:
        place, told = Path(folder) / "place", Path(folder) / "stderr"
        place.write_bytes(PLACE.pack(first, -1, 0))
        command = [sys.executable, "-m", "tests.attack.child", plan.kind, "--place", str(place)]
        command += ["--seed", str(plan.seed), "--first", str(first)]
        command += [] if seconds is None else ["--seconds", str(seconds)]
        command += [] if problems is None else ["--problems", str(problems)]
        with told.open("wb") as errors:
            process = subprocess.Popen(
                command, cwd=ROOT, stdout=subprocess.PIPE, stderr=errors, env=_make_environment()
            )
            try:
                hung = _follow(process, place, plan.patience, outcome)
            finally:
                process.kill()
                process.wait()
                assert process.stdout is not None
                process.stdout.close()
        if not hung and process.returncode == 0:
            return None
        number, question, _ = PLACE.unpack(place.read_bytes()[: PLACE.size])
        said = told.read_text(encoding="utf-8", errors="replace")[-3000:]
        kind = "hang" if hung else "crash"
        reason = f"no answer within {plan.patience:g} s" if hung else f"exit code {process.returncode}"
        _add_end(plan, number, question, Fault(kind, f"{reason}\n{said}"), outcome)
        return int(number) + 1


def _follow(process: subprocess.Popen[bytes], place: Path, patience: float, outcome: Outcome) -> bool:
    """Read the reports of a process until it ends, or hangs."""
    assert process.stdout is not None
    selector = selectors.DefaultSelector()
    selector.register(process.stdout, selectors.EVENT_READ)
    buffer, ticks, since = b"", -1, time.monotonic()
    while True:
        if selector.select(POLL):
            chunk = os.read(process.stdout.fileno(), 1 << 16)
            if not chunk:
                process.wait()
                return False
            *lines, buffer = (buffer + chunk).split(b"\n")
            for line in lines:
                _add_report(json.loads(line), outcome)
        now = PLACE.unpack(place.read_bytes()[: PLACE.size])[2]
        if now != ticks:
            ticks, since = now, time.monotonic()
        elif time.monotonic() - since > patience:
            process.send_signal(signal.SIGABRT)  # faulthandler then says where all threads are
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
            return True


def _add_report(report: dict[str, Any], outcome: Outcome) -> None:
    if "text" in report:
        outcome.add(report["method"], report["kind"], report["detail"], report["text"])
        return
    outcome.problems += 1
    for method, name, count in report["counts"]:
        outcome.counts[method, name] += count


def _add_end(plan: Plan, number: int, place: int, fault: Fault, outcome: Outcome) -> None:
    """Add what ended a process: the question that it did not answer, drawn again."""
    method, text = "draw", f"# {fault.kind}: {fault.detail}"
    if place >= 0:
        attack = load_kind(plan.kind)
        problem = attack.draw(make_random(plan.kind, plan.seed, number))
        method = list(attack.ask(problem))[place].method
        text = show_problem(plan.kind, plan.seed, number, problem, method, fault)
    outcome.counts[method, fault.kind] += 1
    outcome.add(method, fault.kind, fault.detail, text)


def _make_environment() -> dict[str, str]:
    """Let the process find the tests of this copy."""
    paths: Iterator[str] = filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
