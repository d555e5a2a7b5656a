"""``certus bench trees``: spanning trees and trees with siblings, beside ufal.chu-liu-edmonds and HiGHS."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from time import perf_counter
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Group

import certus
from certus_bench.harness.benchmark import Benchmark, BenchmarkReport, Tell
from certus_bench.harness.claims import Claim, divide
from certus_bench.harness.environment import describe_machine, find_versions
from certus_bench.harness.options import Seed, flag_quick
from certus_bench.harness.tables import add_title, make_table
from certus_bench.tree_program import flatten, solve_program

SPANS = (20, 40, 80)  # words
KINDS = {  # sentences with siblings: words, and how large their scores are beside those of arcs
    "easy, 20 words": (20, 0.5),
    "easy, 30 words": (30, 0.5),
    "hard, 20 words": (20, 1.0),
    "hard, 30 words": (30, 1.0),
}
RANDOM = {"random siblings, 10 words": 3, "random grandsiblings, 10 words": 4}


@dataclass(frozen=True, kw_only=True)
class TreesPlan:
    """What to compare."""

    count: int = 40  # sentences of each kind
    programs: int = 5  # of them HiGHS solves so many
    seconds: float = 30.0  # the most that it gets for each
    seed: int = 0


@dataclass(frozen=True)
class SpanRow:
    """Microseconds of one spanning tree over so many words; None where a package is not installed."""

    words: int
    ours: float
    single: float  # with one root
    ufal: float | None


@dataclass(frozen=True)
class SiblingRow:
    """Sentences of one kind: milliseconds to the proof, and HiGHS on the first of them."""

    kind: str
    proven: float  # in percent
    median: float
    most: float
    same: float | None  # the median of those that HiGHS solved, too,
    highs: float | None  # and of HiGHS


@dataclass
class TreesReport(BenchmarkReport):
    """What was measured."""

    plan: TreesPlan
    spans: list[SpanRow] = field(default_factory=list)
    rows: list[SiblingRow] = field(default_factory=list)


def make_plan(
    count: Annotated[int, typer.Option(help="How many sentences of each kind to decode.", min=1)] = 40,
    quick: Annotated[bool, flag_quick("Decode four sentences of each kind.")] = False,
    seed: Seed = 0,
) -> TreesPlan:
    """Decode dependency trees: spanning trees beside ufal.chu-liu-edmonds, siblings beside HiGHS.

    Scores are random: arcs as a trained model's, where one head of each word stands out, with siblings of
    half their size (easy) or of the same size (hard); or siblings and grandparents alone.
    """
    return TreesPlan(count=4 if quick else count, programs=1 if quick else 5, seed=seed)


def run(plan: TreesPlan, tell: Tell) -> TreesReport:
    """Measure everything; every answer is checked against the other's."""
    report = TreesReport(plan, describe_machine(find_versions("ufal.chu-liu-edmonds", "highspy")))
    for n, words in enumerate(SPANS):
        tell(f"spanning trees of {words} words", 0.2 * n / len(SPANS))
        report.spans.append(_measure_spans(plan, words, report))
    kinds = [*KINDS, *RANDOM]
    for n, kind in enumerate(kinds):
        tell(kind, 0.2 + 0.8 * n / len(kinds))
        report.rows.append(_measure_kind(plan, kind, report))
    return report


def _time(call: Callable[[], object], repeats: int) -> float:
    """Return the seconds of one call, the best of several rounds."""
    rounds = []
    for _ in range(5):
        began = perf_counter()
        for _ in range(repeats):
            call()
        rounds.append((perf_counter() - began) / repeats)
    return min(rounds)


def _measure_spans(plan: TreesPlan, words: int, report: TreesReport) -> SpanRow:
    random = np.random.default_rng(plan.seed)
    several, one = certus.Trees(), certus.Trees(single_root=True)
    rival = import_module("ufal.chu_liu_edmonds").chu_liu_edmonds if find_spec("ufal") else None
    times: list[tuple[float, float, float]] = []
    for _ in range(min(plan.count, 20)):
        arcs = random.normal(size=(words, words + 1))
        ours = _time(lambda arcs=arcs: several.decode(arcs), 100)  # type: ignore[misc]
        single = _time(lambda arcs=arcs: one.decode(arcs), 100)  # type: ignore[misc]
        theirs = np.nan
        if rival is not None:
            square = np.vstack([np.full(words + 1, np.nan), arcs])
            theirs = _time(lambda square=square: rival(square), 20)  # type: ignore[misc]
            if abs(rival(square)[1] - several.decode(arcs).score) > 1e-6:
                report.fail([f"spanning trees of {words} words differ from ufal's"])
        times.append((ours, single, theirs))
    means = 1e6 * np.mean(times, axis=0)
    ours, single, theirs = means.tolist()
    return SpanRow(words, ours, single, None if rival is None else theirs)


