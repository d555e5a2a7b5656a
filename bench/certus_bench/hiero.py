"""``certus bench hiero``: decoders of hierarchical grammars: time, certificates, search errors.

The comparisons with cube pruning and with linear and integer programs of Rush and Collins (2011, "Exact
decoding of syntactic translation models through Lagrangian relaxation", section 7), on Multi30k with
translators that ``certus train translator --model hierarchical`` makes.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Group

from certus.errors import InvalidInput
from certus.models.translator import Translator
from certus.translate import (
    CoarseToFine,
    CubePruning,
    Exhaustive,
    ForestBeam,
    ForestLagrangian,
    ForestMethod,
    ForestProgram,
    Translation,
)
from certus_bench.harness.benchmark import Benchmark, BenchmarkReport, Tell, keep_quiet
from certus_bench.harness.claims import Claim, divide
from certus_bench.harness.environment import describe_machine
from certus_bench.harness.options import Data, require_data, split_names
from certus_bench.harness.tables import add_title, make_table
from certus_bench.harness.timing import time_processor

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
    "lp": ForestProgram(relaxed=True),
    "ilp": ForestProgram(),
}
PATIENCE = 30.0  # seconds of each call
SAME = 1e-6  # scores that differ by less are equal


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
    seconds: float = PATIENCE
    model: Path | None = None
    threads: int = 1

    def __post_init__(self) -> None:
        """Refuse what cannot be run, before any time is spent."""
        known = {**DECODERS, **SLOW}
        unknown = next((name for name in self.decoders if name not in known), None)
        if unknown is not None:
            raise InvalidInput(f"there is no decoder {unknown!r}; there are {', '.join(known)}")


def make_plan(
    data: Data = None,
    *,
    language: Annotated[str, typer.Option(help="The source language: de or fr.", metavar="NAME")] = "de",
    part: Annotated[
        str, typer.Option(help="What to translate: val or test2016.", metavar="NAME")
    ] = "test2016",
    count: Annotated[int, typer.Option(min=1, help="How many sentences.", metavar="NUMBER")] = 300,
    longest: Annotated[
        int, typer.Option(min=1, help="The most words of those that are translated.", metavar="NUMBER")
    ] = 1000,
    decoders: Annotated[
        str,
        typer.Option(help=f"Which decoders, by commas. There are also {', '.join(SLOW)}.", metavar="NAMES"),
    ] = ",".join(DECODERS),
    order: Annotated[
        int, typer.Option(min=1, help="The order of the language model that is trained.", metavar="NUMBER")
    ] = 3,
    seconds: Annotated[
        float, typer.Option(min=0.001, help="The most time that a sentence may take.", metavar="NUMBER")
    ] = PATIENCE,
    model: Annotated[
        Path | None, typer.Option(help="The translator; it is trained and kept here if there is none.")
    ] = None,
    threads: Annotated[
        int, typer.Option(min=1, help="How many threads train the model.", metavar="NUMBER")
    ] = 1,
) -> HieroPlan:
    """Compare exact search with cube pruning on hierarchical grammars: time, share proven, search errors.

    Proven answers are held against those of all others; if one is better, the exit code is 1.
    """
    return HieroPlan(
        data=require_data(data),
        language=language,
        part=part,
        count=count,
        longest=longest,
        decoders=split_names(decoders),
        order=order,
        seconds=seconds,
        model=model,
        threads=threads,
    )


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


def prepare(plan: HieroPlan) -> Translator:
    """Return the translator."""
    if plan.model is not None and plan.model.is_file():
        return Translator.load(plan.model)
    folder = plan.data / "mt/multi30k"
    sides = _read(folder / f"train.{plan.language}"), _read(folder / "train.en")
    dev = _read(folder / f"val.{plan.language}"), _read(folder / "val.en")
    translator = Translator(model="hierarchical", order=plan.order).fit(*sides, dev=dev, threads=plan.threads)
    if plan.model is not None:
        translator.save(plan.model)
    return translator


def _read(path: Path) -> list[list[str]]:
    return [line.split() for line in path.read_text(encoding="utf-8").splitlines()]


def run(plan: HieroPlan, tell: Tell = keep_quiet) -> HieroReport:
    """Let every decoder translate every sentence."""
    report = HieroReport(plan, describe_machine({}))
    tell("the translator", 0)
    translator = prepare(plan)
    lines = _read(plan.data / f"mt/multi30k/{plan.part}.{plan.language}")[: plan.count]
    sentences = [line for line in lines if len(line) <= plan.longest]
    report.sentences = len(sentences)
    times: dict[str, list[float]] = {}
    answers: dict[str, list[Translation]] = {}
    for number, name in enumerate(plan.decoders):
        tell(name, number / len(plan.decoders))
        method = (DECODERS | SLOW)[name]
        measured = [
            time_processor(partial(translator.translate, sentence, method=method, seconds=plan.seconds))
            for sentence in sentences
        ]
        times[name] = [seconds for seconds, _ in measured]
        answers[name] = [answer for _, answer in measured]
    compare(report, times, answers)
    return report


def compare(
    report: HieroReport, times: dict[str, list[float]], answers: dict[str, list[Translation]]
) -> None:
    """Add what the decoders came to; every claim of an optimum is held against all others."""
    best = [max(found[n].score for found in answers.values()) for n in range(report.sentences)]
    for name, found in answers.items():
        behind = [best[n] - answer.score > SAME for n, answer in enumerate(found)]
        for n, answer in enumerate(found):
            if (answer.optimal and behind[n]) or answer.bound < best[n] - SAME:
                report.fail([f"sentence {n}: {name} proves {answer.bound}, and there is {best[n]}"])
        report.rows.append(
            DecoderRow(
                name,
                statistics.median(times[name]),
                statistics.mean(times[name]),
                max(times[name]),
                100 * statistics.mean(answer.optimal for answer in found),
                100 * statistics.mean(behind),
                statistics.mean(answer.stats.get("items", 0) for answer in found),
            )
        )
    found = next(iter(answers.values()))
    report.edges = statistics.median(answer.stats.get("edges", 0) for answer in found)


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


def lay_out(report: HieroReport) -> Iterator[Group]:
    """Yield the table."""
    table = make_table("decoder", "median ms", "mean", "worst", "% proven", "% search errors", "items")
    for row in report.rows:
        figures = (f"{1e3 * x:.3g}" for x in (row.median, row.mean, row.worst))
        table.add_row(row.decoder, *figures, f"{row.proven:.3g}", f"{row.errors:.3g}", f"{row.items:,.0f}")
    title = f"{report.sentences} sentences, {report.edges:,.0f} edges in the median"
    yield add_title(title, table)


BENCHMARK = Benchmark(name="hiero", make_plan=make_plan, run=run, lay_out=lay_out, make_claims=make_claims)
