"""How the defaults of aligners are chosen: by the first gold pairs only, in two walks over a grid.

One walk begins with the priors of the literature, the other in the middle of the grid. Both move one option
at a time to a neighbour on its grid, as long as that lowers the AER of these pairs, averaged over aligners
that learned from more and from fewer pairs; the better end is chosen. The gold links of the other pairs are
looked at once, when the choice is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path

from rich.console import Group

import certus
from certus.align.agreement import NO_LINK, SOFT, Agreement
from certus.evaluation.links import compare_links
from certus.formats.parallel import SentencePair, read_pairs
from certus.formats.pharaoh import GoldLinks, read_links
from certus.learn.aligner import AlignerOptions
from certus_bench.harness.benchmark import Tell
from certus_bench.harness.tables import add_title, make_table

TRAINING = {
    "sparse": (0.01, 0.03, 0.1, 0.3, 1.0),
    "spelling": (0.0, 0.1, 0.3, 1.0, 3.0, 10.0),
    "stems": (0.0, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0),
    "null": (0.02, 0.05, 0.1, 0.2),
}
DECODING = {
    "adjacent": (-4.0, -3.0, -2.0, -1.0, -0.5),
    "apart": (-8.0, -6.0, -4.0, -3.0, -2.0, -1.0),
    "alone": (-6.0, -4.0, -3.0, -2.0, -1.0, -0.5),
    "no link": (-0.5, 0.0, 0.5, 1.0, 1.5),
}
GRID = {**TRAINING, **DECODING}
# fast_align's prior, and nearly its probability of no link; neither spelling nor stems; one price for all
LITERATURE = {
    "sparse": 0.01,
    "spelling": 0.0,
    "stems": 0.0,
    "null": 0.1,
    "adjacent": -1.0,
    "apart": -1.0,
    "alone": -1.0,
    "no link": 0.0,
}
STARTS = {
    "the literature": LITERATURE,
    "the middle": {name: values[len(values) // 2] for name, values in GRID.items()},
}
SIZES = (1_000, 10_000, 100_000)

Point = dict[str, float]


@dataclass
class Visit:
    """A point of a walk that was better than all before it."""

    moved: str
    point: Point
    aer: float  # of the first gold pairs


@dataclass
class ChoiceReport:
    """The walks, what they end in, and where the defaults are."""

    tuning: int
    walks: list[list[Visit]] = field(default_factory=list)
    points: int = 0  # that were tried
    default: Visit | None = None
    aer_held_out: float | None = None  # of the point that was chosen, by the pairs that nothing is chosen by

    @property
    def chosen(self) -> Visit:
        """The better end of the walks."""
        return min((walk[-1] for walk in self.walks), key=lambda visit: visit.aer)


class Judge:
    """Measures points; aligners are trained once for each choice of the options of training."""

    def __init__(self, folder: Path, pairs: int, tuning: int) -> None:
        self._files = folder / "hansard.train.en", folder / "hansard.train.fr"
        self._test = list(read_pairs(folder / "hansard.test.en", folder / "hansard.test.fr"))
        self._gold = list(read_links(folder / "hansard.test.gold"))
        self._sizes = [size for size in SIZES if size <= pairs]
        self._tuning = tuning
        self._trained: tuple[Point, list[certus.Aligner]] = {}, []

    def measure(self, point: Point, *, held_out: bool = False) -> float:
        """Return the AER of the first gold pairs, or of the others, averaged over sizes."""
        part = slice(self._tuning, None) if held_out else slice(self._tuning)
        agreement = Agreement(adjacent=point["adjacent"], apart=point["apart"], alone=point["alone"])
        sides = [pair.source for pair in self._test[part]], [pair.target for pair in self._test[part]]
        found = []
        for aligner in self._train({name: point[name] for name in TRAINING}):
            answers = aligner.align_batch(*sides, agreement=agreement, null=point["no link"])
            links = [GoldLinks(frozenset(one.links), frozenset(one.links)) for one in answers]
            found.append(compare_links(self._gold[part], links).aer)
        return sum(found) / len(found)

    def _train(self, options: Point) -> list[certus.Aligner]:
        """Train on the training pairs and the first gold pairs together, without the others."""
        if self._trained[0] != options:
            self._trained = options, [self._fit(options, size) for size in self._sizes]
        return self._trained[1]

    def _fit(self, options: Point, size: int) -> certus.Aligner:
        pairs: Iterator[SentencePair] = chain(
            self._test[: self._tuning], islice(read_pairs(*self._files), size)
        )
        return certus.Aligner(**options).fit_pairs((pair.source, pair.target) for pair in pairs)


def run(folder: Path, pairs: int, tuning: int, tell: Tell) -> ChoiceReport:
    """Walk from each start until no neighbour is better."""
    report = ChoiceReport(tuning)
    judge = Judge(folder, pairs, tuning)
    tried: dict[tuple[float, ...], float] = {}

    def measure(point: Point) -> float:
        values = tuple(point.values())
        if values not in tried:
            tell(f"{len(tried)} points", min(len(tried) / 120, 0.99))
            tried[values] = judge.measure(point)
        return tried[values]

    for name, start in STARTS.items():
        report.walks.append(_walk(name, start, measure))
    report.points = len(tried)
    default = list_defaults()
    report.default = Visit("defaults", default, measure(default))
    report.aer_held_out = judge.measure(report.chosen.point, held_out=True)
    return report


def _walk(name: str, start: Point, measure: Callable[[Point], float]) -> list[Visit]:
    """Move along one option after the other, until none makes it better."""
    walk = [Visit(name, start, measure(start))]
    moved = True
    while moved:
        moved = False
        for option in (*DECODING, *TRAINING):
            point, aer = _walk_along(option, walk[-1].point, walk[-1].aer, measure)
            if aer < walk[-1].aer:
                walk.append(Visit(option, point, aer))
                moved = True
    return walk


def _walk_along(
    name: str, point: Point, best: float, measure: Callable[[Point], float]
) -> tuple[Point, float]:
    """Return the best point up or down the grid of one option, going on as long as it gets better."""
    for direction in (1, -1):
        at = GRID[name].index(point[name]) + direction
        while 0 <= at < len(GRID[name]):
            made = {**point, name: GRID[name][at]}
            aer = measure(made)
            if aer >= best:
                break
            point, best, at = made, aer, at + direction
    return point, best


def list_defaults() -> Point:
    """Return the point that a user has who chooses nothing."""
    options = AlignerOptions()
    return {
        **{name: getattr(options, name) for name in TRAINING},
        "adjacent": SOFT.adjacent,
        "apart": SOFT.apart,
        "alone": SOFT.alone,
        "no link": NO_LINK,
    }


def lay_out(report: ChoiceReport) -> Group:
    """Return a table."""
    table = make_table("moved", *GRID, f"AER, first {report.tuning}")
    for visit in [*chain(*report.walks), *([report.default] if report.default else [])]:
        values = [f"{visit.point[name]:g}" for name in GRID]
        table.add_row(visit.moved, *values, f"{100 * visit.aer:.2f}")
    if report.aer_held_out is not None:
        table.caption = (
            f"chosen: AER {100 * report.chosen.aer:.2f}; of the other pairs {100 * report.aer_held_out:.2f}"
        )
    title = f"the choice of defaults by the first {report.tuning} gold pairs, {report.points} points tried"
    return add_title(title, table)
