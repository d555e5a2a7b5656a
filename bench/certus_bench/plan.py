"""What a run of the benchmark is asked to do, and what it finds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from certus_bench.timing import Spread

Size = tuple[int, int]  # labels, length
SIZES: tuple[Size, ...] = ((45, 23), (319, 23), (443, 12), (2602, 22))
LATTICES = ("peaked", "flat", "ties")


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What to time.

    Attributes:
        sizes: pairs of label count and sentence length. The default ones are those of both papers:
            part-of-speech tagging, joint tagging of CoNLL-2000 and of CoNLL-2003, supertagging.
        lattices: which generators of ``certus_bench.lattices`` to use.
        methods: names of entries, or None for the usual ones.
        dtype: ``float64``, what NumPy makes by default, or ``float32``.
        seconds: budget for each cell; a call that takes longer is made once.
        sentences: how many different ones each cell has.
        whole: whether to time batches, threads and the cost of a call, too.
        seed: of the lattices.
    """

    sizes: tuple[Size, ...] = SIZES
    lattices: tuple[str, ...] = LATTICES
    methods: tuple[str, ...] | None = None
    dtype: str = "float64"
    seconds: float = 1.0
    sentences: int = 20
    whole: bool = True
    seed: int = 0

    def hurried(self) -> Plan:
        """Return the same plan with a tenth of the time and a quarter of the sentences a cell."""
        return replace(self, seconds=self.seconds / 10, sentences=max(1, self.sentences // 4))


@dataclass(frozen=True)
class Row:
    """The time of one method on one kind of lattice of one size: a cell of the table.

    Attributes:
        spread: seconds a call; the median over sentences and the quartiles.
        calls: how many calls were timed, over how many ``sentences``.
        once: whether the method was so slow that one call had to do.
        stats: the mean of each counter of the search over sentences; empty for rivals.
    """

    lattice: str
    labels: int
    length: int
    method: str
    kind: str
    k: int
    spread: Spread
    calls: int
    sentences: int
    once: bool
    stats: dict[str, float] = field(default_factory=dict)

    @property
    def size(self) -> Size:
        """Labels and length."""
        return self.labels, self.length


@dataclass(frozen=True)
class Whole:
    """One figure about whole calls: a batch, threads, the cost of a call.

    Attributes:
        what: a short name, the same in every run.
        detail: what exactly was timed.
        spread: seconds a sentence.
    """

    what: str
    method: str
    labels: int
    length: int
    spread: Spread
    detail: str


@dataclass
class Report:
    """All that a run found."""

    plan: Plan
    machine: dict[str, Any]
    rows: list[Row] = field(default_factory=list)
    whole: list[Whole] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def seconds(self, method: str, size: Size, lattice: str, k: int = 1) -> float | None:
        """Return the median time of a cell, or None if it was not run."""
        for row in self.rows:
            if (row.method, row.size, row.lattice, row.k) == (method, size, lattice, k):
                return row.spread.median
        return None

    def whole_seconds(self, what: str, method: str, size: Size) -> float | None:
        """Return the median time of a figure about whole calls, or None if it was not run."""
        for item in self.whole:
            if (item.what, item.method, (item.labels, item.length)) == (what, method, size):
                return item.spread.median
        return None

    def fail(self, problems: Iterable[str]) -> None:
        """Note wrong answers, each kind once."""
        self.failures.extend(problem for problem in problems if problem not in self.failures)
