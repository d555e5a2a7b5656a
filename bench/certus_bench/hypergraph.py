"""``certus bench hypergraph``: how long questions about a packed forest take, beside reading it once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from itertools import islice
from typing import Any

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from certus.hypergraph import Hypergraph
from certus_bench.claims import Claim
from certus_bench.environment import describe
from certus_bench.forests import parse_forest
from certus_bench.report import conclude, titled
from certus_bench.timing import Spread, Stopwatch, race

FLOOR = "reading all of it once"
# Milliseconds at a million binary edges.
_PROMISES = {"viterbi": 10.0, "inside": 30.0, "build from arrays": 100.0}
_SIZE = 1_000_000


@dataclass(frozen=True)
class Plan:
    """What to time.

    Attributes:
        edges: sizes of forests.
        seconds: the budget of a cell.
        seed: of the scores and the rules.
    """

    edges: tuple[int, ...] = (10_000, 100_000, 1_000_000)
    seconds: float = 1.0
    seed: int = 0


@dataclass(frozen=True)
class Row:
    """The time of one question about one forest."""

    what: str
    edges: int  # as asked for; forests come out within a few percent
    spread: Spread
    calls: int


@dataclass
class Report:
    """All times, and where an answer was wrong."""

    plan: Plan
    machine: dict[str, Any]
    forests: list[dict[str, int]] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def seconds(self, what: str, edges: int) -> float | None:
        """Return the median time of a question, if it was timed."""
        return next((row.spread.median for row in self.rows if (row.what, row.edges) == (what, edges)), None)


def run(plan: Plan, tell: Callable[[str, float], None] = lambda text, done: None) -> Report:
    """Time everything; ``tell`` is called with what is timed next and the share that is done."""
    report = Report(plan, describe({}))
    for number, edges in enumerate(plan.edges):
        _time(report, edges, lambda text, n=number: tell(text, n / len(plan.edges)))  # type: ignore[misc]
    return report


def _time(report: Report, edges: int, tell: Callable[[str], None]) -> None:
    plan = report.plan
    forest = parse_forest(edges, words=60 if edges >= 100_000 else 25, seed=plan.seed)
    arrays = (forest.heads, forest.offsets, forest.tails, forest.goal)
    graph = Hypergraph(*arrays, nodes=forest.nodes)
    scores = np.random.default_rng(plan.seed).normal(size=graph.edges)
    mixed = forest.shuffled(plan.seed)
    report.forests.append({"asked": edges, "edges": graph.edges, "nodes": graph.nodes})
    _verify(report, graph, scores, edges)
    single = scores.astype(np.float32)
    best = graph.viterbi(scores).score
    part = graph.part(scores, {"leaves": ((len(scores),), np.arange(1000), np.arange(1000))})
    no_change: dict[str, Any] = {"leaves": np.zeros(len(scores))}
    calls: dict[str, Callable[[], Any]] = {
        FLOOR: lambda: graph._forest.stream(scores),
        "viterbi": lambda: graph.viterbi(scores),
        "viterbi, float32": lambda: graph.viterbi(single),
        "part.maximize": lambda: part.maximize(no_change),
        "inside": lambda: graph.inside(scores),
        "inside and outside": lambda: graph.outside(scores),
        "marginals": lambda: graph.marginals(scores),
        "max_marginals": lambda: graph.max_marginals(scores),
        "kbest, k=100": lambda: graph.kbest(scores, 100),
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
        Row(name, edges, watch.spread, watch.count) for name, watch in zip(names, watches, strict=True)
    ]


def _verify(report: Report, graph: Hypergraph, scores: Any, edges: int) -> None:
    """Hold answers against one another: different passes must say the same."""
    best = graph.viterbi(scores)
    marginals, bounds = graph.marginals(scores), graph.max_marginals(scores)
    first = [found.score for found in islice(graph.derivations(scores), 3)]
    kept = graph.prune(scores, first[-1])
    checks = {
        "viterbi and max-marginals": np.isclose(best.score, bounds.score, rtol=1e-9),
        "viterbi and the score of its derivation": best.score == graph.score(scores, best.value),
        "viterbi and the first of k": best.score == first[0],
        "marginals of the goal": np.isclose(marginals.nodes[graph.goals[0]], 1),
        "viterbi after pruning": np.isclose(
            kept.graph.viterbi(scores[kept.edges]).score, best.score, rtol=1e-12
        ),
        "float32": np.isclose(graph.viterbi(scores.astype(np.float32)).score, best.score, rtol=1e-4),
    }
    report.failures += [f"{edges:,} edges: {name} differ" for name, holds in checks.items() if not holds]


def claims(report: Report) -> list[Claim]:
    """Return what is promised at a million edges, with what was measured."""
    made = []
    for what, needed in _PROMISES.items():
        seconds = report.seconds(what, _SIZE)
        measured = None if seconds is None else seconds * 1000
        made.append(Claim(f"{what}, {_SIZE:,} binary edges", needed, False, measured, "ms"))
    return made


def show(report: Report, console: Console) -> None:
    """Print the table, the claims and the machine."""
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("question", no_wrap=True)
    for forest in report.forests:
        table.add_column(f"{forest['edges']:,} edges", justify="right", no_wrap=True)
    for what in dict.fromkeys(row.what for row in report.rows):
        found = {row.edges: row for row in report.rows if row.what == what}
        cells = [_cell(found[forest["asked"]].spread) for forest in report.forests]
        table.add_row(Text(what, "dim" if what == FLOOR else "cyan"), *cells)
    console.print(titled("packed forests: ms, median [quartiles], float64, one thread", table))
    conclude(console, claims(report), report.machine, report.failures)


def _cell(spread: Spread) -> Text:
    text = Text(f"{spread.median * 1e3:.3g}")
    return text.append(f" [{spread.low * 1e3:.3g}–{spread.high * 1e3:.3g}]", "dim")


def as_json(report: Report) -> dict[str, Any]:
    """Return all of a report as what JSON can hold; times are in seconds."""
    return {
        "plan": asdict(report.plan),
        "machine": report.machine,
        "forests": report.forests,
        "rows": [asdict(row) for row in report.rows],
        "claims": [claim.as_json() for claim in claims(report)],
        "failures": report.failures,
    }
