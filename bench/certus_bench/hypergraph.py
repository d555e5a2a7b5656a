"""``certus bench hypergraph``: how long questions about a packed forest take, beside reading it once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Group
from rich.text import Text

from certus.errors import InvalidInput
from certus.hypergraph import Hypergraph
from certus_bench.harness.benchmark import Benchmark, BenchmarkReport, Tell, keep_quiet
from certus_bench.harness.claims import Claim
from certus_bench.harness.environment import describe_machine
from certus_bench.harness.options import Seconds, Seed, split_names
from certus_bench.harness.tables import add_title, make_table
from certus_bench.harness.timing import Spread, Stopwatch, race

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class ParseForest:
    """What ``Hypergraph`` takes, tails below heads and edges sorted by head."""

    heads: Ints
    offsets: Ints
    tails: Ints
    goal: int
    nodes: int

    def shuffle(self, seed: int) -> ParseForest:
        """Return the same forest with its nodes and edges numbered at random."""
        rng = np.random.default_rng(seed)
        number, order = rng.permutation(self.nodes), rng.permutation(len(self.heads))
        lengths = np.diff(self.offsets)[order]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        tails = self.tails[np.repeat(self.offsets[order] - offsets[:-1], lengths) + np.arange(offsets[-1])]
        return ParseForest(
            number[self.heads[order]], offsets, number[tails], int(number[self.goal]), self.nodes
        )


def make_forest(edges: int, *, words: int = 60, labels: int = 20, seed: int = 0) -> ParseForest:
    """Return every bracketing of some words under random rules A -> B C, about so many edges.

    Nearly all edges are binary. A node is a label over a span; spans come by length, so that tails come
    before heads.
    """
    splits = words * (words * words - 1) // 6
    rules = max(1, round((edges - words * labels) / splits))
    rng = np.random.default_rng(seed)
    above, left, right = rng.integers(0, labels, (3, rules))
    above = np.sort(above)
    above[0] = left[0] = right[0] = 0  # so that there is a derivation
    begin, length = np.array([(i, n) for n in range(1, words + 1) for i in range(words - n + 1)]).T
    span = np.zeros((words + 1, words + 1), np.int64)  # [begin, length]
    span[begin, length] = np.arange(len(begin))
    heads, tails = [np.arange(words * labels)], []
    for number in range(words, len(begin)):
        first, whole = begin[number], length[number]
        part = np.arange(1, whole)
        heads.append(np.repeat(number * labels + above, whole - 1))
        lefts = span[first, part] * labels + left[:, None]
        rights = span[first + part, whole - part] * labels + right[:, None]
        tails.append(np.stack([lefts, rights], axis=-1).reshape(-1))
    head = np.concatenate(heads)
    tail = np.concatenate(tails)
    leaves = np.zeros(words * labels, np.int64)
    goal = (len(begin) - 1) * labels
    return ParseForest(
        head, np.concatenate([leaves, np.arange(0, len(tail) + 1, 2)]), tail, goal, len(begin) * labels
    )


FLOOR = "reading all of it once"
# Milliseconds at a million binary edges.
_PROMISES = {"viterbi": 10.0, "inside": 30.0, "build from arrays": 100.0}
_SIZE = 1_000_000


@dataclass(frozen=True)
class HypergraphPlan:
    """What to time."""

    edges: tuple[int, ...] = (10_000, 100_000, 1_000_000)  # sizes of forests
    seconds: float = 1.0  # the budget of a cell
    seed: int = 0  # of the scores and the rules


def make_plan(
    edges: Annotated[
        str, typer.Option(help="Sizes of forests, separated by commas; 10000,100000,1000000 by default.")
    ] = "",
    seconds: Seconds = 1.0,
    seed: Seed = 0,
) -> HypergraphPlan:
    """Time the questions about packed forests, beside the time to read their bytes once.

    The forests hold every bracketing of some words under random rules. Answers are compared with one another;
    if some differ, the exit code is 1.
    """
    sizes = split_names(edges)
    if not all(size.isdecimal() and int(size) >= 5000 for size in sizes):
        raise InvalidInput(f"edges are whole numbers from 5000 on, separated by commas, not {edges!r}")
    wanted = tuple(map(int, sizes)) or HypergraphPlan.edges
    return HypergraphPlan(edges=wanted, seconds=seconds, seed=seed)


@dataclass(frozen=True)
class ForestRow:
    """The time of one question about one forest."""

    what: str
    edges: int  # as asked for; forests come out within a few percent
    spread: Spread
    calls: int


@dataclass
class HypergraphReport(BenchmarkReport):
    """The times of all questions."""

    plan: HypergraphPlan
    forests: list[dict[str, int]] = field(default_factory=list)
    rows: list[ForestRow] = field(default_factory=list)

    def find_seconds(self, what: str, edges: int) -> float | None:
        """Return the median time of a question, if it was timed."""
        return next((row.spread.median for row in self.rows if (row.what, row.edges) == (what, edges)), None)


def run(plan: HypergraphPlan, tell: Tell = keep_quiet) -> HypergraphReport:
    """Time everything."""
    report = HypergraphReport(plan, describe_machine({}))
    for number, edges in enumerate(plan.edges):
        _time_forest(report, edges, partial(_tell_share, tell, number / len(plan.edges)))
    return report


def _tell_share(tell: Tell, share: float, text: str) -> None:
    tell(text, share)


def _time_forest(report: HypergraphReport, edges: int, tell: Callable[[str], None]) -> None:
    plan = report.plan
    forest = make_forest(edges, words=60 if edges >= 100_000 else 25, seed=plan.seed)
    arrays = (forest.heads, forest.offsets, forest.tails, forest.goal)
    graph = Hypergraph(*arrays, nodes=forest.nodes)
    scores = np.random.default_rng(plan.seed).normal(size=graph.edges)
    mixed = forest.shuffle(plan.seed)
    report.forests.append({"asked": edges, "edges": graph.edges, "nodes": graph.nodes})
    _compare_answers(report, graph, scores, edges)
    single = scores.astype(np.float32)
    best = graph.decode(scores).score
    part = graph.part(scores, {"leaves": ((len(scores),), np.arange(1000), np.arange(1000))})
    no_change: dict[str, Any] = {"leaves": np.zeros(len(scores))}
    calls: dict[str, Callable[[], Any]] = {
        FLOOR: lambda: graph._forest.stream(scores),
        "viterbi": lambda: graph.decode(scores),
        "viterbi, float32": lambda: graph.decode(single),
        "part.maximize": lambda: part.maximize(no_change),
        "inside": lambda: graph.inside(scores),
        "inside and outside": lambda: graph.outside(scores),
        "marginals": lambda: graph.marginals(scores),
        "max_marginals": lambda: graph.max_marginals(scores),
        "kbest, k=100": lambda: graph.decode(scores, k=100),
        "count, exact": graph.count,
        "prune to best - 5": lambda: graph.prune(scores, best - 5),
        "build from arrays": lambda: Hypergraph(*arrays, nodes=forest.nodes),
        "build, shuffled": lambda: Hypergraph(
            mixed.heads, mixed.offsets, mixed.tails, mixed.goal, nodes=mixed.nodes
        ),
    }
    watches = [Stopwatch([call], lambda *_: None, plan.seconds) for call in calls.values()]
    names = list(calls)
    race(watches, tick=lambda index: tell(f"{edges:,} edges, {names[index]}"))
    report.rows += [
        ForestRow(name, edges, watch.spread, watch.count) for name, watch in zip(names, watches, strict=True)
    ]


def _compare_answers(report: HypergraphReport, graph: Hypergraph, scores: Any, edges: int) -> None:
    """Hold answers against one another: different passes must say the same."""
    best = graph.decode(scores)
    marginals, bounds = graph.marginals(scores), graph.max_marginals(scores)
    first = [found.score for found in islice(graph.iterate(scores), 3)]
    kept = graph.prune(scores, first[-1])
    checks = {
        "viterbi and max-marginals": np.isclose(best.score, bounds.score, rtol=1e-9),
        "viterbi and the score of its derivation": best.score == graph.score(scores, best.value),
        "viterbi and the first of k": best.score == first[0],
        "marginals of the goal": np.isclose(marginals.nodes[graph.goals[0]], 1),
        "viterbi after pruning": np.isclose(
            kept.graph.decode(scores[kept.edges]).score, best.score, rtol=1e-12
        ),
        "float32": np.isclose(graph.decode(scores.astype(np.float32)).score, best.score, rtol=1e-4),
    }
    report.failures += [f"{edges:,} edges: {name} differ" for name, holds in checks.items() if not holds]


def make_claims(report: HypergraphReport) -> list[Claim]:
    """Return what is promised at a million edges, with what was measured."""
    made = []
    for what, needed in _PROMISES.items():
        seconds = report.find_seconds(what, _SIZE)
        measured = None if seconds is None else seconds * 1000
        made.append(Claim(f"{what}, {_SIZE:,} binary edges", needed, False, measured, "ms"))
    return made


def lay_out(report: HypergraphReport) -> Iterator[Group]:
    """Yield the table of times."""
    table = make_table("question", *(f"{forest['edges']:,} edges" for forest in report.forests))
    for what in dict.fromkeys(row.what for row in report.rows):
        found = {row.edges: row for row in report.rows if row.what == what}
        cells = [_format_cell(found[forest["asked"]].spread) for forest in report.forests]
        table.add_row(Text(what, "dim" if what == FLOOR else "cyan"), *cells)
    yield add_title("packed forests: ms, median [quartiles], float64, one thread", table)


def _format_cell(spread: Spread) -> Text:
    text = Text(f"{spread.median * 1e3:.3g}")
    return text.append(f" [{spread.low * 1e3:.3g}–{spread.high * 1e3:.3g}]", "dim")


BENCHMARK = Benchmark(
    name="hypergraph", make_plan=make_plan, run=run, lay_out=lay_out, make_claims=make_claims
)
