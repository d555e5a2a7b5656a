"""``certus bench vine``: cascades of passes that choose the arcs to score, beside scoring all of them.

Tables 1 and 2 and figure 6 of Rush and Petrov (2012, "Vine pruning for efficient multi-pass dependency
parsing"), on a treebank. Each order has one set of weights, learned with the default cascade; setups differ
in what chooses the arcs to score.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Group

import certus
from certus.annotation.columns import select_columns
from certus.annotation.sentence import Sentence
from certus.errors import InvalidInput
from certus.formats import read
from certus.models.dependency_parser import DependencyParser
from certus_bench.dependency import ENCODINGS, TREEBANKS, score
from certus_bench.harness import pictures
from certus_bench.harness.benchmark import Benchmark, BenchmarkReport, Tell
from certus_bench.harness.claims import Claim, divide
from certus_bench.harness.environment import describe_machine
from certus_bench.harness.options import Data, require_data, split_names
from certus_bench.harness.tables import add_title, make_table
from certus_bench.harness.timing import time_processor

# By name: the passes, and what they go by. Thresholds are chosen by the same rule for all of them.
SETUPS: dict[str, tuple[str, str]] = {
    "length": ("length", "posteriors"),
    "local-short": ("length local-short", "max-marginals"),
    "local": ("length local", "max-marginals"),
    "first only": ("length first", "max-marginals"),
    "first and second": ("length first second", "max-marginals"),
    "vine cascade": ("length vine first second", "max-marginals"),
    "vine posterior": ("length vine first second", "posteriors"),
    "default": ("length vine first", "posteriors"),
}
NONE = "none"
DEFAULT = "length vine first"  # what arcs are learned over; scores do not depend on it
ORDERS = (1, 2, 3)
LENGTHS = (5, 10, 15, 20, 25, 30, 35, 40, 50)
LONGEST = 80  # words of sentences that are timed; all parts of longer ones take gigabytes at order 3
LONGEST_CURVE = {1: 80, 2: 80, 3: 40}  # of those that are timed by their length, without pruning
ROUNDS = 3  # of which the fastest counts


@dataclass(frozen=True, kw_only=True)
class VinePlan:
    """What to train and to compare."""

    data: Path
    treebank: str = "ewt"
    setups: tuple[str, ...] = tuple(SETUPS)
    orders: tuple[int, ...] = ORDERS
    epochs: int = 5
    sentences: int = 1_000_000
    sample: int = 150

    def __post_init__(self) -> None:
        """Refuse what cannot be run, before any time is spent."""
        if self.treebank not in TREEBANKS:
            raise InvalidInput(f"there is no treebank {self.treebank!r}; there are {', '.join(TREEBANKS)}")
        unknown = next((name for name in self.setups if name not in SETUPS), None)
        if unknown is not None:
            raise InvalidInput(f"there is no setup {unknown!r}; there are {', '.join(SETUPS)}")
        if not self.orders or any(order not in ORDERS for order in self.orders):
            raise InvalidInput("orders are some of 1, 2 and 3")
        for file in filter(None, TREEBANKS[self.treebank]):
            if not (self.data / file).is_file():
                raise InvalidInput(
                    f"there is no {self.data / file}: docs/benchmarks.md says which corpora are needed"
                )


def make_plan(
    data: Data = None,
    treebank: Annotated[str, typer.Option(metavar="NAME", help="Which treebank.")] = "ewt",
    setups: Annotated[str, typer.Option(metavar="NAMES", help="Which setups, by commas.")] = ",".join(SETUPS),
    orders: Annotated[str, typer.Option(metavar="NUMBERS", help="Which orders, by commas.")] = "1,2,3",
    epochs: Annotated[int, typer.Option(min=1, help="Passes over the training data.")] = 5,
    sentences: Annotated[int, typer.Option(min=1, help="How many trees to learn from.")] = 1_000_000,
    sample: Annotated[
        int,
        typer.Option(min=1, help="How many sentences are timed, of dev and of what --sentences leaves out."),
    ] = 150,
) -> VinePlan:
    """Train parsers of three orders and compare what may choose their arcs: speed, oracle, UAS."""
    return VinePlan(
        data=require_data(data),
        treebank=treebank,
        setups=split_names(setups),
        orders=tuple(int(order) for order in split_names(orders)),
        epochs=epochs,
        sentences=sentences,
        sample=sample,
    )


@dataclass(frozen=True)
class Setup:
    """A setup under one order.

    Attributes:
        rate: words per second of processor time on the sample, features included.
        pruned: the share of wrong arcs that were closed, in percent.
        oracle: the best UAS over the arcs that the cascade leaves; parsers do not prune short sentences.
        uas: of the parser on all dev sentences; without pruning at order 3, on the sample.
        sampled: UAS on the sample, which all setups have.
        exponent: of the seconds of a sentence by its length.
        rates: words per second by length of sentences.
        passes: the share of time spent up to and in each pass, on choosing arcs alone, in percent.
    """

    name: str
    order: int
    rate: float
    pruned: float
    oracle: float
    uas: float
    sampled: float
    exponent: float | None
    rates: dict[int, float]
    passes: list[float]


@dataclass
class VineReport(BenchmarkReport):
    """What was found."""

    plan: VinePlan
    setups: list[Setup] = field(default_factory=list)

    def find(self, name: str, order: int) -> Setup | None:
        """Return a setup, if it was measured."""
        return next((s for s in self.setups if (s.name, s.order) == (name, order)), None)


def run(plan: VinePlan, tell: Tell) -> VineReport:
    """Train a parser of each order, and measure it with every setup."""
    report = VineReport(plan, describe_machine({}))
    train, dev, test = (None if file is None else str(plan.data / file) for file in TREEBANKS[plan.treebank])
    encoding = ENCODINGS.get(plan.treebank, "utf-8")
    given = read(str(train), encoding=encoding)
    known = list(islice(given, plan.sentences))
    held_out = list(read(dev or str(test), encoding=encoding))
    sample = _choose_sample(plan, [*given, *held_out])
    total = len(plan.orders) * (len(plan.setups) + 1)
    done = 0
    for order in plan.orders:
        tell(f"order {order}: training", done / total)
        parser = DependencyParser(order=order, cascade=DEFAULT, projective="yes", epochs=plan.epochs)
        parser.fit(known, held_out)
        for name in (NONE, *plan.setups):
            tell(f"order {order}: {name}", done / total)
            made = parser if name == NONE else _change(parser, name, known, held_out)
            report.setups.append(_measure(name, order, made, held_out, sample))
            done += 1
    return report


def _choose_sample(plan: VinePlan, unseen: Sequence[Sentence]) -> list[Sentence]:
    """Return the sentences that all setups are timed on."""
    step = max(1, len(unseen) // plan.sample)
    return [sentence for sentence in unseen[::step] if len(sentence) <= LONGEST]


def _change(
    parser: DependencyParser, name: str, train: Sequence[Sentence], dev: Sequence[Sentence]
) -> DependencyParser:
    cascade, kind = SETUPS[name]
    return parser.change_cascade(train, dev, cascade=cascade, filter=kind)


def _measure(
    name: str,
    order: int,
    parser: DependencyParser,
    held_out: Sequence[Sentence],
    sample: Sequence[Sentence],
) -> Setup:
    given: dict[str, Any] = {"pruning": 0.0} if name == NONE else {}
    longest = LONGEST_CURVE[order] if name == NONE else LONGEST
    seconds = min(time_processor(partial(parser.parse_batch, sample, **given))[0] for _ in range(ROUNDS))
    sampled, _ = score(sample, parser.parse_batch(sample, **given))
    uas = sampled
    if name != NONE or order < 3:
        uas, _ = score(held_out, parser.parse_batch(held_out, **given))
    rates = {}
    for length in LENGTHS:
        some = [s for s in held_out if abs(len(s) - length) <= 1][: 20 if name == NONE else 60]
        if some and length <= longest:
            spent = min(time_processor(partial(parser.parse_batch, some, **given))[0] for _ in range(ROUNDS))
            rates[length] = sum(map(len, some)) / spent
    pruned, oracle = _judge(parser, name, held_out)
    return Setup(
        name,
        order,
        sum(map(len, sample)) / seconds,
        pruned,
        oracle,
        uas,
        sampled,
        _fit_exponent(rates),
        rates,
        _time_passes(parser, name, sample),
    )


def _fit_exponent(rates: dict[int, float]) -> float | None:
    """Return b where seconds of a sentence are a * length ** b."""
    if len(rates) < 2:
        return None
    lengths = np.array(list(rates), float)
    seconds = lengths / np.array(list(rates.values()))
    return float(np.polyfit(np.log(lengths), np.log(seconds), 1)[0])


def _judge(parser: DependencyParser, name: str, sentences: Sequence[Sentence]) -> tuple[float, float]:
    """Return the share of wrong arcs that are closed, and the best UAS over what is left, in percent."""
    cascade = parser.model.selector.native_cascade
    if name == NONE or cascade is None:
        return 0.0, 100.0
    found = cascade.prune([select_columns(one, parser.columns) for one in sentences], 9)
    trees = certus.Trees(projective=True, single_root=parser.model.single_root)
    at = closed = wrong = reached = words = 0
    for sentence, count in zip(sentences, found.count.tolist(), strict=True):
        heads, modifiers = found.heads[at : at + count], found.modifiers[at : at + count]
        at += count
        gold = np.array([int(head) for head in sentence.columns["head"]])
        arcs = np.full((len(gold), len(gold) + 1), -np.inf)
        arcs[modifiers - 1, heads] = heads == gold[modifiers - 1]
        kept = int(np.isfinite(arcs[np.arange(len(gold)), gold]).sum())
        wrong += len(gold) * (len(gold) - 1)
        closed += len(gold) * (len(gold) - 1) - (count - kept)
        best = trees.decode(arcs, infeasible="return")
        reached += 0 if best.status is certus.Status.INFEASIBLE else round(best.score)
        words += len(gold)
    return 100 * closed / wrong, 100 * reached / words


def _time_passes(parser: DependencyParser, name: str, sample: Sequence[Sentence]) -> list[float]:
    """Return the shares of all time that passes take, in percent; the last is the final model's."""
    cascade = parser.model.selector.native_cascade
    if name == NONE or cascade is None:
        return []
    cells = [select_columns(one, parser.columns) for one in sample]
    counts = range(len(parser.description["cascade"]["passes"]) + 1)
    spent = [min(time_processor(partial(cascade.prune, cells, n))[0] for _ in range(ROUNDS)) for n in counts]
    whole = min(time_processor(partial(parser.parse_batch, sample))[0] for _ in range(ROUNDS))
    shares: NDArray[np.float64] = 100 * np.diff([*spent[:-1], spent[-1], whole], prepend=0) / whole
    return [float(share) for share in shares]


