"""Learns both tasks and measures every inference on them: ``certus bench latent``."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import islice
from time import perf_counter
from typing import Any

import numpy as np

from certus.latent import BHP, BMP, LDI, MBR, Inference
from certus.learn.training import Progress
from certus.models.tagger import Tagger
from certus_bench.environment import describe
from certus_bench.latent.measure import Measure
from certus_bench.latent.plan import FEW, MANY, STEPS, Plan, Point, Report, TaskReport
from certus_bench.latent.tasks import Sentences, Task

Tell = Callable[[str, float], None]

TOP = 2000  # latent paths of figure 2
LATENT, OWN = "latent", "CRF, own prior"
# The rows of tables 3, 4 and 5; "mass" stops by the paper's condition alone.
WAYS: dict[str, Inference] = {
    "LDI-A": LDI(steps=FEW),
    "LDI-E": LDI(steps=MANY),
    "LDI-A, mass": LDI(steps=FEW, bound="mass"),
    "LDI-E, mass": LDI(steps=MANY, bound="mass"),
    "BMP": BMP(),
    "BHP": BHP(),
    "LDI-A + MBR": MBR(gain="spans", steps=FEW),
    "100 best + MBR": MBR(gain="spans", best=100),
}


def run(plan: Plan, tell: Tell = lambda _, __: None) -> Report:
    """Measure what a plan asks for.

    Args:
        plan: what to do.
        tell: called with a line about what is being done and the share of the work that is done.
    """
    report = Report(plan, describe({}))
    for n, task in enumerate(plan.tasks):

        def step(text: str, share: float, n: int = n, task: Task = task) -> None:
            tell(f"{task.name}: {text}", (n + share) / len(plan.tasks))

        report.tasks.append(_measure(plan, task, step))
    return report


def _measure(plan: Plan, task: Task, tell: Tell) -> TaskReport:
    tell("reading", 0.0)
    learned, tested = task.load(plan.data, plan.limit, plan.threads)
    found = TaskReport(task.name, task.title, len(learned), len(tested))
    crfs = {
        name: _learn(plan, task, learned, name, variance, found, lambda text, s: tell(text, 0.1 * s))
        for name, variance in _priors(task).items()
    }
    latent = _learn(
        plan, task, learned, LATENT, task.variance, found, lambda text, s: tell(text, 0.1 + 0.6 * s)
    )
    found.states = len(latent.labels) * task.latent
    found.features = int(latent.description["features"])
    measure = Measure(tested, task.target, latent.columns, plan.repeats)
    for n, (name, inference) in enumerate(WAYS.items()):
        tell(name, 0.7 + 0.1 * n / len(WAYS))
        found.rows.append(measure(name, latent, inference))
    found.rows += [measure(name, crf) for name, crf in crfs.items()]
    _curves(found, measure, latent, lambda text, s: tell(text, 0.8 + 0.15 * s))
    tell("concentration", 0.95)
    found.concentration = concentration(latent, measure.cells[: plan.sampled])
    return found


def _priors(task: Task) -> dict[str, float]:
    """Return the variances of CRFs by name: that of the latent model and, if another, their own best."""
    own = {} if task.own_variance == task.variance else {OWN: task.own_variance}
    return {"CRF": task.variance, **own}


def _learn(
    plan: Plan, task: Task, learned: Sentences, which: str, variance: float, found: TaskReport, tell: Tell
) -> Tagger:
    """Learn a model from the same features, by the same optimiser, with a Gaussian prior."""
    common: dict[str, Any] = {
        "templates": task.templates,
        "min_count": task.min_count,
        "epochs": plan.epochs,
    }
    if which == LATENT:
        common |= {"latent": task.latent, "variance": variance, "seed": plan.seed}
        tagger = Tagger(task.target, "latent-crf", **common)
    else:
        tagger = Tagger(task.target, "crf", algorithm="lbfgs", c1=0.0, c2=0.5 / variance, **common)

    def progress(told: Progress) -> None:
        found.iterations[which] = told.epoch
        tell(f"learning, {which}, iteration {told.epoch}, loss {told.loss:.4f}", told.epoch / told.epochs)

    began = perf_counter()
    tagger.fit(learned, threads=plan.threads, progress=progress)
    found.seconds[which] = perf_counter() - began
    return tagger


def _curves(found: TaskReport, measure: Measure, latent: Tagger, tell: Tell) -> None:
    """Stop LDI after more and more steps."""
    for bound in ("mass", "label"):
        for n, steps in enumerate(STEPS):
            tell(f"{bound} bound, n = {steps}", (n + len(STEPS) * (bound == "label")) / (2 * len(STEPS)))
            row = measure(f"n={steps}", latent, LDI(steps=steps, bound=bound))
            found.points.append(Point(bound, steps, row))


def concentration(tagger: Tagger, cells: Any) -> list[float]:
    """Return the mass of the best 1, 2, ... latent paths, averaged over sentences."""
    total = np.zeros(TOP)
    for one in cells:
        scores, chain = tagger.latent.scores([one]), tagger.latent.hidden(one)
        log_z = chain.marginals(scores).log_partition
        masses = [math.exp(path.score - log_z) for path in islice(chain.paths(scores), TOP)]
        total[: len(masses)] += masses
    mass: list[float] = (np.cumsum(total) / max(len(cells), 1)).tolist()
    return mass
