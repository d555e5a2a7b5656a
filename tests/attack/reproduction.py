"""Prints a problem as Python text, and judges one that was pasted."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.attack.judge import Fault, judge
from tests.attack.kinds import load_kind

HEADER = "from numpy import array, bool_, float32, float64, inf, int64, nan  # noqa: F401"


def show_problem(
    kind: str, seed: int, number: int, problem: object, method: str, fault: Fault | None = None
) -> str:
    """Return text that asks the same question again when it is pasted into Python."""
    with np.printoptions(threshold=10**9, floatmode="unique", linewidth=110, suppress=False):
        shown = repr(problem)
    module, name = type(problem).__module__, type(problem).__name__
    wrong = "" if fault is None else f"# {fault.kind}: {fault.detail}\n"
    return (
        f"{wrong}# python -m tests.attack --kinds {kind} --seed {seed} --problem {number}\n"
        f"{HEADER}\nfrom {module} import {name}\nfrom tests.attack.reproduction import check\n"
        f"check({kind!r}, {shown}, {method!r})\n"
    )


def check(kind: str, problem: Any, method: str | None = None) -> list[Fault]:
    """Ask all questions about a problem, or those of one method; print and return what is wrong."""
    attack = load_kind(kind)
    truth = attack.enumerate(problem)
    found: list[Fault] = []
    for question in attack.ask(problem):
        if method is None or question.method == method:
            faults = judge(question, truth).faults
            found += faults
            for fault in faults:
                print(f"{question.method}: {fault.kind}: {fault.detail}")
    return found
