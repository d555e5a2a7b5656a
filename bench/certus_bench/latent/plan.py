"""What a run of the latent benchmark is asked to do, and what it finds."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from certus.errors import InvalidInput
from certus_bench.latent.tasks import TASKS, Task

STEPS = (1, 2, 3, 5, 10, 20, 30, 50, 100, 250, 1000, 10_000)  # of figures 4 and 5
FEW = 30  # the steps of LDI-A
MANY = 10_000  # what the paper calls exact


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What to measure.

    Attributes:
        data: the folder that the corpora lie in.
        only: the tasks to run; all if it is empty.
        quick: learn little from few sentences: for a first look, not for figures.
        threads: for learning; inference is timed on one.
        seed: of the weights that learning begins from.
    """

    data: Path
    only: frozenset[str] = frozenset()
    quick: bool = False
    threads: int = 2
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what cannot be run, before any time is spent."""
        unknown = sorted(self.only - TASKS.keys())
        if unknown:
            raise InvalidInput(f"there is no task {unknown[0]!r} to run; there are {', '.join(TASKS)}")
        if not self.data.is_dir():
            raise InvalidInput(f"there is no folder {self.data} with data; name one by --data or CERTUS_DATA")
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


@dataclass(frozen=True)
class Row:
    """A way to label the test data (tables 3, 4 and 5).

    Attributes:
        name: of the model and its inference.
        sentences: the share of sentences without a mistake, in percent.
        precision: of spans, in percent.
        recall: of spans, in percent.
        f1: of spans, in percent.
        seconds: from words to labels, features included, all sentences, one thread.
        exact: the share of sentences whose labels are proven best, in percent.
        paths: latent paths a sentence, on average.
        prefixes: prefixes of labels a sentence that the label bound expanded, on average.
    """

    name: str
    sentences: float
    precision: float
    recall: float
    f1: float
    seconds: float
    exact: float
    paths: float = 0.0
    prefixes: float = 0.0


@dataclass(frozen=True)
class Point:
    """LDI stopped after ``steps`` latent paths (figures 4 and 5), with one of its bounds."""

    bound: str
    steps: int
    row: Row


@dataclass
class TaskReport:
    """What was found on one task.

    Attributes:
        task: its name.
        title: what it is.
        learned: sentences to learn from.
        measured: sentences to measure on.
        states: latent states in all.
        features: of the latent model.
        seconds: of learning, by model: ``latent`` and CRFs by their names; files and features included.
        iterations: of L-BFGS, by model.
        rows: the tables.
        points: the curves.
        concentration: the mass of the best 1, 2, ... latent paths, averaged over sentences (figure 2).
    """

    task: str
    title: str
    learned: int
    measured: int
    states: int = 0
    features: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    iterations: dict[str, int] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    points: list[Point] = field(default_factory=list)
    concentration: list[float] = field(default_factory=list)

    def row(self, name: str) -> Row | None:
        """Return a row of the tables, or None if it was not measured."""
        return next((row for row in self.rows if row.name == name), None)

    def point(self, bound: str, steps: int) -> Row | None:
        """Return a point of the curves, or None if it was not measured."""
        return next((p.row for p in self.points if (p.bound, p.steps) == (bound, steps)), None)


@dataclass
class Report:
    """All that a run found."""

    plan: Plan
    machine: dict[str, Any]
    tasks: list[TaskReport] = field(default_factory=list)

    def task(self, name: str) -> TaskReport | None:
        """Return what was found on a task, or None if it was not run."""
        return next((task for task in self.tasks if task.task == name), None)
