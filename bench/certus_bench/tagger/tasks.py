"""The tasks that the documentation promises something about, on test, beside other taggers."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from time import perf_counter

from certus.errors import CertusError
from certus.models.loading import DEFAULT, find_default_tagger, load
from certus_bench.corpora import CORPORA
from certus_bench.harness.benchmark import Tell
from certus_bench.harness.environment import TAG_COMMAND
from certus_bench.harness.timing import Spread
from certus_bench.tagger.decoders import MAIN, describe_perceptron, time_decoders
from certus_bench.tagger.job import CRFSUITE, MARMOT, Job, find_crfsuite, run_job
from certus_bench.tagger.orders import ORDERS, describe_pruned_crf
from certus_bench.tagger.records import Startup, TaggerPlan, TaggerReport

EXACT = ("bosque-xpos", "ewt-parse")  # thousands of labels, decoded exactly
BESIDE = ("polish", "slavonic", "czech", "basque")
STARTUP = "ewt-upos"


def measure_tasks(report: TaggerReport, tell: Tell) -> None:
    """Add the tasks to a report."""
    plan = report.plan
    wanted = [job for job in list_jobs(plan) if is_wanted(plan, job.corpus)]
    with tempfile.TemporaryDirectory(prefix="certus-bench-", ignore_cleanup_errors=True) as folder:
        for n, job in enumerate(wanted):
            tell(f"tasks: {job.corpus}, {job.what}", n / len(wanted))
            try:
                _do_task(report, job, str(Path(folder) / f"{n}.certus"))
            except CertusError as error:  # the other tasks can still be done
                report.fail([str(error)])
        if is_wanted(plan, STARTUP):
            tell("tasks: startup", 0.95)
            report.startup = measure_startup(plan, folder)
    report.tasks += [row for row in MARMOT if any(job.corpus == row.corpus for job in wanted)]


def is_wanted(plan: TaggerPlan, corpus: str) -> bool:
    """Whether a plan wants a corpus: all of them if it names none."""
    return corpus in plan.only or not plan.only & CORPORA.keys()


def _do_task(report: TaggerReport, job: Job, path: str) -> None:
    """Train and measure; with thousands of labels also time decoders, unless that was done before."""
    kept = job.corpus in EXACT and report.find_seconds("auto", job.corpus) is None
    report.tasks.append(run_job(report.plan, replace(job, model=path if kept else None)))
    if kept:
        time_decoders(report, CORPORA[job.corpus], load(path), lambda _: None, MAIN)


def list_jobs(plan: TaggerPlan) -> Iterator[Job]:
    """Yield what to train on all of train and to measure on test."""
    for name in ("conll2000", "conll2000-chunk"):
        yield _test_perceptron(plan, name)
    yield describe_pruned_crf(plan, "conll2000-chunk", 2, learn="train", part="test")
    for order in ORDERS:
        yield describe_pruned_crf(plan, "bosque", order, learn="train", part="test")
    for name in EXACT:
        yield _test_perceptron(plan, name)
    for name in BESIDE:
        yield describe_pruned_crf(plan, name, 2, learn="train", part="test")
    if find_crfsuite() and not plan.quick:
        yield replace(_test_perceptron(plan, "conll2000"), what=CRFSUITE, learner=CRFSUITE)


def _test_perceptron(plan: TaggerPlan, corpus: str) -> Job:
    job = describe_perceptron(plan, CORPORA[corpus])
    return replace(job, learn="train", part="test", seconds=plan.seconds)


_TEXT = "The quick brown fox jumps over the lazy dog."
_TIMES = 11


def measure_startup(plan: TaggerPlan, folder: str) -> Startup:
    """Time the model that comes with the package; if there is none, one of the same kind made here.

    Args:
        plan: says how many times.
        folder: for that model.
    """
    if Path(str(find_default_tagger())).is_file():
        return Startup(time_first_label([], plan), DEFAULT)
    path = str(Path(folder) / "startup.certus")
    options = {"order": 2, "epochs": plan.limit_epochs(3)}
    run_job(
        plan,
        Job(corpus="ewt-upos", what="", learner="pruned-crf", options=options, limit=plan.limit, model=path),
    )
    return Startup(time_first_label([path], plan), "EWT upos, order 2")


def time_first_label(model: list[str], plan: TaggerPlan) -> Spread:
    """Time a process from its start to the first line that it prints."""
    times = []
    for _ in range(3 if plan.quick else _TIMES):
        begin = perf_counter()
        with subprocess.Popen([*TAG_COMMAND, *model, _TEXT], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            line = process.stdout.readline()
            times.append(perf_counter() - begin)
            process.stdout.read()
        if not line:
            raise CertusError("certus tag printed nothing")
    return Spread.of(times[1:])  # the first one brings the files into memory
