"""What a run of the joint benchmark is asked to do, and what it finds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from certus.errors import InvalidInput
from certus_bench.timing import Spread

FILE = "treebank/wsj_sample.mrg"
PAPER, PROOF = "subgradient", "auto"  # the paper's method; the default, with tightening and branching
PATIENCE = 500  # iterations that optimisers are given for the comparison
K = 50  # iterations that the paper gives its method
KS = (1, 2, 3, 5, 10, 20, 30, 40, 50)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What to measure.

    Attributes:
        data: the folder that the treebank lies in.
        train: how many trees from the beginning to learn from; the others are tested on.
        held_out: how many of these, from the end, choose the weight.
        test: the most sentences to test on.
        timed: how many sentences of 15 to 25 words to time beside HiGHS.
        seconds: the most that HiGHS gets for one of them.
        epochs: of the tagger.
        quick: fewer of all: for a first look, not for figures.
    """

    data: Path
    train: int = 3500
    held_out: int = 350
    test: int | None = None
    timed: int = 12
    seconds: float = 300.0
    epochs: int = 10
    quick: bool = False

    def __post_init__(self) -> None:
        """Refuse what cannot be run, before any time is spent."""
        if not self.file.is_file():
            raise InvalidInput(
                f"the joint benchmark needs {self.file}, which is not there; name the folder of the data by "
                "--data or CERTUS_DATA"
            )

    @property
    def file(self) -> Path:
        """The treebank."""
        return self.data / FILE

    def hurried(self) -> Plan:
        """Return the plan of a quick run."""
        few = min(self.train, 600)
        return Plan(data=self.data, train=few, held_out=30, test=40, timed=3, epochs=3, quick=True)


@dataclass(frozen=True)
class Solved:
    """How one way of solving fared on one sentence.

    Attributes:
        sentence: its number, and ``length`` its words.
        method: PAPER or PROOF.
        iterations: until the certificate, or until the end without one.
        nodes: of branch and bound.
        proven: whether there is a certificate.
        score: of the best answer, and ``bound`` on all.
        seconds: from words to the answer.
        pruning: of the lattice.
    """

    sentence: int
    length: int
    method: str
    iterations: int
    nodes: int
    proven: bool
    score: float
    bound: float
    seconds: float
    pruning: float | None


@dataclass(frozen=True)
class Quality:
    """How good some trees are, in percent.

    Attributes:
        what: whose they are.
        precision: of labelled brackets; ``recall`` and ``f1`` likewise.
        tags: accuracy of the tags, punctuation included.
        sentences: how many there were, and ``unparsed`` how many without a tree.
    """

    what: str
    precision: float
    recall: float
    f1: float
    tags: float
    sentences: int
    unparsed: int


@dataclass(frozen=True)
class AtK:
    """The answers after at most k iterations of the paper's method, in percent: a point of figure 5.

    Attributes:
        k: the limit.
        f1: of labelled brackets.
        certificates: the share of sentences with one.
        match: the share whose tree is that after the last k.
    """

    k: int
    f1: float
    certificates: float
    match: float


@dataclass(frozen=True)
class Timed:
    """One sentence, solved here and by HiGHS.

    Attributes:
        length: its words.
        ours: seconds from words to the proven answer.
        linear: seconds that HiGHS takes for the relaxation, the forest being there already.
        integer: the same for the integer program.
        cut: seconds from words to the answer of the integer program where the forest is first cut down,
            exactly, to the trees that score no less than the one with the tagger's tags; None where no tree
            has these.
        variables: of both programs on the whole forest.
        whole: whether the relaxation's best point is whole.
        difference: the largest of the scores found, less the least; of the integer program and ours.
    """

    length: int
    ours: float
    linear: float
    integer: float
    cut: float | None
    variables: int
    whole: bool
    difference: float


@dataclass
class Report:
    """All that a run found."""

    plan: Plan
    machine: dict[str, Any]
    weight: float = 1.0
    tuning: list[tuple[float, float, float]] = field(default_factory=list)  # weight, F1, tag accuracy
    solved: list[Solved] = field(default_factory=list)
    quality: list[Quality] = field(default_factory=list)
    curve: list[AtK] = field(default_factory=list)
    timed: list[Timed] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def of(self, method: str) -> list[Solved]:
        """Return what one way of solving came to."""
        return [row for row in self.solved if row.method == method]

    def iterations(self, method: str, quantile: float) -> float | None:
        """Return a quantile of the iterations until a certificate; None if the method was not run.

        Without a certificate, no number of iterations is enough.
        """
        counts = sorted(row.iterations if row.proven else float("inf") for row in self.of(method))
        return float(counts[min(int(quantile * len(counts)), len(counts) - 1)]) if counts else None

    def within(self, method: str, limit: int) -> float | None:
        """Return the share of sentences, in percent, that have a certificate within so many iterations."""
        rows = self.of(method)
        return 100 * sum(row.proven and row.iterations <= limit for row in rows) / len(rows) if rows else None

    def ratio(self, program: str) -> Spread | None:
        """Return how many times as long HiGHS takes, ``linear`` or ``integer``: median and quartiles."""
        return Spread.of([getattr(row, program) / row.ours for row in self.timed]) if self.timed else None

    def named(self, what: str) -> Quality | None:
        """Return the quality of some trees, or None if there are none."""
        return next((row for row in self.quality if row.what == what), None)


def buckets(rows: Sequence[Solved], limit: int) -> dict[str, float]:
    """Share sentences out by the iterations they took, in percent, as Rush et al. (2010), table 1."""
    edges = {"1": (1, 1), "2": (2, 2), "3": (3, 3), "4": (4, 4), "5-10": (5, 10), "11-20": (11, 20),
             "21-50": (21, 50)}  # fmt: skip
    share = {
        name: 100 * sum(row.proven and low <= row.iterations <= min(high, limit) for row in rows) / len(rows)
        for name, (low, high) in edges.items()
    }
    return {**share, "**": 100 - sum(share.values())}
