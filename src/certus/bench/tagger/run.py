"""Measures trained taggers, part by part: ``certus bench tagger``."""

from __future__ import annotations

from collections.abc import Callable

from certus.bench.environment import describe
from certus.bench.tagger import decoders, learning, orders, tasks
from certus.bench.tagger.plan import Plan, Report
from certus.bench.tagger.rivals import CRFSUITE, crfsuite_version

Tell = Callable[[str, float], None]

_MEASURES: dict[str, Callable[[Report, Tell], None]] = {
    "decoders": decoders.measure,
    "training": learning.measure,
    "orders": orders.measure,
    "tasks": tasks.measure,
}


def run(plan: Plan, tell: Tell = lambda _, __: None) -> Report:
    """Measure what a plan asks for.

    Args:
        plan: what to do.
        tell: called with a line about what is being measured and the share of the work that is done.
    """
    version = crfsuite_version()
    report = Report(plan, describe({CRFSUITE: version} if version else {}))
    for n, part in enumerate(plan.parts):

        def step(text: str, share: float, n: int = n) -> None:
            tell(text, (n + share) / len(plan.parts))

        _MEASURES[part](report, step)
    return report