def _draw(kind: str, random: np.random.Generator) -> dict[str, Any]:
    if kind in RANDOM:
        axes = RANDOM[kind]
        parts = random.normal(size=(11,) * axes)
        return {"arcs": np.zeros((10, 11)), "siblings" if axes == 3 else "grandsiblings": parts}
    words, size = KINDS[kind]
    arcs = random.normal(size=(words, words + 1))
    arcs[np.arange(words), random.integers(0, words + 1, words)] += 3
    siblings = random.normal(0, size, (words + 1,) * 3)
    siblings[:, :, 0] = 0
    return {"arcs": arcs, "siblings": siblings}


def _measure_kind(plan: TreesPlan, kind: str, report: TreesReport) -> SiblingRow:
    """Decode all sentences, one after the other, and then solve the programs of the first of them."""
    solver = certus.Trees()
    drawn = [_draw(kind, np.random.default_rng(plan.seed + number)) for number in range(plan.count)]
    solver.decode(**drawn[0])  # where scores lie is looked up once for each length of sentences
    times, answers = [], []
    for arrays in drawn:
        began = perf_counter()
        answers.append(solver.decode(**arrays, seconds=60.0))
        times.append(perf_counter() - began)
    proven = sum(best.optimal for best in answers)
    programs = []
    for arrays, best in zip(drawn[: plan.programs], answers, strict=False):
        if "siblings" not in arrays or not find_spec("highspy"):
            continue
        began = perf_counter()
        optimum = solve_program(flatten(**arrays), plan.seconds)
        programs.append(perf_counter() - began)
        if optimum is not None and abs(optimum.score - best.score) > 1e-5:
            report.fail([f"{kind}: HiGHS finds {optimum.score}, we {best.score}"])
    same = 1e3 * float(np.median(times[: len(programs)])) if programs else None
    highs = 1e3 * float(np.median(programs)) if programs else None
    milliseconds = 1e3 * np.array(times)
    share = 100 * proven / plan.count
    return SiblingRow(kind, share, float(np.median(milliseconds)), float(milliseconds.max()), same, highs)


def make_claims(report: TreesReport) -> list[Claim]:
    """Hold what is promised against a report."""
    claims = [
        Claim(f"spanning tree faster than ufal.chu-liu-edmonds, {row.words} words{kind}", 5, True,
              divide(row.ufal, ours))
        for row in report.spans
        for kind, ours in (("", row.ours), (", one root", row.single))
    ]  # fmt: skip
    for row in report.rows:
        if row.kind in KINDS:
            needed = 200 if row.kind.startswith("hard") else 500
            claims.append(Claim(f"faster than HiGHS, {row.kind}", needed, True, divide(row.highs, row.same)))
    least = min((row.proven for row in report.rows), default=None)
    return [*claims, Claim("proven (least of all kinds)", 100, True, least, "%")]


def lay_out(report: TreesReport) -> Iterator[Group]:
    """Yield the two tables."""
    table = make_table("words", "µs", "one root", "ufal.chu-liu-edmonds")
    for row in report.spans:
        theirs = "" if row.ufal is None else f"{row.ufal:.1f}"
        table.add_row(str(row.words), f"{row.ours:.2f}", f"{row.single:.2f}", theirs)
    yield add_title("spanning trees", table)
    table = make_table("sentences", "proven", "ms, median", "most", "the first", "HiGHS on these")
    for kind in report.rows:
        table.add_row(kind.kind, f"{kind.proven:.0f} %", f"{kind.median:.2f}", f"{kind.most:.1f}",
                      "" if kind.same is None else f"{kind.same:.2f}",
                      "" if kind.highs is None else f"{kind.highs:.0f}")  # fmt: skip
    yield add_title(f"siblings and grandparents: {report.plan.count} sentences each", table)


BENCHMARK = Benchmark(name="trees", make_plan=make_plan, run=run, lay_out=lay_out, make_claims=make_claims)
