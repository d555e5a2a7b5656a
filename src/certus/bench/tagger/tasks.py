"""The tasks that the documentation promises something about, on test, beside other taggers."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from certus.bench.tagger import decoders, rivals, startup
from certus.bench.tagger.corpora import CORPORA
from certus.bench.tagger.job import Job, run
from certus.bench.tagger.orders import ORDERS, pruned
from certus.bench.tagger.plan import Plan, Report
from certus.models.loading import load

EXACT = ("bosque-xpos", "ewt-parse")  # thousands of labels, decoded exactly
BESIDE = ("polish", "slavonic", "czech", "basque")
_STARTUP = "ewt-upos"

Tell = Callable[[str, float], None]


def measure(report: Report, tell: Tell) -> None:
    """Add the tasks to a report."""
    plan = report.plan
    wanted = [job for job in jobs(plan) if not plan.only & CORPORA.keys() or job.corpus in plan.only]
    with tempfile.TemporaryDirectory(prefix="certus-bench-") as folder:
        for n, job in enumerate(wanted):
            tell(f"tasks: {job.corpus}, {job.what}", n / len(wanted))
            path = str(Path(folder) / f"{n}.certus")
            kept = job.corpus in EXACT and report.seconds("auto", job.corpus) is None
            report.tasks.append(run(plan, replace(job, model=path if kept else None)))
            if kept:
                corpus = CORPORA[job.corpus]
                decoders.time_on(report, corpus, load(path), lambda text: tell(text, 0.9), decoders.MAIN)
        if not plan.only & CORPORA.keys() or _STARTUP in plan.only:
            tell("tasks: startup", 0.95)
            report.startup = startup.measure(plan, folder)
    report.tasks += [row for row in rivals.MARMOT if any(job.corpus == row.corpus for job in wanted)]


def jobs(plan: Plan) -> Iterator[Job]:
    """Yield what to train on all of train and to measure on test."""
    for name in ("conll2000", "conll2000-chunk"):
        yield _perceptron(plan, name)
    yield pruned(plan, "conll2000-chunk", 2, learn="train", part="test")
    for order in ORDERS:
        yield pruned(plan, "bosque", order, learn="train", part="test")
    for name in EXACT:
        yield _perceptron(plan, name)
    for name in BESIDE:
        yield pruned(plan, name, 2, learn="train", part="test")
    if rivals.crfsuite_version() and not plan.quick:
        yield replace(_perceptron(plan, "conll2000"), what=rivals.CRFSUITE, learner=rivals.CRFSUITE)


def _perceptron(plan: Plan, corpus: str) -> Job:
    job = decoders.job_of(plan, CORPORA[corpus])
    return replace(job, learn="train", part="test", seconds=plan.seconds)
