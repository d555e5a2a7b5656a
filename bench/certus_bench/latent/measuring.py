"""Learns latent models and CRFs from the same features, and labels test data in every way."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certus.annotation.columns import select_columns
from certus.chain.spans import find_spans
from certus.formats import Sentence
from certus.latent import BHP, BMP, LDI, MBR, Inference
from certus.learn.decoder import find_starts
from certus.learn.progress import Progress
from certus.models.tagger import Tagger
from certus.ragged import Ragged
from certus_bench.harness.benchmark import Tell, tell_part
from certus_bench.harness.significance import McNemar, count_disagreements
from certus_bench.harness.timing import time_call
from certus_bench.latent.records import FEW, MANY, STEPS, InferenceRow, LatentPlan, Point, Prior, TaskReport
from certus_bench.latent.tasks import Sentences, Task


class Measure:
    """Test sentences, ready to be labelled by any tagger that looks at the same columns.

    Args:
        sentences: annotated ones.
        target: the column that is predicted.
        columns: those that taggers look at.
        repeats: how many times to take the time.
    """

    def __init__(
        self, sentences: Sequence[Sentence], target: str, columns: Sequence[str], repeats: int
    ) -> None:
        self.cells = [select_columns(sentence, columns) for sentence in sentences]
        self._gold = [sentence.column(target) for sentence in sentences]
        self._spans = [set(find_spans(tags)) for tags in self._gold]
        self._first = find_starts(self.cells)
        self._repeats = repeats
        self.right: dict[str, NDArray[np.bool_]] = {}  # which sentences have no mistake, by the name of a row

    def __call__(
        self, name: str, tagger: Tagger, inference: Inference | None = None, repeats: int | None = None
    ) -> InferenceRow:
        """Label all sentences; of a latent model, by an inference."""
        paths = prefixes = 0.0
        if inference is not None:
            latent = tagger.latent
            latent.inference = inference
            scores, pairs = latent.score_states(self.cells), latent.score_pairs(self.cells)
            answers = latent.chain.infer(Ragged(scores, self._first), inference, pairs=pairs)
            paths = float(np.mean([answer.paths for answer in answers]))
            prefixes = float(np.mean([answer.expanded for answer in answers]))
        taken = [time_call(partial(tagger.decode, self.cells)) for _ in range(repeats or self._repeats)]
        found = taken[-1][1]
        names = tagger.labels
        tags = [names[label] for label in found.labels.tolist()]
        each = [tags[begin:end] for begin, end in zip(self._first[:-1], self._first[1:], strict=True)]
        self.right[name] = np.array([a == list(b) for a, b in zip(each, self._gold, strict=True)])
        exact = 100 * float(np.asarray(found.optimal, bool).mean())
        return InferenceRow(
            name,
            100 * float(self.right[name].mean()),
            *self._measure_spans(each),
            median(seconds for seconds, _ in taken),
            exact,
            paths,
            prefixes,
        )

    def _measure_spans(self, found: Sequence[list[str]]) -> tuple[float, float, float]:
        """Return precision, recall and F1, in percent."""
        right = made = wanted = 0
        for tags, gold in zip(found, self._spans, strict=True):
            own = set(find_spans(tags))
            right, made, wanted = right + len(own & gold), made + len(own), wanted + len(gold)
        precision, recall = right / max(made, 1), right / max(wanted, 1)
        return 100 * precision, 100 * recall, 100 * 2 * right / max(made + wanted, 1)


TOP = 2000  # latent paths of figure 2
LATENT, OWN = "latent", "CRF, own prior"
SHARES = (0.5, 0.1, 0.01)  # of the remaining mass, the paper's alpha (equation 9)
# The rows of tables 3, 4 and 5; "mass" stops by the paper's condition alone, alpha by the loose one.
WAYS: dict[str, Inference] = {
    "LDI-A": LDI(steps=FEW),
    "LDI-E": LDI(steps=MANY),
    "LDI-A, mass": LDI(steps=FEW, bound="mass"),
    "LDI-E, mass": LDI(steps=MANY, bound="mass"),
    **{f"LDI, alpha = {share}": LDI(steps=MANY, bound="mass", share=share) for share in SHARES},
    "BMP": BMP(),
    "BHP": BHP(),
    "LDI-A + MBR": MBR(gain="spans", steps=FEW),
    "100 best + MBR": MBR(gain="spans", best=100),
}
# What McNemar's test compares, by sentences without a mistake.
TESTED = (
    ("LDI-A", "BHP"),
    ("LDI-A", "BMP"),
    ("LDI-A", "CRF"),
    ("LDI-A", OWN),
    ("LDI-A", "LDI-A, mass"),
    ("100 best + MBR", "LDI-A"),
)


def measure_task(plan: LatentPlan, task: Task, tell: Tell) -> TaskReport:
    """Learn the models of a task and measure them on its test data."""
    tell(f"{task.name}: reading", 0.0)
    learned, tested = task.load(plan.data, plan.limit, plan.threads)
    found = TaskReport(task.name, task.title, len(learned), len(tested))
    crfs = {
        name: _learn_model(plan, task, learned, name, variance, found, tell_part(tell, 0.0, 0.1))
        for name, variance in _list_priors(task).items()
    }
    latent = _learn_model(plan, task, learned, LATENT, task.variance, found, tell_part(tell, 0.1, 0.4))
    found.states = len(latent.labels) * task.latent
    found.features = int(latent.description["features"])
    measure = Measure(tested, task.target, latent.columns, plan.repeats)
    for n, (name, inference) in enumerate(WAYS.items()):
        tell(f"{task.name}: {name}", 0.7 + 0.1 * n / len(WAYS))
        found.rows.append(measure(name, latent, inference))
    found.rows += [measure(name, crf) for name, crf in crfs.items()]
    found.tests = _test_rows(measure)
    _repeat_learning(plan, task, learned, measure, found, tell_part(tell, 0.4, 0.7))
    _stop_early(found, measure, latent, tell_part(tell, 0.8, 0.95))
    tell(f"{task.name}: concentration", 0.95)
    found.concentration = measure_concentration(latent, measure.cells[: plan.sampled])
    return found


def compare_priors(plan: LatentPlan, task: Task, tell: Tell) -> TaskReport:
    """Learn from seven eighths of the training sentences with each variance; measure on the last eighth."""
    learned, _ = task.load(plan.data, plan.limit, plan.threads)
    cut = len(learned) * 7 // 8
    found = TaskReport(task.name, task.title, cut, len(learned) - cut)
    for n, variance in enumerate(plan.variances):
        step = tell_part(tell, n / len(plan.variances), (n + 1) / len(plan.variances))
        crf = _learn_model(plan, task, learned[:cut], "CRF", variance, found, step)
        latent = _learn_model(plan, task, learned[:cut], LATENT, variance, found, step)
        measure = Measure(learned[cut:], task.target, latent.columns, repeats=1)
        rows = measure("CRF", crf), measure("LDI-A", latent, WAYS["LDI-A"])
        found.priors.append(Prior(variance, *(row.f1 for row in rows)))
    return found


def _repeat_learning(
    plan: LatentPlan, task: Task, learned: Sentences, measure: Measure, found: TaskReport, tell: Tell
) -> None:
    """Learn the latent model from other weights to begin with; keep F1 and tests of all of them."""
    found.scores = {name: [row.f1] for name in WAYS if (row := found.find_row(name))}
    found.seed_tests = [found.tests]
    for n in range(1, plan.seeds):
        again = dataclasses.replace(plan, seed=plan.seed + n)
        step = tell_part(tell, (n - 1) / plan.seeds, n / plan.seeds)
        aside = TaskReport(task.name, task.title, found.learned, found.measured)
        tagger = _learn_model(again, task, learned, LATENT, task.variance, aside, step)
        for name, inference in WAYS.items():
            found.scores[name].append(measure(name, tagger, inference, repeats=1).f1)
        found.seed_tests.append(_test_rows(measure))


def _test_rows(measure: Measure) -> list[McNemar]:
    """Compare the rows that were measured last, by sentences without a mistake."""
    return [count_disagreements(a, b, measure.right) for a, b in TESTED if b in measure.right]


def _list_priors(task: Task) -> dict[str, float]:
    """Return the variances of CRFs by name: that of the latent model and, if another, their own best."""
    own = {} if task.own_variance == task.variance else {OWN: task.own_variance}
    return {"CRF": task.variance, **own}


def _learn_model(
    plan: LatentPlan,
    task: Task,
    learned: Sentences,
    which: str,
    variance: float,
    found: TaskReport,
    tell: Tell,
) -> Tagger:
    """Learn a model from the same features, by the same optimiser, with a Gaussian prior; or take a kept one.

    A kept model is not learned, so there is no time of its learning.
    """
    kept = _name_model(plan, task, which, variance, len(learned))
    if kept and kept.is_file():
        return Tagger.load(kept)
    common: dict[str, Any] = {"templates": task.templates, "min_count": task.min_count, "epochs": plan.epochs}
    if which == LATENT:
        common |= {"latent": task.latent, "variance": variance, "seed": plan.seed}
        tagger = Tagger(task.target, "latent-crf", **common)
    else:
        tagger = Tagger(task.target, "crf", algorithm="lbfgs", c1=0.0, c2=0.5 / variance, **common)

    def progress(told: Progress) -> None:
        found.iterations[which] = told.epoch
        tell(f"learning, {which}, iteration {told.epoch}, loss {told.loss:.4f}", told.epoch / told.epochs)

    fit = partial(tagger.fit, learned, threads=plan.threads, progress=progress)
    found.seconds[which], _ = time_call(fit)
    if kept:
        kept.parent.mkdir(parents=True, exist_ok=True)
        tagger.save(kept)
    return tagger


def _name_model(plan: LatentPlan, task: Task, which: str, variance: float, learned: int) -> Path | None:
    """Return the file of a model; its name tells what it was learned from and how, not by which code."""
    if plan.models is None:
        return None
    model = f"latent-{plan.seed}" if which == LATENT else "crf"
    return plan.models / f"{task.name}-{model}-variance-{variance:g}-of-{learned}-in-{plan.epochs}.certus"


def _stop_early(found: TaskReport, measure: Measure, latent: Tagger, tell: Tell) -> None:
    """Stop LDI after more and more steps."""
    for bound in ("mass", "label"):
        for n, steps in enumerate(STEPS):
            tell(f"{bound} bound, n = {steps}", (n + len(STEPS) * (bound == "label")) / (2 * len(STEPS)))
            row = measure(f"n={steps}", latent, LDI(steps=steps, bound=bound))
            found.points.append(Point(bound, steps, row))


def measure_concentration(tagger: Tagger, cells: Any) -> list[float]:
    """Return the mass of the best 1, 2, ... latent paths, averaged over sentences."""
    total = np.zeros(TOP)
    for one in cells:
        scores, chain = tagger.latent.score_states([one]), tagger.latent.make_state_chain(one)
        log_z = chain.marginals(scores).log_partition
        masses = [math.exp(path.score - log_z) for path in islice(chain.iterate(scores), TOP)]
        total[: len(masses)] += masses
    mass: list[float] = (np.cumsum(total) / max(len(cells), 1)).tolist()
    return mass
