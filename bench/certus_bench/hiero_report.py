"""What ``certus bench hiero`` is asked, what it finds, and its promises and tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Group

from certus.errors import InvalidInput
from certus.translate import (
    CoarseToFine,
    CubePruning,
    Exhaustive,
    ForestBeam,
    ForestLagrangian,
    ForestMethod,
    ForestProgram,
    ForestTightening,
)
from certus_bench.harness.benchmark import BenchmarkReport
from certus_bench.harness.claims import Claim, divide
from certus_bench.harness.tables import add_title, make_table

OPTIMAL = "coarse-to-fine"
DECODERS: dict[str, ForestMethod] = {
    OPTIMAL: CoarseToFine(),
    "optimal-beam": ForestBeam(),
    "cube 50": CubePruning(width=50),
    "cube 500": CubePruning(width=500),
    "cube 1000": CubePruning(width=1000),
}
SLOW: dict[str, ForestMethod] = {
    "exhaustive": Exhaustive(),
    "lagrangian": ForestLagrangian(),
    "lagrangian of leaves": ForestLagrangian(paths=False),
    "tightening": ForestTightening(),
    "tightening of all edges": ForestTightening(prune=False),
    "lp": ForestProgram(relaxed=True),
    "ilp": ForestProgram(),
}
PATIENCE = 30.0  # seconds of each call
LIMITS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)  # seconds
PARTS = (2, 3, 4, 6, 10)  # that words are divided into at most


@dataclass(frozen=True, kw_only=True)
class HieroPlan:
    """What to translate, and how."""

    data: Path
    language: str = "de"
    part: str = "test2016"
    count: int = 300
    longest: int = 1000
    decoders: tuple[str, ...] = tuple(DECODERS)
    order: int = 3
    options: int = 20
    seconds: float = PATIENCE
    model: Path | None = None
    threads: int = 1

    def __post_init__(self) -> None:
        """Refuse what cannot be run, before any time is spent."""
        known = {**DECODERS, **SLOW}
        unknown = next((name for name in self.decoders if name not in known), None)
        if unknown is not None:
            raise InvalidInput(f"there is no decoder {unknown!r}; there are {', '.join(known)}")


@dataclass(frozen=True)
class DecoderRow:
    """One decoder on all sentences; seconds of the processor."""

    decoder: str
    median: float
    mean: float
    worst: float
    proven: float  # in percent
    errors: float  # sentences, in percent, with a better translation that another one found
    items: float  # in the mean
    within: list[float]  # the share of sentences, in percent, that are proven within each of LIMITS
    parts: list[
        int
    ]  # that words were divided into, of each sentence that was proven; none for other decoders
    fractional: float | None  # of the linear programs that were solved, in percent


@dataclass
class HieroReport(BenchmarkReport):
    """What the decoders did."""

    plan: HieroPlan
    sentences: int = 0
    edges: float = 0  # of forests, in the median
    rows: list[DecoderRow] = field(default_factory=list)

    def find_median(self, decoder: str) -> float | None:
        """Return the median time of a decoder, if it was measured."""
        return next((row.median for row in self.rows if row.decoder == decoder), None)

    def find_mean(self, decoder: str) -> float | None:
        """Return the mean time of a decoder, if it was measured."""
        return next((row.mean for row in self.rows if row.decoder == decoder), None)


def make_claims(report: HieroReport) -> list[Claim]:
    """Return what is promised, with what was measured."""
    proven = next((row.proven for row in report.rows if row.decoder == OPTIMAL), None)
    optimal = report.find_median(OPTIMAL)
    return [
        Claim("sentences that coarse-to-fine proves", 99, True, proven, "%"),
        Claim(
            "coarse-to-fine over cube pruning, 50, median",
            5,
            False,
            divide(optimal, report.find_median("cube 50")),
        ),
        Claim(
            "coarse-to-fine over cube pruning, 1000, median",
            1,
            False,
            divide(optimal, report.find_median("cube 1000")),
        ),
        Claim(
            "the integer program over coarse-to-fine, mean",
            20,
            True,
            divide(report.find_mean("ilp"), report.find_mean(OPTIMAL)),
        ),
    ]


def lay_out(report: HieroReport) -> Iterator[Group | str]:
    """Yield the tables."""
    table = make_table("decoder", "median ms", "mean", "worst", "% proven", "% search errors", "items")
    for row in report.rows:
        figures = (f"{1e3 * x:.3g}" for x in (row.median, row.mean, row.worst))
        table.add_row(row.decoder, *figures, f"{row.proven:.3g}", f"{row.errors:.3g}", f"{row.items:,.0f}")
    title = f"{report.sentences} sentences, {report.edges:,.0f} edges in the median"
    yield add_title(title, table)
    table = make_table("proven within, % of all sentences", *(f"{limit:g} s" for limit in LIMITS))
    for row in report.rows:
        if row.proven:
            table.add_row(row.decoder, *(f"{share:.3g}" for share in row.within))
    yield add_title("time to the proof", table)
    yield from _lay_out_parts(report)
    for row in report.rows:
        if row.fractional is not None:
            yield f"{row.decoder}: {row.fractional:.3g} % of what was solved is fractional"


def _lay_out_parts(report: HieroReport) -> Iterator[Group]:
    """Yield how many parts words had to be divided into, where any were."""
    rows = [row for row in report.rows if row.parts]
    if not rows:
        return
    table = make_table("proven with", "one part", "more", *(f"≤ {count}" for count in PARTS), "most")
    for row in rows:
        divided = [count for count in row.parts if count > 1]
        shares = [100 * sum(count <= most for count in divided) / max(len(divided), 1) for most in PARTS]
        alone = len(row.parts) - len(divided)
        all_of = [100 * alone / report.sentences, 100 * len(divided) / report.sentences]
        table.add_row(row.decoder, *(f"{share:.3g}" for share in (*all_of, *shares)), str(max(row.parts)))
    yield add_title(
        "parts of words, % of all sentences; at most so many, % of those with more than one", table
    )
