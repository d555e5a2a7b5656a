"""What ``certus bench joint`` is asked, what it finds, and its promises, tables and pictures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Group
from rich.text import Text

from certus.errors import InvalidInput
from certus_bench.harness import pictures
from certus_bench.harness.benchmark import BenchmarkReport
from certus_bench.harness.claims import Claim, divide, get_figure, subtract
from certus_bench.harness.tables import add_title, format_spread, make_table, warn_of_quick
from certus_bench.harness.timing import Spread

FILE = "treebank/wsj_sample.mrg"
PAPER, PROOF = "subgradient", "auto"  # the paper's method; the default, with tightening and branching
PATIENCE = 500  # iterations that optimisers are given for the comparison
K = 50  # iterations that the paper gives its method
KS = (1, 2, 3, 5, 10, 20, 30, 40, 50)
FIXED, JOINT, AFTER_K = "fixed tags", "joint", f"joint, K={K}"


@dataclass(frozen=True, kw_only=True)
class JointPlan:
    """What to measure."""

    data: Path  # the folder that the treebank lies in
    train: int = 3500  # how many trees from the beginning to learn from; the others are tested on
    held_out: int = 350  # how many of these, from the end, choose the weight
    test: int | None = None  # the most sentences to test on
    timed: int = 12  # how many sentences of 15 to 25 words to time beside HiGHS
    seconds: float = 300.0  # the most that HiGHS gets for one of them
    epochs: int = 10  # of the tagger
    quick: bool = False  # fewer of all: for a first look, not for figures

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

    def hurry(self) -> JointPlan:
        """Return the plan of a quick run."""
        few = min(self.train, 600)
        return JointPlan(data=self.data, train=few, held_out=30, test=40, timed=3, epochs=3, quick=True)


@dataclass(frozen=True)
class Solved:
    """How one way of solving fared on one sentence."""

    sentence: int  # its number, and ``length`` its words
    length: int
    method: str  # PAPER or PROOF
    iterations: int  # until the certificate, or until the end without one
    nodes: int  # of branch and bound
    proven: bool  # whether there is a certificate
    score: float  # of the best answer, and ``bound`` on all
    bound: float
    seconds: float  # from words to the answer
    pruning: float | None  # of the lattice


@dataclass(frozen=True)
class Quality:
    """How good some trees are, in percent."""

    what: str  # whose they are
    precision: float  # of labelled brackets; ``recall`` and ``f1`` likewise
    recall: float
    f1: float
    tags: float  # accuracy of the tags, punctuation included
    sentences: int  # how many there were, and ``unparsed`` how many without a tree
    unparsed: int


@dataclass(frozen=True)
class AtK:
    """The answers after at most k iterations of the paper's method, in percent: a point of figure 5."""

    k: int  # the limit
    f1: float  # of labelled brackets
    certificates: float  # the share of sentences with one
    match: float  # the share whose tree is that after the last k


@dataclass(frozen=True)
class Timed:
    """One sentence, solved here and by HiGHS."""

    length: int  # its words
    ours: float  # seconds from words to the proven answer
    linear: float  # seconds that HiGHS takes for the relaxation, the forest being there already
    integer: float  # the same for the integer program
    # seconds from words to the answer of the integer program where the forest is first cut down, exactly,
    # to the trees that score no less than the one with the tagger's tags; None where no tree has these
    cut: float | None
    variables: int  # of both programs on the whole forest
    whole: bool  # whether the relaxation's best point is whole
    difference: float  # the largest of the scores found, less the least; of the integer program and ours


@dataclass
class JointReport(BenchmarkReport):
    """How both methods fared on every sentence, how good the trees are, and the times beside HiGHS."""

    plan: JointPlan
    weight: float = 1.0
    tuning: list[tuple[float, float, float]] = field(default_factory=list)  # weight, F1, tag accuracy
    solved: list[Solved] = field(default_factory=list)
    quality: list[Quality] = field(default_factory=list)
    curve: list[AtK] = field(default_factory=list)
    highs: list[Timed] = field(default_factory=list)

    def select(self, method: str) -> list[Solved]:
        """Return what one way of solving came to."""
        return [row for row in self.solved if row.method == method]

    def find_iterations(self, method: str, quantile: float) -> float | None:
        """Return a quantile of the iterations until a certificate; None if the method was not run.

        Without a certificate, no number of iterations is enough.
        """
        counts = sorted(row.iterations if row.proven else float("inf") for row in self.select(method))
        return float(counts[min(int(quantile * len(counts)), len(counts) - 1)]) if counts else None

    def share_within(self, method: str, limit: float = float("inf")) -> float | None:
        """Return the share of sentences, in percent, that have a certificate within so many iterations."""
        rows = self.select(method)
        return 100 * sum(row.proven and row.iterations <= limit for row in rows) / len(rows) if rows else None

    def compare_with_highs(self, program: str) -> Spread | None:
        """Return how many times as long HiGHS takes, ``linear`` or ``integer``: median and quartiles."""
        return Spread.of([getattr(row, program) / row.ours for row in self.highs]) if self.highs else None

    def find_quality(self, what: str) -> Quality | None:
        """Return the quality of some trees, or None if there are none."""
        return next((row for row in self.quality if row.what == what), None)


