"""Times whole calls: batches, threads, and what a call costs beyond its kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from certus.chain import Chain, Method, Viterbi
from certus_bench.lattices import Sample, draw
from certus_bench.plan import Plan, Report, Size, Whole
from certus_bench.referee import Referee
from certus_bench.timing import Call, Stopwatch, race

BATCH = 64
CROWD = 1_000
CROWD_SIZE: Size = (319, 23)
CALL_SIZE: Size = (45, 23)
LONG = 100  # sentences' worth of positions in one, for the kernel's own time
# The dense sweep, as in the other tables, and what users get who ask for nothing.
METHODS: dict[str, str | Method] = {"viterbi": Viterbi(sparse=False), "auto": "auto"}

Tell = Callable[[str, float], None]


@dataclass(frozen=True)
class Task:
    """A call that decodes all sentences of a sample, or, as ``share`` says, the work of several in one."""

    what: str
    method: str
    call: Call
    sample: Sample
    share: int
    detail: str


def run(report: Report, tell: Tell) -> None:
    """Add the figures about whole calls to a report."""
    plan = report.plan
    parts: list[tuple[str, Callable[[], list[Task]]]] = [
        (f"batches of {BATCH}, {size[0]}×{size[1]}", partial(_batches, plan, size)) for size in plan.sizes
    ]
    parts.append(("the cost of a call", partial(_calls, plan)))
    parts.append((f"threads on a batch of {CROWD}", partial(_threads, plan)))
    for n, (name, tasks) in enumerate(parts):
        tell(name, n / len(parts))
        _time(report, tasks())


def _draw(plan: Plan, size: Size, sentences: int, lattice: str = "peaked") -> Sample:
    return draw(lattice, *size, sentences=sentences, seed=plan.seed, dtype=plan.dtype)


def _batches(plan: Plan, size: Size) -> list[Task]:
    """Compare a batch with the same sentences one by one."""
    sample = _draw(plan, size, BATCH)
    chain = sample.chain
    detail = f"{BATCH} sentences, peaked, one thread"
    tasks = []
    for name, method in METHODS.items():
        one_by_one, together = _each(chain, sample, method), _batch(chain, sample, method)
        tasks.append(Task("one by one", name, one_by_one, sample, BATCH, detail))
        tasks.append(Task(f"batch of {BATCH}", name, together, sample, BATCH, detail))
    return tasks


def _threads(plan: Plan) -> list[Task]:
    """Compare one thread with two."""
    sample = _draw(plan, CROWD_SIZE, CROWD)
    chain = sample.chain
    detail = f"decode_batch of {CROWD} sentences, peaked"
    return [
        Task(f"threads={n}", name, _batch(chain, sample, method, n), sample, CROWD, detail)
        for name, method in METHODS.items()
        for n in (1, 2)
    ]


def _calls(plan: Plan) -> list[Task]:
    """Compare a call with the time in the kernel, seen in two ways that make calling cost next to nothing.

    In a batch the cost of the call is shared by all sentences, but a result is built for each; a sentence of
    many times the length has one call and one result, but needs more memory. The kernel's own time is at or
    below the smaller of the two.
    """
    crowd = _draw(plan, CALL_SIZE, CROWD, "flat")
    chain = crowd.chain
    few = replace(crowd, sentences=crowd.sentences[:BATCH])
    long = replace(crowd, sentences=(np.concatenate(crowd.sentences[:LONG]),))
    count = len(few.sentences)
    tasks = []
    for name in METHODS:
        tasks += [
            Task("call", name, _each(chain, few, name), few, count, "decode(emissions): all of it"),
            Task(
                "in a batch", name, _batch(chain, crowd, name), crowd, CROWD,
                f"decode_batch of {CROWD} sentences, one thread: the kernel, and building the results",
            ),
            Task(
                "in a long sentence", name, _each(chain, long, name), long, LONG,
                f"decode of {LONG} sentences' positions in one: the kernel, on more memory",
            ),
        ]  # fmt: skip
    return tasks


def _each(chain: Chain, sample: Sample, method: str | Method) -> Call:
    decode = partial(chain.decode, method=method)

    def call() -> list[Any]:
        return [decode(emissions) for emissions in sample.sentences]

    return call


def _batch(chain: Chain, sample: Sample, method: str | Method, threads: int = 1) -> Call:
    return partial(chain.decode_batch, list(sample.sentences), method=method, threads=threads)


def _time(report: Report, tasks: Sequence[Task]) -> None:
    """Run the tasks in turns and note the time of a sentence in each."""
    watches = []
    for task in tasks:
        referee = Referee(task.sample, f"{task.sample.labels}×{task.sample.length}")
        check = partial(_check, report, referee, f"{task.method}, {task.what}")
        watches.append(Stopwatch([task.call], check, report.plan.seconds))
    race(watches)
    for task, watch in zip(tasks, watches, strict=True):
        length = task.sample.length * len(task.sample.sentences) // task.share
        spread = watch.spread.scaled(1 / task.share)
        report.whole.append(Whole(task.what, task.method, task.sample.labels, length, spread, task.detail))


def _check(report: Report, referee: Referee, name: str, _: int, answers: Sequence[Any]) -> None:
    for index, answer in enumerate(answers):
        referee.compare(name, index, np.array([answer.score]))
    report.fail(referee.failures)
