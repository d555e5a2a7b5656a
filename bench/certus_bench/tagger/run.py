"""Measures trained taggers, part by part: ``certus bench tagger``."""

from __future__ import annotations

from collections.abc import Callable

from certus_bench.environment import describe
from certus_bench.tagger import decoders, learning, orders, tasks
from certus_bench.tagger.corpora import CORPORA, LARGE, MORPHOLOGY, POS, chosen
from certus_bench.tagger.plan import Plan, Report
from certus_bench.tagger.rivals import CRFSUITE, crfsuite_version

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
    check(plan)
    version = crfsuite_version()
    report = Report(plan, describe({CRFSUITE: version} if version else {}))
    for n, part in enumerate(plan.parts):

        def step(text: str, share: float, n: int = n) -> None:
            tell(text, (n + share) / len(plan.parts))

        _MEASURES[part](report, step)
    return report


def check(plan: Plan) -> None:
    """Make sure that all data are there, before an hour is spent on half of them."""
    large, trained = [*chosen(LARGE, plan.only)], [*chosen((*POS, *MORPHOLOGY), plan.only)]
    tested = [
        CORPORA[name] for name in {job.corpus for job in tasks.jobs(plan)} if tasks.asked_for(plan, name)
    ]
    needed = {"decoders": large, "training": large, "orders": trained, "tasks": tested}
    for part in plan.parts:
        for corpus in needed[part]:
            for name in (
                ("train", "test") if part == "tasks" else ("train", "dev") if corpus.dev else ("train",)
            ):
                corpus.file(plan.data, name)
