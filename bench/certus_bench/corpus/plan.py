"""What a run of the corpus benchmark is asked to do, and what it finds."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from certus.errors import InvalidInput
from certus_bench.timing import Spread

SIZES = (50, 100, 200, 500)  # sentences learned from: Rush et al. 2012, table 4
TARGETS = ("upos", "xpos")
PARTS = ("dev", "test")
FOLDER = "ud/en_ewt"


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What to measure.

    Attributes:
        data: the folder that the corpora lie in; UD English EWT in ud/en_ewt.
        part: what is labelled: ``test``, or ``dev`` while one is still choosing.
        sizes: how many sentences are learned from.
        targets: what is predicted.
        order: of the pruned CRF; 2 looks back as far as the paper's trigram tagger.
        repeats: how often each thing is timed.
        text: how many sentences of the training file, after the last that is learned from, serve as
            unannotated text.
    """

    data: Path
    part: str = "test"
    sizes: tuple[int, ...] = SIZES
    targets: tuple[str, ...] = TARGETS
    order: int = 2
    repeats: int = 3
    text: int = 12_000

    def __post_init__(self) -> None:
        """Refuse what cannot be run, before any time is spent."""
        if self.part not in PARTS:
            raise InvalidInput(f"there is no part {self.part!r} to label; there are {', '.join(PARTS)}")
        for name in ("train", self.part):
            if not self.file(name).is_file():
                raise InvalidInput(f"there is no {self.file(name)}: name the folder by --data or CERTUS_DATA")

    def file(self, name: str) -> Path:
        """Return where a part of the corpus lies."""
        return self.data / FOLDER / f"{name}.conllu"

    def hurried(self) -> Plan:
        """Return the plan of a quick run."""
        return dataclasses.replace(
            self, sizes=self.sizes[:1], targets=self.targets[:1], order=1, repeats=1, text=1000
        )


@dataclass(frozen=True)
class Row:
    """A tagger learned from few sentences, by itself and with consistency.

    Attributes:
        target: what is predicted.
        size: sentences that were learned from.
        text: sentences of unannotated text that were given.
        base: accuracy in percent, sentence by sentence.
        model: accuracy in percent with consistency.
        base_unknown: of words that were not learned from.
        model_unknown: likewise.
        p: how often chance alone makes a difference as large as that between base and model.
        certified: percent of all sentences, added ones too, whose labels are proven.
        nodes: word types that should agree.
        constrained: words of these.
        components: of the problem.
        iterations: over the corpus.
        tagging: seconds, sentence by sentence, of all sentences that were given.
        consistent: seconds of all of it with consistency.
        command: of ``certus tag`` from file to file, and with ``--consistent``; None if not timed.
        shares: the time of each iteration, as a share of loading, in which all sentences are decoded.
    """

    target: str
    size: int
    text: int
    base: float
    model: float
    base_unknown: float
    model_unknown: float
    p: float
    certified: float
    nodes: int
    constrained: int
    components: int
    iterations: int
    tagging: Spread
    consistent: Spread
    command: tuple[float, float] | None
    shares: list[float]

    @property
    def reduction(self) -> float:
        """How many percent of the errors are gone."""
        return _reduction(self.base, self.model)

    @property
    def unknown_reduction(self) -> float:
        """How many percent of the errors on unknown words are gone."""
        return _reduction(self.base_unknown, self.model_unknown)

    @property
    def cost(self) -> float:
        """Of everything, over tagging sentence by sentence; both from words in memory to labels."""
        return self.consistent.median / self.tagging.median

    @property
    def command_cost(self) -> float | None:
        """The same of the command, from file to file."""
        return None if self.command is None else self.command[1] / self.command[0]


def _reduction(before: float, after: float) -> float:
    return 100 * (after - before) / (100 - before) if before < 100 else 0.0


@dataclass(frozen=True)
class Steps:
    """One problem, solved in two ways.

    Attributes:
        method: one of ``certus.corpus.METHODS``.
        size: sentences that were learned from.
        gaps: the bound over the best score known, after each iteration.
        solved: pieces of sentences that were decoded, all iterations together.
        certified: percent of sentences.
        seconds: of all iterations.
    """

    method: str
    size: int
    gaps: list[float]
    solved: int
    certified: float
    seconds: float


@dataclass
class Report:
    """All that a run found."""

    plan: Plan
    machine: dict[str, Any]
    rows: list[Row] = field(default_factory=list)
    steps: list[Steps] = field(default_factory=list)
