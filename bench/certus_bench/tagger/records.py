"""What a run of the tagger benchmark is asked to do, and what it finds."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from certus.errors import InvalidInput
from certus_bench.corpora import CORPORA
from certus_bench.harness.benchmark import BenchmarkReport
from certus_bench.harness.options import Data, check_data, flag_quick, require_data, split_names
from certus_bench.harness.timing import Spread
from certus_bench.referee import Row, find_seconds

PARTS = ("decoders", "training", "orders", "oracle", "proofs", "tasks")
_HURRY = 1000  # sentences that a quick run learns from


@dataclass(frozen=True, kw_only=True)
class TaggerPlan:
    """What to measure."""

    data: Path  # the folder that the corpora lie in
    # names of parts and of corpora; parts that are not named are left out if any part is named, and
    # likewise corpora
    only: frozenset[str] = frozenset()
    quick: bool = False  # learn from few sentences for two epochs: for a first look, not for figures
    seconds: float = 2.0  # budget for timing one thing
    sentences: int = 20  # how many each decoder is timed on
    seeds: int = 1  # how many models of each order are trained, from seed 0 on; tables are of the first

    def __post_init__(self) -> None:
        """Refuse what cannot be run, before any time is spent."""
        unknown = sorted(self.only - set(PARTS) - CORPORA.keys())
        if unknown:
            raise InvalidInput(
                f"there is nothing called {unknown[0]!r} to run; there are the parts {', '.join(PARTS)} and "
                f"the corpora {', '.join(CORPORA)}"
            )
        check_data(self.data)

    def hurry(self) -> TaggerPlan:
        """Return the plan of a quick run."""
        return replace(self, quick=True, seconds=self.seconds / 10, sentences=5)

    def limit_epochs(self, wanted: int) -> int:
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


def make_plan(
    data: Data = None,
    only: Annotated[
        str,
        typer.Option(
            help="Parts (decoders, training, orders, oracle, proofs, tasks) and corpora by name, separated "
            "by commas; all by default."
        ),
    ] = "",
    quick: Annotated[bool, flag_quick("Learn from 1,000 sentences for two epochs: a first look.")] = False,
    seeds: Annotated[
        int,
        typer.Option(min=1, help="How many models of each order to train, each from another seed."),
    ] = 1,
) -> TaggerPlan:
    """Train taggers on real corpora: decoders, training, orders of CRFs and their proofs, whole tasks.

    The corpora do not come with Certus. Everything is trained on train and compared on dev; test is used in
    the tasks, and to count proofs. python-crfsuite does one of the tasks, too, if it is installed. The last
    table holds the promises of the documentation against this machine. All of it takes about an hour and a
    half.
    """
    plan = TaggerPlan(data=require_data(data), only=frozenset(split_names(only)), seeds=seeds)
    return plan.hurry() if quick else plan


@dataclass(frozen=True)
class TrainedTagger:
    """A model that was trained in a process of its own, and how good and fast it is."""

    corpus: str  # its name
    what: str  # the learner, with its order
    part: str  # what it was measured on: ``dev`` or ``test``
    labels: int  # how many it knows
    tokens: int  # how many it learned from
    seconds: float  # from the file to the trained model: reading, features, learning
    megabytes: float  # the most memory that the process ever had, until the model was trained
    accuracy: float  # in percent; of ``unknown`` words alone, those not seen in training
    unknown: float | None
    f1: float | None  # of spans, in percent, where the labels hold spans
    token: (
        Spread  # seconds per token from tokens in memory to labels, all sentences in one batch, on one core
    )
    length: float | None  # tokens per sentence, on average; None if it is not known
    quoted: bool = False  # whether the figures are somebody's, and not of this run

    @property
    def tokens_per_second(self) -> float:
        """Speed of tagging."""
        return 1 / self.token.median

    @property
    def sentences_per_second(self) -> float | None:
        """Speed of tagging."""
        return None if self.length is None else self.tokens_per_second / self.length


@dataclass(frozen=True)
class SeedScores:
    """Accuracies of models that differ in their seed alone."""

    corpus: str
    what: str
    accuracies: tuple[float, ...]  # in percent, one for each seed


@dataclass(frozen=True)
class Learning:
    """How long a perceptron learns with one way of decoding."""

    corpus: str
    labels: int
    decoder: str
    epochs: int
    seconds: float  # for all epochs
    measured: int  # sentences that were learned from, all epochs together
    needed: int  # as many as all epochs have; where fewer were measured, ``seconds`` is extrapolated

    @property
    def extrapolated(self) -> bool:
        """Whether only a part was measured."""
        return self.measured < self.needed

    def as_dict(self) -> dict[str, Any]:
        """Return all of it, and whether it is extrapolated."""
        return {**asdict(self), "extrapolated": self.extrapolated}


@dataclass(frozen=True)
class Startup:
    """How long ``certus tag`` takes to its first label: the whole process, with a sentence to tag."""

    spread: Spread  # seconds
    model: str  # which one it opens


@dataclass(frozen=True, kw_only=True)
class ProofCost:
    """How many answers of a pruned CRF are proven, and what that takes."""

    corpus: str
    order: int
    labels: int
    sentences: int
    proven: float  # in percent of sentences; also of those with a finite bound
    finite: float
    unproven_token: float  # seconds of the processor per token, all sentences in one call
    proven_token: float
    megabytes: float  # of the model's arrays
    more: float  # by how much proofs make them larger, in percent

    @property
    def ratio(self) -> float:
        """What tagging with proofs takes over tagging without."""
        return self.proven_token / self.unproven_token


@dataclass(frozen=True)
class PruningCost:
    """A pruned CRF of order 1, and how often pruning drops what is annotated."""

    corpus: str
    labels: int
    what: str  # how many labels are kept, and whether by an oracle
    seed: int
    accuracy: float  # on dev, in percent; of ``proven`` answers, the best under the whole model
    proven: float
    lost: tuple[float, ...]  # sentences whose labels were dropped in training, in percent, by epoch
    lost_on_dev: tuple[float, ...]  # those of dev, after each epoch


@dataclass
class TaggerReport(BenchmarkReport):
    """The times of decoders and of learning, and the models that were trained."""

    plan: TaggerPlan
    decoders: list[Row] = field(default_factory=list)  # their ``lattice`` is the name of a corpus
    training: list[Learning] = field(default_factory=list)
    orders: list[TrainedTagger] = field(default_factory=list)
    seeds: list[SeedScores] = field(default_factory=list)  # of the orders, if there are several
    pruning: list[PruningCost] = field(default_factory=list)
    proofs: list[ProofCost] = field(default_factory=list)
    tasks: list[TrainedTagger] = field(default_factory=list)
    startup: Startup | None = None

    def find_seconds(self, method: str, corpus: str, k: int = 1) -> float | None:
        """Return the median time of a decoder on a sentence, or None if it was not run."""
        return find_seconds(self.decoders, method=method, lattice=corpus, k=k)

    def find_task(self, corpus: str, what: str) -> TrainedTagger | None:
        """Return a model of the tasks, or None if it was not run."""
        found = (row for row in self.tasks if (row.corpus, row.what) == (corpus, what) and not row.quoted)
        return next(found, None)
