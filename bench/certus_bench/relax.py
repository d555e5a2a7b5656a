"""``certus bench relax``: the same problems, solved with every optimiser, until the proof."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from time import perf_counter
from typing import Annotated

import numpy as np
import typer
from rich.console import Group
from rich.text import Text

from certus.errors import InvalidInput
from certus.relax import Auto, Bundle, Decomposition, Descent, JointSolution, Optimizer, Subgradient
from certus_bench.harness.benchmark import Benchmark, BenchmarkReport, Tell
from certus_bench.harness.claims import Claim
from certus_bench.harness.environment import describe_machine
from certus_bench.harness.options import Seed, flag_quick, split_names
from certus_bench.harness.tables import add_title, make_table
from certus_bench.relax_problems import PROBLEMS

PAPER, AUTO, PROOF = "subgradient, halving", "auto", "auto, to the proof"
OPTIMIZERS: dict[str, Optimizer] = {
    PAPER: Subgradient(step=0.5),
    "subgradient, inverse": Subgradient(rule="inverse"),
    "subgradient, decay": Subgradient(rule="decay"),
    "subgradient, polyak": Subgradient(rule="polyak"),
    "bundle": Bundle(),
    "descent": Descent(),
    AUTO: Auto(),
}


@dataclass(frozen=True, kw_only=True)
class RelaxPlan:
    """What to compare."""

    count: int = 40  # problems of each kind
    iterations: int = 200  # the most that each optimiser gets, without branching
    seconds: float = 30.0  # the most that a proof with branching may take
    seed: int = 0  # of the first problem
    only: tuple[str, ...] = ()  # kinds whose names contain one of these; all if empty

    @property
    def kinds(self) -> list[str]:
        """The kinds of problems asked for."""
        found = [name for name in PROBLEMS if not self.only or any(part in name for part in self.only)]
        if not found:
            raise InvalidInput(
                f"no kind of problem is named {', '.join(self.only)}; there are: " + "; ".join(PROBLEMS)
            )
        return found


@dataclass(frozen=True)
class OptimizerRow:
    """How one optimiser fared on problems of one kind."""

    kind: str  # of the problems, and ``optimizer`` the name of the way to solve them
    optimizer: str
    proven: float  # in percent
    iterations: list[int]  # of each problem; those without a proof have the limit
    gap: float  # the mean of what is left between score and bound
    seconds: float  # the mean per problem
    nodes: int  # the most branches

    def percentile(self, share: float) -> float:
        """Return the iterations that a share of the problems stays within."""
        return float(np.percentile(self.iterations, 100 * share))


def make_plan(
    only: Annotated[
        str,
        typer.Option(help="Kinds of problems, by parts of their names separated by commas; all by default."),
    ] = "",
    count: Annotated[int, typer.Option(help="How many problems of each kind to solve.", min=1)] = 40,
    iterations: Annotated[int, typer.Option(help="The most iterations of each optimiser.", min=1)] = 200,
    quick: Annotated[bool, flag_quick("Solve four problems of each kind.")] = False,
    seed: Seed = 0,
) -> RelaxPlan:
    """Compare the optimisers of decompositions: iterations until the answer is proven, and what is proven.

    Each gets the same random problems, without branching; the last row of each table is the default with
    branching, to the proof.
    """
    return RelaxPlan(count=4 if quick else count, iterations=iterations, seed=seed, only=split_names(only))


@dataclass
class RelaxReport(BenchmarkReport):
    """How every optimiser fared on every kind of problem."""

    plan: RelaxPlan
    rows: list[OptimizerRow] = field(default_factory=list)

    def row(self, kind: str, optimizer: str) -> OptimizerRow | None:
        """Return one cell of the table."""
        return next((row for row in self.rows if (row.kind, row.optimizer) == (kind, optimizer)), None)


def run(plan: RelaxPlan, tell: Tell) -> RelaxReport:
    """Solve everything."""
    report = RelaxReport(plan, describe_machine({}))
    ways = [*OPTIMIZERS, PROOF]
    for n, kind in enumerate(plan.kinds):
        for m, way in enumerate(ways):
            tell(f"{kind}: {way}", (n + m / len(ways)) / len(plan.kinds))
            row = _measure_way(plan, kind, way)
            if row is not None:
                report.rows.append(row)
    return report


def _measure_way(plan: RelaxPlan, kind: str, way: str) -> OptimizerRow | None:
    solutions, iterations = [], []
    began = perf_counter()
    for number in range(plan.count):
        problem = PROBLEMS[kind](np.random.default_rng(plan.seed + number))
        try:
            solution = _solve_one(problem, way, plan)
        except InvalidInput:  # descent, where a part has no max-marginals
            return None
        solutions.append(solution)
        done = solution.optimal or way == PROOF
        iterations.append(solution.stats["iterations"] if done else plan.iterations)
    return OptimizerRow(
        kind,
        way,
        100 * sum(solution.optimal for solution in solutions) / plan.count,
        iterations,
        float(np.mean([solution.gap for solution in solutions])),
        (perf_counter() - began) / plan.count,
        max(solution.stats["nodes"] for solution in solutions),
    )


def _solve_one(problem: Decomposition, way: str, plan: RelaxPlan) -> JointSolution:
    if way == PROOF:
        return problem.solve(seconds=plan.seconds)
    return problem.solve(optimizer=OPTIMIZERS[way], max_iterations=plan.iterations, max_nodes=1)


JOINT = "parsing and tagging"


def make_claims(report: RelaxReport) -> list[Claim]:
    """Hold what is promised of the default against a report."""
    pairs = [(report.row(kind, AUTO), report.row(kind, PAPER)) for kind in report.plan.kinds]
    known = [(auto, paper) for auto, paper in pairs if auto is not None and paper is not None]
    least = min((auto.proven - paper.proven for auto, paper in known), default=None)
    auto, paper = report.row(JOINT, AUTO), report.row(JOINT, PAPER)
    ratio = auto.percentile(0.5) / paper.percentile(0.5) if auto is not None and paper is not None else None
    proofs = [row.proven for kind in report.plan.kinds if (row := report.row(kind, PROOF)) is not None]
    return [
        Claim("auto proves more than the paper's step does, without branching (least of all kinds)", 0, True,
              least, "points"),
        Claim(f"iterations of auto over the paper's step's, {JOINT} (median)", 0.5, False, ratio),
        Claim("proven with branching (least of all kinds)", 100, True, min(proofs, default=None), "%"),
    ]  # fmt: skip


def lay_out(report: RelaxReport) -> Iterator[Group]:
    """Yield a table for each kind of problem."""
    for kind in report.plan.kinds:
        names = ("proven", "iterations, median", "95 %", "mean gap", "ms", "branches")
        table = make_table("optimizer", *names)
        rows = [row for way in (*OPTIMIZERS, PROOF) if (row := report.row(kind, way)) is not None]
        fewest = min((row.percentile(0.5) for row in rows if row.optimizer != PROOF), default=0.0)
        for row in rows:
            table.add_row(*_format_row(row, fewest))
        yield add_title(f"{kind}: {report.plan.count} problems", table)


def _format_row(row: OptimizerRow, fewest: float) -> list[Text]:
    median = row.percentile(0.5)
    return [
        Text(row.optimizer, "cyan" if row.optimizer in (AUTO, PROOF) else ""),
        Text(f"{row.proven:.0f} %"),
        Text(f"{median:.0f}", "bold green" if median <= fewest else ""),
        Text(f"{row.percentile(0.95):.0f}"),
        Text(f"{row.gap:.3g}"),
        Text(f"{1000 * row.seconds:.0f}"),
        Text(f"{row.nodes}"),
    ]


BENCHMARK = Benchmark(name="relax", make_plan=make_plan, run=run, lay_out=lay_out, make_claims=make_claims)
