"""What a run of the tagger benchmark is asked to do, and what it finds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from certus.errors import InvalidInput
from certus_bench.plan import Row
from certus_bench.tagger.corpora import CORPORA
from certus_bench.timing import Spread

PARTS = ("decoders", "training", "orders", "tasks")
_HURRY = 1000  # sentences that a quick run learns from


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What to measure.

    Attributes:
        data: the folder that the corpora lie in.
        only: names of parts and of corpora; parts that are not named are left out if any part is named, and
            likewise corpora.
        quick: learn from few sentences for two epochs: for a first look, not for figures.
        seconds: budget for timing one thing.
        sentences: how many each decoder is timed on.
    """

    data: Path
    only: frozenset[str] = frozenset()
    quick: bool = False
    seconds: float = 2.0
    sentences: int = 20

    def __post_init__(self) -> None:
        """Refuse what cannot be run, before any time is spent."""
        unknown = sorted(self.only - set(PARTS) - CORPORA.keys())
        if unknown:
            raise InvalidInput(
                f"there is nothing called {unknown[0]!r} to run; there are the parts {', '.join(PARTS)} and "
                f"the corpora {', '.join(CORPORA)}"
            )
        if not self.data.is_dir():
            raise InvalidInput(f"there is no folder {self.data} with data; name one by --data or CERTUS_DATA")

    def hurried(self) -> Plan:
        """Return the plan of a quick run."""
        return Plan(data=self.data, only=self.only, quick=True, seconds=self.seconds / 10, sentences=5)

    def epochs(self, wanted: int) -> int:
        """Return how many epochs to train for."""
        return min(2, wanted) if self.quick else wanted

    @property
    def limit(self) -> int | None:
        """The most sentences to learn from."""
        return _HURRY if self.quick else None

    @property
    def parts(self) -> list[str]:
        """The parts to run."""
        return [part for part in PARTS if not self.only & set(PARTS) or part in self.only]


@dataclass(frozen=True)
class Trained:
    """A model that was trained in a process of its own, and how good and fast it is.

    Attributes:
        corpus: its name.
        what: the learner, with its order.
        part: what it was measured on: ``dev`` or ``test``.
        labels: how many it knows.
        tokens: how many it learned from.
        seconds: from the file to the trained model: reading, features, learning.
        megabytes: the most memory that the process ever had, until the model was trained.
        accuracy: in percent; of ``unknown`` words alone, those not seen in training.
        f1: of spans, in percent, where the labels hold spans.
        token: seconds a token from tokens in memory to labels, all sentences in one batch, on one core.
        length: tokens a sentence, on average; None if it is not known.
        quoted: whether the figures are somebody's, and not of this run.
    """

    corpus: str
    what: str
    part: str
    labels: int
    tokens: int
    seconds: float
    megabytes: float
    accuracy: float
    unknown: float | None
    f1: float | None
    token: Spread
    length: float | None
    quoted: bool = False

    @property
    def tokens_per_second(self) -> float:
        """Speed of tagging."""
        return 1 / self.token.median

    @property
    def sentences_per_second(self) -> float | None:
        """Speed of tagging."""
        return None if self.length is None else self.tokens_per_second / self.length


@dataclass(frozen=True)
class Learning:
    """How long a perceptron learns with one way of decoding.

    Attributes:
        seconds: for all epochs.
        measured: sentences that were learned from, all epochs together.
        needed: as many as all epochs have; where fewer were measured, ``seconds`` is extrapolated.
    """

    corpus: str
    labels: int
    decoder: str
    epochs: int
    seconds: float
    measured: int
    needed: int

    @property
    def extrapolated(self) -> bool:
        """Whether only a part was measured."""
        return self.measured < self.needed


@dataclass(frozen=True)
class Startup:
    """How long ``certus tag`` takes to its first label: the whole process, with a sentence to tag.

    Attributes:
        spread: seconds.
        model: which one it opens.
    """

    spread: Spread
    model: str


@dataclass
class Report:
    """All that a run found.

    ``rows`` are the decoders': their ``lattice`` is the name of a corpus.
    """

    plan: Plan
    machine: dict[str, Any]
    rows: list[Row] = field(default_factory=list)
    learning: list[Learning] = field(default_factory=list)
    orders: list[Trained] = field(default_factory=list)
    tasks: list[Trained] = field(default_factory=list)
    startup: Startup | None = None
    failures: list[str] = field(default_factory=list)

    def seconds(self, method: str, corpus: str, k: int = 1) -> float | None:
        """Return the median time of a decoder on a sentence, or None if it was not run."""
        found = (row for row in self.rows if (row.method, row.lattice, row.k) == (method, corpus, k))
        return next((row.spread.median for row in found), None)

    def task(self, corpus: str, what: str) -> Trained | None:
        """Return a model of the tasks, or None if it was not run."""
        return next(
            (row for row in self.tasks if (row.corpus, row.what) == (corpus, what) and not row.quoted), None
        )

    def fail(self, problems: Iterable[str]) -> None:
        """Note wrong answers, each kind once."""
        self.failures.extend(problem for problem in problems if problem not in self.failures)