def share_by_iterations(rows: Sequence[Solved], limit: int) -> dict[str, float]:
    """Share sentences out by the iterations they took, in percent, as Rush et al. (2010), table 1."""
    edges = {"1": (1, 1), "2": (2, 2), "3": (3, 3), "4": (4, 4), "5-10": (5, 10), "11-20": (11, 20),
             "21-50": (21, 50)}  # fmt: skip
    share = {
        name: 100 * sum(row.proven and low <= row.iterations <= min(high, limit) for row in rows) / len(rows)
        for name, (low, high) in edges.items()
    }
    return {**share, "**": 100 - sum(share.values())}


def make_claims(report: JointReport) -> list[Claim]:
    """Return every claim with what the report says about it; a quick run learns too little for accuracy."""
    fixed, joint = (report.find_quality(what) for what in (FIXED, JOINT))
    gains = [subtract(get_figure(joint, figure), get_figure(fixed, figure)) for figure in ("f1", "tags")]
    paper, fast = (report.find_iterations(method, 0.95) for method in (PAPER, PROOF))
    within = "iterations of the paper's method"
    ratio = get_figure(report.compare_with_highs("integer"), "median")
    return [
        Claim(f"certificates within {K} {within}", 98.9, True, report.share_within(PAPER, K), "%"),
        Claim(f"certificates within 10 {within}", 90, True, report.share_within(PAPER, 10), "%"),
        Claim("certificates with tightening and branching", 100, True, report.share_within(PROOF), "%"),
        Claim("F1 of brackets, less that of fixed tags", 0, True, gains[0], "points"),
        Claim("accuracy of tags, less that of fixed tags", 0, True, gains[1], "points"),
        Claim(
            "iterations of auto over the paper's method's, 95th percentile", 0.5, False, divide(fast, paper)
        ),
        Claim("faster than HiGHS, integer program, whole forest, 15-25 words", 20, True, ratio),
    ]


_TABLE_1 = {"1": 58.7, "2": 15.4, "3": 6.3, "4": 3.6, "5-10": 10.3, "11-20": 3.8, "21-50": 0.8, "**": 1.1}
_TABLE_3 = (
    Quality("paper: fixed tags", 88.1, 87.6, 87.9, 96.7, 2416, 0),
    Quality("paper: DD combination", 88.7, 88.0, 88.3, 97.1, 2416, 0),
)


def _lay_out_convergence(report: JointReport) -> Group:
    """Percent of sentences by iterations until the certificate (Rush et al. 2010, table 1)."""
    table = make_table("iterations", *_TABLE_1)
    table.add_row("paper, Collins' parser, section 23", *(f"{share:.1f}" for share in _TABLE_1.values()))
    for method in (PAPER, PROOF):
        rows = report.select(method)
        if rows:
            table.add_row(method, *(f"{share:.1f}" for share in share_by_iterations(rows, K).values()))
    return add_title(f"sentences with a certificate after so many iterations, %; ** none after {K}", table)


def _lay_out_effort(report: JointReport) -> Group:
    """Lay out iterations, branches and times of every way of solving."""
    table = make_table(
        "method", "proven %", "mean", "median", "95 %", "99 %", "most", "branched", "ms per sentence"
    )
    for method in (PAPER, PROOF):
        rows = report.select(method)
        if not rows:
            continue
        counts = [row.iterations for row in rows]
        spread = Spread.of([row.seconds for row in rows]).scale(1e3)
        table.add_row(
            method,
            f"{100 * sum(row.proven for row in rows) / len(rows):.1f}",
            f"{np.mean(counts):.1f}",
            *(f"{report.find_iterations(method, share):.0f}" for share in (0.5, 0.95, 0.99, 1.0)),
            str(sum(row.nodes > 1 for row in rows)),
            format_spread(spread),
        )
    return add_title(f"iterations until the certificate; the paper's method gets at most {PATIENCE}", table)


