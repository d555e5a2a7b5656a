"""What the benchmark of latent models is asked, and what it finds."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from certus.errors import InvalidInput
from certus_bench.harness.benchmark import BenchmarkReport
from certus_bench.harness.options import Data, Seed, check_data, flag_quick, require_data, split_names
from certus_bench.harness.significance import McNemar
from certus_bench.latent.tasks import TASKS, Task

STEPS = (1, 2, 3, 5, 10, 20, 30, 50, 100, 250, 1000, 10_000)  # of figures 4 and 5
FEW = 30  # the steps of LDI-A
MANY = 10_000  # what the paper calls exact


@dataclass(frozen=True, kw_only=True)
class LatentPlan:
    """What to measure."""

    data: Path  # the folder that the corpora lie in
    only: frozenset[str] = frozenset()  # the tasks to run; all if it is empty
    quick: bool = False  # learn little from few sentences: for a first look, not for figures
    threads: int = 2  # for learning; inference is timed on one
    seed: int = 0  # of the weights that learning begins from
    seeds: int = 1  # how many latent models to learn, from this seed on; tables are of the first
    # of priors, to be compared on the last eighth of the training sentences; nothing else is measured then
    variances: tuple[float, ...] = ()
    models: Path | None = None  # where learned models are kept, if anywhere; those that are there are taken

    def __post_init__(self) -> None:
        """Refuse what cannot be run, before any time is spent."""
        unknown = sorted(self.only - TASKS.keys())
        if unknown:
            raise InvalidInput(f"there is no task {unknown[0]!r} to run; there are {', '.join(TASKS)}")
        if not all(0 < variance < float("inf") for variance in self.variances):
            raise InvalidInput("variances must be finite numbers above 0")
        check_data(self.data)
        for task in self.tasks:
            task.check(self.data)

    @property
    def tasks(self) -> list[Task]:
        """The tasks to run."""
        return [task for name, task in TASKS.items() if not self.only or name in self.only]

    @property
    def limit(self) -> int | None:
        """The most sentences of each part."""
        return 500 if self.quick else None

    @property
    def epochs(self) -> int:
        """Iterations of L-BFGS."""
        return 30 if self.quick else 200

    @property
    def repeats(self) -> int:
        """How many times inference over all sentences is timed; the median counts."""
        return 3 if self.quick else 5

    @property
    def sampled(self) -> int:
        """Sentences whose latent paths are looked at one by one."""
        return 20 if self.quick else 200


def make_plan(
    data: Data = None,
    only: Annotated[str, typer.Option(help="The task, np or jnlpba; both by default.")] = "",
    quick: Annotated[bool, flag_quick("Learn little from 500 sentences: a first look.")] = False,
    threads: Annotated[int, typer.Option(min=1, help="Threads for learning; inference is timed on one.")] = 2,
    seed: Seed = 0,
    seeds: Annotated[
        int, typer.Option(min=1, help="How many latent models to learn, from one seed after the other.")
    ] = 1,
    variances: Annotated[
        str,
        typer.Option(
            help="Variances of priors, separated by commas, to compare on held-out training sentences alone."
        ),
    ] = "",
    models: Annotated[
        Path | None,
        typer.Option(
            help="Keep learned models in this folder, and take those that are there.", metavar="FOLDER"
        ),
    ] = None,
) -> LatentPlan:
    """Learn latent-dynamic CRFs and find labels in every way: noun phrases, and biomedical entities.

    The tables and figures of Sun & Tsujii (2009), beside a CRF with the same features. The corpora do not
    come with Certus. All of it takes about a quarter of an hour.
    """
    return LatentPlan(
        data=require_data(data),
        only=frozenset(split_names(only)),
        quick=quick,
        threads=threads,
        seed=seed,
        seeds=seeds,
        variances=_parse_numbers(variances),
        models=models,
    )


def _parse_numbers(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(name) for name in split_names(text))
    except ValueError:
        raise InvalidInput(f"variances must be numbers, separated by commas: {text!r} are not") from None


@dataclass(frozen=True)
class InferenceRow:
    """A way to label the test data (tables 3, 4 and 5)."""

    name: str  # of the model and its inference
    sentences: float  # the share of sentences without a mistake, in percent
    precision: float  # of spans, in percent; so are recall and F1
    recall: float
    f1: float
    seconds: float  # from words to labels, features included, all sentences, one thread
    exact: float  # the share of sentences whose labels are proven best, in percent
    paths: float = 0.0  # latent paths per sentence, on average
    prefixes: float = 0.0  # prefixes of labels per sentence that the label bound expanded, on average


@dataclass(frozen=True)
class Point:
    """LDI stopped after ``steps`` latent paths (figures 4 and 5), with one of its bounds."""

    bound: str
    steps: int
    row: InferenceRow


@dataclass(frozen=True)
class Prior:
    """Models with a prior, measured on training sentences that were held out."""

    variance: float
    crf: float  # F1
    latent: float  # F1 of LDI-A


@dataclass
class TaskReport:
    """What was found on one task."""

    task: str  # its name
    title: str  # what it is
    learned: int  # sentences to learn from
    measured: int  # sentences to measure on
    states: int = 0  # latent states in all
    features: int = 0  # of the latent model
    # of learning, by model: ``latent`` and CRFs by their names; files and features included. Models that had
    # been kept are missing here
    seconds: dict[str, float] = field(default_factory=dict)
    iterations: dict[str, int] = field(default_factory=dict)  # of L-BFGS, by model
    rows: list[InferenceRow] = field(default_factory=list)  # the tables
    tests: list[McNemar] = field(default_factory=list)  # of the rows
    scores: dict[str, list[float]] = field(default_factory=dict)  # F1 by row, one for each seed
    seed_tests: list[list[McNemar]] = field(default_factory=list)  # the same tests, for each seed
    points: list[Point] = field(default_factory=list)  # the curves
    priors: list[Prior] = field(default_factory=list)  # if these were asked for
    # the mass of the best 1, 2, ... latent paths, averaged over sentences (figure 2).
    concentration: list[float] = field(default_factory=list)

    def find_row(self, name: str) -> InferenceRow | None:
        """Return a row of the tables, or None if it was not measured."""
        return next((row for row in self.rows if row.name == name), None)

    def find_point(self, bound: str, steps: int) -> InferenceRow | None:
        """Return a point of the curves, or None if it was not measured."""
        return next((p.row for p in self.points if (p.bound, p.steps) == (bound, steps)), None)


@dataclass
class LatentReport(BenchmarkReport):
    """What was found on each task."""

    plan: LatentPlan
    tasks: list[TaskReport] = field(default_factory=list)

    def find_task(self, name: str) -> TaskReport | None:
        """Return what was found on a task, or None if it was not run."""
        return next((task for task in self.tasks if task.task == name), None)
