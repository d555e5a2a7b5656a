"""``certus bench constraints``: the methods of constrained search over packed forests, side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from time import perf_counter
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Group

from certus.hypergraph import METHODS, Builder, Hypergraph
from certus_bench.harness.benchmark import Benchmark, BenchmarkReport, Tell, keep_quiet
from certus_bench.harness.claims import Claim, divide
from certus_bench.harness.environment import describe_machine, find_versions
from certus_bench.harness.options import Seed
from certus_bench.harness.tables import add_title, make_table
from certus_bench.hypergraph import make_forest


@dataclass(frozen=True)
class Problem:
    """A forest with scores and constraints A x = b."""

    graph: Hypergraph
    scores: NDArray[np.float64]
    rows: list[dict[int, float]]
    targets: list[float]


def make_phrases(rng: np.random.Generator, words: int) -> Problem:
    """Make a sentence to be translated by phrases, each word once, under a bigram model.

    The graph is that of Rush, Chang & Collins (2013), section 2.2: a node is how many words are translated
    and the last word written. Phrases have up to three words, with three translations each of up to four
    words out of 36; scores are normal.
    """
    bigrams = rng.normal(size=(36, 36))
    phrases = [
        (i, j, rng.integers(1, 36, size=int(rng.integers(1, j - i + 2))).tolist(), float(rng.normal() * 0.5))
        for i in range(words)
        for j in range(i + 1, min(words, i + 3) + 1)
        for _ in range(3)
    ]
    builder, ends = Builder(), [{0}, *(set[int]() for _ in range(words))]
    for done in range(words):
        for last in sorted(ends[done]):
            for i, j, target, score in phrases:
                if done + j - i > words:
                    continue
                path = [last, *target]
                score = score + float(bigrams[path[:-1], path[1:]].sum())
                before = [(done, last)] if done else []
                builder.add((done + j - i, path[-1]), before, score=score, label=(i, j))
                ends[done + j - i].add(path[-1])
    for last in sorted(ends[words]):
        builder.add("end", [(words, last)], score=float(bigrams[last, 0]))
    graph = builder.build("end")
    spans = [label or (0, 0) for label in graph.labels or ()]
    rows = [{e: 1.0 for e, (i, j) in enumerate(spans) if i <= word < j} for word in range(words)]
    return Problem(graph, np.array(builder.scores), rows, [1.0] * words)


def make_counts(rng: np.random.Generator, words: int) -> Problem:
    """Make a parse forest whose rules are to be used as often as in one of its 500 best parses."""
    forest = make_forest(words * (words * words - 1), words=words, labels=4, seed=int(rng.integers(2**31)))
    graph = Hypergraph(forest.heads, forest.offsets, forest.tails, forest.goal, nodes=forest.nodes)
    scores = rng.normal(size=graph.edges) * 8
    best = graph.decode(scores, k=500).values
    some = best[int(rng.integers(len(best)))]
    kind = rng.integers(8, size=graph.edges)
    rows = [{int(e): 1.0 for e in np.flatnonzero(kind == rule)} for rule in range(6)]
    return Problem(graph, scores, rows, [float(sum(row.get(e, 0) for e in some.tolist())) for row in rows])


KINDS: dict[str, Callable[[np.random.Generator], Problem]] = {
    "phrases, 5 words": partial(make_phrases, words=5),
    "phrases, 8 words": partial(make_phrases, words=8),
    "phrases, 12 words": partial(make_phrases, words=12),
    "rule counts, 10 words": partial(make_counts, words=10),
}
_PROGRAMS = ("phrases, 5 words",)  # what HiGHS can take


@dataclass(frozen=True)
class ConstraintsPlan:
    """What to compare."""

    count: int = 20  # problems of each kind
    seconds: float = 10.0  # the most that a method gets for each
    seed: int = 0


def make_plan(
    count: Annotated[int, typer.Option(help="Problems of each kind.", metavar="NUMBER", min=1)] = 20,
    seconds: Annotated[
        float, typer.Option(help="The most that a method gets for a problem.", metavar="NUMBER", min=0.01)
    ] = 10.0,
    seed: Seed = 0,
) -> ConstraintsPlan:
    """Compare the methods of constrained search: time to the proof, share proven, states.

    Sentences to be translated by phrases, each word once, and parses that use rules so often. Proven answers
    are compared with one another; if some differ, the exit code is 1.
    """
    return ConstraintsPlan(count=count, seconds=seconds, seed=seed)


@dataclass(frozen=True)
class MethodRow:
    """One method on the problems of one kind; seconds."""

    kind: str
    method: str
    median: float
    mean: float
    worst: float
    proven: float  # in percent
    states: float  # in the mean


@dataclass
class ConstraintsReport(BenchmarkReport):
    """What the methods did."""

    plan: ConstraintsPlan
    edges: dict[str, int] = field(default_factory=dict)
    rows: list[MethodRow] = field(default_factory=list)

    def find(self, kind: str, method: str) -> MethodRow | None:
        """Return a row, if it was measured."""
        return next((row for row in self.rows if (row.kind, row.method) == (kind, method)), None)

    def find_median(self, kind: str, method: str) -> float | None:
        """Return the median time of a method, if it was measured."""
        row = self.find(kind, method)
        return None if row is None else row.median


def run(plan: ConstraintsPlan, tell: Tell = keep_quiet) -> ConstraintsReport:
    """Let every method solve every problem."""
    report = ConstraintsReport(plan, describe_machine(find_versions("highspy")))
    for number, (kind, make) in enumerate(KINDS.items()):
        problems = [make(np.random.default_rng([plan.seed, place])) for place in range(plan.count)]
        report.edges[kind] = int(np.median([problem.graph.edges for problem in problems]))
        best: dict[int, float] = {}
        for method in METHODS:
            if method == "ilp" and (kind not in _PROGRAMS or not find_spec("highspy")):
                continue
            tell(f"{kind}, {method}", number / len(KINDS))
            _solve_all(report, kind, method, problems, best)
    return report


def _solve_all(
    report: ConstraintsReport, kind: str, method: Any, problems: list[Problem], best: dict[int, float]
) -> None:
    times, proven, states = [], 0, 0
    for place, problem in enumerate(problems):
        constrained = problem.graph.with_constraints(problem.rows, problem.targets)
        begin = perf_counter()
        found = constrained.decode(problem.scores, method=method, seconds=report.plan.seconds)
        times.append(perf_counter() - begin)
        proven += found.optimal
        states += found.stats["expanded"]
        if found.optimal and abs(best.setdefault(place, found.score) - found.score) > 1e-6:
            which = f"{kind}, problem {place}"
            report.failures.append(f"{which}: {method} proves {found.score}, not {best[place]}")
    share = 100 * proven / len(problems)
    row = (float(np.median(times)), float(np.mean(times)), max(times), share, states / len(problems))
    report.rows.append(MethodRow(kind, method, *row))


def make_claims(report: ConstraintsReport) -> list[Claim]:
    """Return what is promised, with what was measured."""

    def divide_medians(kind: str, slow: str, fast: str) -> float | None:
        return divide(report.find_median(kind, slow), report.find_median(kind, fast))

    proven = [row.proven for row in report.rows if row.method == "auto"]
    long, short = "phrases, 12 words", _PROGRAMS[0]
    ahead = divide_medians(long, "tightening", "optimal-beam")
    return [
        Claim("problems that auto proves", 100, True, min(proven, default=None), "%"),
        Claim(f"optimal-beam over tightening, {long}", 3.5, True, ahead, "x"),
        Claim(f"auto over HiGHS, {short}", 50, True, divide_medians(short, "ilp", "auto"), "x"),
    ]


def lay_out(report: ConstraintsReport) -> Iterator[Group]:
    """Yield a table for each kind."""
    for kind, edges in report.edges.items():
        table = make_table("method", "median ms", "mean", "worst", "% proven", "states")
        for row in report.rows:
            if row.kind == kind:
                times = (f"{1e3 * x:.3g}" for x in (row.median, row.mean, row.worst))
                table.add_row(row.method, *times, f"{row.proven:.3g}", f"{row.states:,.0f}")
        yield add_title(f"{kind}: {report.plan.count} problems, {edges:,} edges", table)


BENCHMARK = Benchmark(
    name="constraints", make_plan=make_plan, run=run, lay_out=lay_out, make_claims=make_claims
)