def _lay_out_quality(rows: Sequence[Quality]) -> Group:
    """Brackets and tags (Rush et al. 2010, table 3)."""
    table = make_table("", "precision", "recall", "F1", "tags", "sentences", "unparsed")
    for row in (*_TABLE_3, *rows):
        figures = (row.precision, row.recall, row.f1, row.tags)
        table.add_row(row.what, *(f"{x:.2f}" for x in figures), f"{row.sentences:,}", str(row.unparsed))
    return add_title("labelled brackets and tags, %", table)


def _lay_out_curve(points: Sequence[AtK]) -> Group:
    """Lay out what is known after K iterations of the paper's method (Rush et al. 2010, figure 5)."""
    table = make_table("K", *(str(point.k) for point in points))
    for name, figure in (("F1", "f1"), ("certificates", "certificates"), (f"match K={K}", "match")):
        table.add_row(name, *(f"{getattr(point, figure):.2f}" for point in points))
    return add_title("after at most K iterations of the paper's method, %", table)


def _lay_out_tuning(report: JointReport) -> Group:
    """How the weight was chosen."""
    table = make_table("weight", *(f"{weight:g}" for weight, _, _ in report.tuning))
    table.add_row("F1", *(f"{f1:.2f}" for _, f1, _ in report.tuning))
    table.add_row("tags", *(f"{tags:.2f}" for _, _, tags in report.tuning))
    return add_title(f"held out from the training trees, %; the weight is {report.weight:g}", table)


def _lay_out_highs(rows: Sequence[Timed]) -> Group:
    """Lay out times beside HiGHS: median and quartiles over sentences."""
    table = make_table("", "ms per sentence", "times ours")
    for name, figure in (
        ("Certus, words to proof", "ours"),
        ("HiGHS, linear, the forest given", "linear"),
        ("HiGHS, integer, the forest given", "integer"),
        ("HiGHS, integer, forest cut by the fixed tags' tree, from words", "cut"),
    ):
        pairs = [(time, row.ours) for row in rows if (time := getattr(row, figure)) is not None]
        if pairs:
            times = Spread.of([time for time, _ in pairs]).scale(1e3)
            table.add_row(
                name, format_spread(times), format_spread(Spread.of([time / ours for time, ours in pairs]))
            )
    whole = sum(row.whole for row in rows)
    size = Spread.of([float(row.variables) for row in rows])
    table.caption = (
        f"{len(rows)} sentences of 15-25 words; {size.median:,.0f} variables; "
        f"the relaxation is whole for {whole}"
    )
    return add_title("the same problem as a program, median [quartiles]", table)


def lay_out(report: JointReport) -> Iterator[Group | Text]:
    """Yield every table of a report."""
    if report.plan.quick:
        yield warn_of_quick("the figures say nothing")
    yield _lay_out_tuning(report)
    yield _lay_out_convergence(report)
    yield _lay_out_effort(report)
    yield _lay_out_quality(report.quality)
    yield _lay_out_curve(report.curve)
    if report.highs:
        yield _lay_out_highs(report.highs)


def paint(report: JointReport) -> Any:
    """Draw figure 5 of Rush et al. (2010), and how soon each optimiser proves its answers."""
    figure = pictures.make_figure(10.5, 4.4)
    left, right = figure.subplots(1, 2)
    ks = [point.k for point in report.curve]
    for name, what, colour in (
        ("% certificates", "certificates", pictures.RED),
        (f"% match K={K}", "match", pictures.BLUE),
        ("F1", "f1", pictures.TEAL),
    ):
        left.plot(ks, [getattr(point, what) for point in report.curve], color=colour, marker="o",
                  markersize=4, label=name)  # fmt: skip
    pictures.dress_axes(left, "The paper's method, stopped after K", "at most K iterations", "percent")
    for method, colour in ((PAPER, pictures.RED), (PROOF, pictures.TEAL)):
        if rows := report.select(method):
            counts = np.sort([row.iterations if row.proven else np.inf for row in rows])
            share = 100 * np.arange(1, len(counts) + 1) / len(counts)
            right.step(counts, share, where="post", color=colour, label=method)
    right.set_xscale("log")
    pictures.dress_axes(right, "Sentences proven optimal", "iterations", "percent")
    return figure