def make_claims(report: VineReport) -> list[Claim]:
    """Return what has to hold."""

    def rate(name: str, order: int) -> float | None:
        found = report.find(name, order)
        return None if found is None else found.rate

    def lose(order: int) -> float | None:
        one, other = report.find(NONE, order), report.find("default", order)
        return None if one is None or other is None else one.sampled - other.sampled

    against = 100 if report.plan.treebank == "bosque" else 40
    return [
        Claim("third-order cascade over unpruned first order", 2, True,
              divide(rate("default", 3), rate(NONE, 1))),
        Claim("third-order cascade over unpruned third order", against, True,
              divide(rate("default", 3), rate(NONE, 3))),
        Claim("words per second, first-order cascade", 60_000, True, rate("default", 1), ""),
        Claim("words per second, third-order cascade", 20_000, True, rate("default", 3), ""),
        Claim("UAS lost by the third-order cascade", 0.3, False, lose(3), ""),
    ]  # fmt: skip


def lay_out(report: VineReport) -> Iterator[Group | str]:
    """Yield a table for each order."""
    base = report.find(NONE, 1)
    for order in report.plan.orders:
        table = make_table(
            "arcs by",
            "speed",
            "words/CPU s",
            "wrong arcs closed %",
            "oracle",
            "UAS",
            "on the sample",
            "exponent",
            "time by pass %",
        )
        for s in (s for s in report.setups if s.order == order):
            figures = (
                "" if base is None else f"{s.rate / base.rate:.2f}",
                f"{s.rate:,.0f}",
                f"{s.pruned:.1f}",
                f"{s.oracle:.2f}",
                f"{s.uas:.2f}",
                f"{s.sampled:.2f}",
                "" if s.exponent is None else f"{s.exponent:.2f}",
                " ".join(f"{share:.0f}" for share in s.passes),
            )
            table.add_row(s.name, *figures)
        yield add_title(f"{report.plan.treebank}, order {order}: speed over unpruned first order", table)


def paint(report: VineReport) -> Any:
    """Draw words per second over the length of sentences, by order, with a cascade and without."""
    if not report.setups:
        raise pictures.NothingToDraw("no setup was measured")
    figure = pictures.make_figure(7, 4.2)
    axes = figure.subplots()
    colours = dict(zip(ORDERS, (pictures.TEAL, pictures.BLUE, pictures.RED), strict=True))
    for name, style, word in (("default", "-", "cascade"), (NONE, "--", "all arcs")):
        for order in report.plan.orders:
            setup = report.find(name, order)
            if setup is not None:
                x, y = list(setup.rates), list(setup.rates.values())
                axes.plot(x, y, style, marker="o", color=colours[order], label=f"order {order}, {word}")
    pictures.make_logarithmic(axes, LENGTHS)
    pictures.dress_axes(
        axes,
        f"Projective parsing of {report.plan.treebank}, one thread",
        "words per sentence",
        "words per CPU second, features included",
    )
    return figure


BENCHMARK = Benchmark(
    name="vine", make_plan=make_plan, run=run, lay_out=lay_out, make_claims=make_claims, paint=paint
)
