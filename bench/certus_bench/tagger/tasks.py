"""The tasks that the documentation promises something about, on test, beside other taggers."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from certus.errors import CertusError
from certus.models.loading import load
from certus_bench.tagger import decoders, rivals, startup
from certus_bench.tagger.corpora import CORPORA
from certus_bench.tagger.job import Job, run
from certus_bench.tagger.orders import ORDERS, pruned
from certus_bench.tagger.plan import Plan, Report

EXACT = ("bosque-xpos", "ewt-parse")  # thousands of labels, decoded exactly
BESIDE = ("polish", "slavonic", "czech", "basque")
STARTUP = "ewt-upos"

Tell = Callable[[str, float], None]


def measure(report: Report, tell: Tell) -> None:
    """Add the tasks to a report."""
    plan = report.plan
    wanted = [job for job in jobs(plan) if asked_for(plan, job.corpus)]
    with tempfile.TemporaryDirectory(prefix="certus-bench-", ignore_cleanup_errors=True) as folder:
        for n, job in enumerate(wanted):
            tell(f"tasks: {job.corpus}, {job.what}", n / len(wanted))
            try:
                _perform(report, job, str(Path(folder) / f"{n}.certus"))
            except CertusError as error:  # the other tasks can still be done
                report.fail([str(error)])
        if asked_for(plan, STARTUP):
            tell("tasks: startup", 0.95)
            report.startup = startup.measure(plan, folder)
    report.tasks += [row for row in rivals.MARMOT if any(job.corpus == row.corpus for job in wanted)]


def asked_for(plan: Plan, corpus: str) -> bool:
    """Whether a plan wants a corpus: all of them if it names none."""
    return corpus in plan.only or not plan.only & CORPORA.keys()


def _perform(report: Report, job: Job, path: str) -> None:
    """Train and measure; with thousands of labels also time decoders, unless that was done before."""
    kept = job.corpus in EXACT and report.seconds("auto", job.corpus) is None
    report.tasks.append(run(report.plan, replace(job, model=path if kept else None)))
    if kept:
        decoders.time_on(report, CORPORA[job.corpus], load(path), lambda _: None, decoders.MAIN)


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
