"""What ``certus bench refinement`` is asked, what it finds, and its promises, tables and pictures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import numpy as np
from rich.console import Group
from rich.text import Text

from certus.errors import InvalidInput
from certus_bench.harness import pictures
from certus_bench.harness.benchmark import BenchmarkReport
from certus_bench.harness.claims import Claim, divide, get_figure, subtract
from certus_bench.harness.options import check_data
from certus_bench.harness.significance import McNemar
from certus_bench.harness.tables import add_title, make_table, warn_of_quick

PARTS = ("consistency", "states", "seeds", "ablation", "words")
_HURRY = 1000  # sentences that a quick run learns from


@dataclass(frozen=True, kw_only=True)
class RefinementPlan:
    """What to measure."""

    data: Path | None  # the folder that the corpora lie in; None if no part needs one
    only: frozenset[str] = frozenset()  # names of parts; all if empty
    quick: bool = False  # little data, few iterations: for a first look, not for figures

    def __post_init__(self) -> None:
        """Refuse what cannot be run, before any time is spent."""
        unknown = sorted(self.only - set(PARTS))
        if unknown:
            raise InvalidInput(f"there is no part {unknown[0]!r}; there are {', '.join(PARTS)}")
        if self.data is None and self.parts != ["consistency"]:
            raise InvalidInput(
                "where are the corpora? Give their folder by --data, or in CERTUS_DATA; only the part "
                "consistency does without"
            )
        if self.data is not None:
            check_data(self.data)

    @property
    def parts(self) -> list[str]:
        """The parts to run."""
        return [part for part in PARTS if not self.only or part in self.only]

    @property
    def limit(self) -> int | None:
        """The most sentences to learn from."""
        return _HURRY if self.quick else None

    @property
    def samples(self) -> tuple[int, ...]:
        """How many sentences are drawn from the known model, one estimate each."""
        return (300, 1_000, 3_000) if self.quick else (300, 1_000, 3_000, 10_000, 30_000, 100_000)

    @property
    def spectral_states(self) -> tuple[int, ...]:
        """Hidden states of spectral models."""
        return (1, 4, 8) if self.quick else (1, 2, 4, 8, 12, 16, 24, 32)

    @property
    def em_states(self) -> tuple[int, ...]:
        """Hidden states of models estimated by EM."""
        return (4, 8) if self.quick else (2, 4, 8, 16, 24, 32)

    @property
    def restarts(self) -> int:
        """Of EM."""
        return 1 if self.quick else 3

    @property
    def iterations(self) -> int:
        """Of each restart of EM."""
        return 30 if self.quick else 200


@dataclass(frozen=True)
class MarginalError:
    """How far the marginals of an estimate are from those of the known model."""

    what: str  # the estimate
    sentences: int  # it was made from
    relative: float  # the norm of the difference over the norm of the truth, averaged over samples
    seconds: float  # of a processor, to estimate, on average


@dataclass(frozen=True)
class TrainedRefinement:
    """A model that was trained, and how good it is."""

    part: str  # of the benchmark
    what: str  # unigram, HMM, spectral or EM; or what was changed
    hidden: int  # states per label
    dev: float  # accuracy in percent
    test: float
    seconds: float  # of a processor, for training, all restarts together, looks at dev left out
    # test sentences that the model gave no positive total, and that were labelled with its memory damped
    # or by the plain HMM
    mended: int = 0
    chosen: tuple[int, int] | None = None  # of EM, the restart and iteration that dev chose
    restarts: int = 1  # that the seconds are of


@dataclass
class RefinementReport(BenchmarkReport):
    """The errors of estimates from drawn sentences, and the models that were trained."""

    plan: RefinementPlan
    errors: list[MarginalError] = field(default_factory=list)
    trained: list[TrainedRefinement] = field(default_factory=list)
    tests: list[McNemar] = field(default_factory=list)  # of models, by test sentences without a mistake

    def as_dict(self) -> dict[str, Any]:
        """Return all of it as what JSON can hold."""
        return {**super().as_dict(), "slope": self.slope}

    def select_rows(self, part: str, what: str) -> list[TrainedRefinement]:
        """Return the models of a part that go by a name, fewest states first."""
        rows = [row for row in self.trained if row.part == part and row.what == what]
        return sorted(rows, key=lambda row: row.hidden)

    def find_best(self, part: str, what: str, least: int = 1) -> TrainedRefinement | None:
        """Return the model with at least so many states that is best on dev."""
        rows = [row for row in self.select_rows(part, what) if row.hidden >= least]
        return max(rows, key=lambda row: row.dev, default=None)

    @property
    def slope(self) -> float | None:
        """Of the logarithm of the error over that of the sample, for the spectral estimate."""
        found = [row for row in self.errors if row.what == "spectral"]
        if len(found) < 2:
            return None
        sizes, errors = [row.sentences for row in found], [row.relative for row in found]
        return float(np.polyfit(np.log(sizes), np.log(errors), 1)[0])


LEAST = 8  # hidden states from which on the spectral estimate has to be good


def make_claims(report: RefinementReport) -> list[Claim]:
    """Return every claim with what the report says about it."""
    return [*_claim_consistent(report), *_claim_accurate(report)]


def _claim_consistent(report: RefinementReport) -> Iterator[Claim]:
    yield Claim("slope of log error over log sample, spectral, known model", -0.4, False, report.slope, "")
    found = [row.relative for row in report.errors if row.what == "spectral"]
    falls = [late < early for early, late in pairwise(found)]
    share = 100 * sum(falls) / len(falls) if falls else None
    text = "steps of the sample at which the relative error of marginals falls"
    yield Claim(text, 100, True, share, "%")


def _claim_accurate(report: RefinementReport) -> Iterator[Claim]:
    plain = next(iter(report.select_rows("states", "HMM")), None)
    large = [row for row in report.select_rows("states", "spectral") if row.hidden >= LEAST]
    gain = min(row.test for row in large) - plain.test if plain and large else None
    text = f"accuracy of spectral over the plain HMM, least over m ≥ {LEAST}, test"
    yield Claim(text, 0, True, gain, "points")
    ours, theirs = report.find_best("states", "spectral", LEAST), report.find_best("states", "EM")
    lag = subtract(get_figure(theirs, "test"), get_figure(ours, "test"))
    text = f"accuracy that the best spectral (m ≥ {LEAST}) lacks of the best EM, both chosen on dev, test"
    yield Claim(text, 0.5, False, lag, "points")
    for row in large:
        same = [em for em in report.select_rows("states", "EM") if em.hidden == row.hidden]
        if same:
            text = f"accuracy that spectral({row.hidden}) lacks of EM({row.hidden}), test"
            yield Claim(text, 0.5, False, same[0].test - row.test, "points")
    ratio = divide(get_figure(theirs, "seconds"), get_figure(ours, "seconds"))
    yield Claim("training time of the best EM, all restarts, over that of the best spectral", 5, True, ratio)


_TITLES = {
    "states": "chunk tags from parts of speech, CoNLL-2000: accuracy by hidden states (figures 5 and 8)",
    "seeds": "EM that is best on dev, from five seeds",
    "ablation": "what features and smoothing bring (figure 7)",
    "words": "chunk tags from parts of speech and frequent words",
}


def lay_out(report: RefinementReport) -> Iterator[Group | Text]:
    """Yield every table of a report."""
    if report.plan.quick:
        yield warn_of_quick("the figures say nothing")
    if report.errors:
        yield _lay_out_errors(report)
    for part, title in _TITLES.items():
        rows = [row for row in report.trained if row.part == part]
        if rows:
            yield _lay_out_models(title, rows)
    if report.tests:
        yield _lay_out_tests(report.tests)


def _lay_out_errors(report: RefinementReport) -> Group:
    ways = dict.fromkeys(row.what for row in report.errors)
    table = make_table("sentences", *ways, "spectral, s", "EM, s")
    for size in dict.fromkeys(row.sentences for row in report.errors):
        found = {row.what: row for row in report.errors if row.sentences == size}
        seconds = (f"{found[way].seconds:.2f}" for way in ("spectral", "EM"))
        table.add_row(f"{size:,}", *(f"{row.relative:.4f}" for row in found.values()), *seconds)
    slope = "" if report.slope is None else f"; slope of spectral {report.slope:.2f}"
    return add_title(f"relative error of marginals, sentences drawn from a known model{slope}", table)


def _lay_out_models(title: str, rows: list[TrainedRefinement]) -> Group:
    names = ("m", "dev, %", "test, %", "training, s", "mended", "restart, iteration")
    table = make_table("model", *names)
    for row in rows:
        choice = "" if row.chosen is None else f"{row.chosen[0] + 1} of {row.restarts}, {row.chosen[1]}"
        cells = (f"{row.dev:.2f}", f"{row.test:.2f}", f"{row.seconds:.2f}", str(row.mended or ""), choice)
        table.add_row(row.what, str(row.hidden), *cells)
    if rows[0].part == "seeds":
        table.caption = "; ".join(
            f"{name}: {mean(found):.2f} ± {stdev(found):.2f}"
            for name, found in (("dev", [row.dev for row in rows]), ("test", [row.test for row in rows]))
        )
    return add_title(title, table)


def _lay_out_tests(tests: list[McNemar]) -> Group:
    table = make_table("first", "second", "only first", "only second", "p")
    for test in tests:
        table.add_row(test.first, test.second, str(test.only_first), str(test.only_second), f"{test.p:.2g}")
    return add_title("test sentences that only one of two labels without a mistake (McNemar's test)", table)


_COLOURS = {"spectral": pictures.TEAL, "EM": pictures.RED, "plain HMM": pictures.GREY}


def paint(report: RefinementReport) -> Any:
    """Draw the error over the size of the sample, and the accuracy over hidden states."""
    panels = [
        panel
        for panel, rows in (
            (_draw_errors, report.errors),
            (_draw_states, report.select_rows("states", "spectral")),
        )
        if rows
    ]
    if not panels:
        raise pictures.NothingToDraw("run the part consistency or states")
    figure = pictures.make_figure(5.2 * len(panels), 4.2)
    for axes, panel in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
        panel(axes, report)
    return figure


def _draw_errors(axes: Any, report: RefinementReport) -> None:
    for what in dict.fromkeys(row.what for row in report.errors):
        rows = [row for row in report.errors if row.what == what]
        slope = f", slope {report.slope:.2f}" if what == "spectral" and report.slope is not None else ""
        xs, ys = [row.sentences for row in rows], [row.relative for row in rows]
        _draw_line(axes, xs, ys, what, what + slope)
    pictures.make_logarithmic(axes, (row.sentences for row in report.errors))
    x, y = "sentences drawn from a known model", "relative error of marginals"
    pictures.dress_axes(axes, "Consistency", x, y)


def _draw_states(axes: Any, report: RefinementReport) -> None:
    for what in ("spectral", "EM"):
        rows = report.select_rows("states", what)
        _draw_line(axes, [row.hidden for row in rows], [row.dev for row in rows], what, what)
    for row in report.select_rows("states", "HMM"):
        axes.axhline(row.dev, color=_COLOURS["plain HMM"], linestyle=":", linewidth=1.4, label="plain HMM")
    title = "Chunk tags from parts of speech"
    pictures.dress_axes(axes, title, "hidden states (m)", "accuracy on dev, %")


def _draw_line(axes: Any, xs: list[int], ys: list[float], what: str, name: str) -> None:
    axes.plot(xs, ys, color=_COLOURS[what], linewidth=2.0, marker="o", markersize=4, label=name)
