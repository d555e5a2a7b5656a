"""Attacks one kind of problem in this process: ``python -m tests.attack.child``, started by the watchdog.

Prints a line of JSON per report. Where the process is, it says in a small shared file, so that its parent
knows what it died of or hangs in: the number of the problem, that of the question, and a count of both.
"""

from __future__ import annotations

import argparse
import faulthandler
import gc
import json
import mmap
import struct
import sys
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

from tests.attack.attack import Attack, make_random
from tests.attack.judge import Fault, Verdict, judge
from tests.attack.kinds import load_kind
from tests.attack.reproduction import show_problem

PLACE = struct.Struct("<QqQ")  # problem, question, ticks


class Reporter:
    """Counts verdicts and passes them on."""

    def __init__(self, place: mmap.mmap) -> None:
        self._place = place
        self._ticks = 0
        self._counts: Counter[tuple[str, str]] = Counter()

    def enter(self, number: int, question: int) -> None:
        """Say where the process is."""
        self._ticks += 1
        self._place[: PLACE.size] = PLACE.pack(number, question, self._ticks)

    def count(self, method: str, verdict: Verdict) -> None:
        """Count a verdict."""
        self._counts[method, "answers"] += 1
        self._counts[method, "proven"] += verdict.proven
        for kind in {fault.kind for fault in verdict.faults}:
            self._counts[method, kind] += 1

    def tell_fault(self, method: str, fault: Fault, text: str) -> None:
        """Report a fault at once."""
        print(json.dumps({"method": method, "kind": fault.kind, "detail": fault.detail, "text": text}))

    def finish(self) -> None:
        """Report what was counted; the problem is over."""
        counts = [[method, name, count] for (method, name), count in self._counts.items()]
        print(json.dumps({"counts": counts}), flush=True)
        self._counts.clear()


def attack_problem(attack: Attack[Any], seed: int, number: int, reporter: Reporter) -> None:
    """Draw a problem, ask all questions about it and report what is wrong with the answers."""
    reporter.enter(number, -1)
    problem = attack.draw(make_random(attack.name, seed, number))
    truth = attack.enumerate(problem)
    for place, question in enumerate(attack.ask(problem)):
        reporter.enter(number, place)
        verdict = judge(question, truth)
        reporter.count(question.method, verdict)
        for fault in verdict.faults:
            text = show_problem(attack.name, seed, number, problem, question.method, fault)
            reporter.tell_fault(question.method, fault, text)
    reporter.finish()


def main() -> None:
    """Attack until the time is over, or the number of problems is reached."""
    parser = argparse.ArgumentParser()
    parser.add_argument("kind")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--first", type=int, required=True)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--problems", type=int)
    parser.add_argument("--place", type=Path, required=True)
    given = parser.parse_args()
    faulthandler.enable()
    warnings.simplefilter("ignore")
    with given.place.open("r+b") as file:
        reporter = Reporter(mmap.mmap(file.fileno(), PLACE.size))
    attack = load_kind(given.kind)
    end = time.monotonic() + given.seconds if given.seconds is not None else float("inf")
    last = given.first + given.problems if given.problems is not None else sys.maxsize
    number = given.first
    while number < last and time.monotonic() < end:
        attack_problem(attack, given.seed, number, reporter)
        number += 1
        if number % 256 == 0:
            gc.collect()


if __name__ == "__main__":
    main()
