"""``certus bench relax``: the same problems with every optimiser, and beside other solvers, to the proof."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from time import perf_counter
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Group
from rich.text import Text

from certus.errors import InvalidInput
from certus.relax import Admm, Auto, Bundle, Decomposition, Descent, JointSolution, Optimizer, Subgradient
from certus_bench.harness.benchmark import Benchmark, BenchmarkReport, Tell
from certus_bench.harness.claims import Claim
from certus_bench.harness.environment import describe_machine, find_versions
from certus_bench.harness.options import Seed, flag_quick, split_names
from certus_bench.harness.tables import add_title, make_table
from certus_bench.relax_graphs import GRAPHS
from certus_bench.relax_picture import paint_paths
from certus_bench.relax_problems import PROBLEMS
from certus_bench.relax_solvers import CERTUS, Proof, list_solvers

PAPER, AUTO, PROOF = "subgradient, halving", "auto", "auto, to the proof"
OPTIMIZERS: dict[str, Optimizer] = {
    PAPER: Subgradient(step=0.5),
    "subgradient, inverse": Subgradient(rule="inverse"),
    "subgradient, decay": Subgradient(rule="decay"),
    "subgradient, polyak": Subgradient(rule="polyak"),
    "bundle": Bundle(),
    "descent": Descent(),
    "admm": Admm(),
    AUTO: Auto(),
}


@dataclass(frozen=True, kw_only=True)
class RelaxPlan:
    """What to compare."""

    count: int = 40  # problems of each kind
    iterations: int = 200  # the most that each optimiser gets, without branching
    seconds: float = 30.0  # the most that a proof with branching may take
    graphs: int = 5  # factor graphs of each kind, beside other solvers,
    patience: float = 10.0  # and the seconds that each solver gets for one
    seed: int = 0  # of the first problem
    only: tuple[str, ...] = ()  # kinds whose names contain one of these; all if empty

    def __post_init__(self) -> None:
        """Refuse kinds that there are not."""
        if not self.kinds and not self.graph_kinds:
            raise InvalidInput(
                f"no kind of problem is named {', '.join(self.only)}; there are: "
                + "; ".join([*PROBLEMS, *GRAPHS])
            )

    @property
    def kinds(self) -> list[str]:
        """The kinds of decompositions asked for."""
        return [name for name in PROBLEMS if self._wants(name)]

    @property
    def graph_kinds(self) -> list[str]:
        """The kinds of factor graphs asked for."""
        return [name for name in GRAPHS if self._wants(name)]

    def _wants(self, name: str) -> bool:
        return not self.only or any(part in name for part in self.only)


@dataclass(frozen=True)
class OptimizerRow:
    """How one optimiser fared on problems of one kind."""

    kind: str  # of the problems, and ``optimizer`` the name of the way to solve them
    optimizer: str
    proven: float  # in percent
    iterations: list[int]  # of each problem; those without a proof have the limit
    gap: float  # the mean of what is left between score and bound
    seconds: float  # the median per problem, from the parts' scores to the answer
    nodes: int  # the most branches

    def percentile(self, share: float) -> float:
        """Return the iterations that a share of the problems stays within."""
        return float(np.percentile(self.iterations, 100 * share))


@dataclass(frozen=True)
class SolverRow:
    """How one solver fared on factor graphs of one kind."""

    kind: str
    solver: str
    proofs: list[Proof]
    wrong: int  # proven scores that are below the best one known

    def share_within(self, seconds: float) -> float:
        """Return the share of problems, in percent, that were proven by then."""
        return 100 * sum(p.proven and p.seconds <= seconds for p in self.proofs) / len(self.proofs)

    @property
    def median(self) -> float:
        """The median of the seconds until the proof, or the end."""
        return float(np.median([p.seconds for p in self.proofs]))


def make_plan(
    only: Annotated[
        str,
        typer.Option(help="Kinds of problems, by parts of their names separated by commas; all by default."),
    ] = "",
    count: Annotated[int, typer.Option(help="How many problems of each kind to solve.", min=1)] = 40,
    iterations: Annotated[int, typer.Option(help="The most iterations of each optimiser.", min=1)] = 200,
    graphs: Annotated[
        int, typer.Option(help="How many factor graphs of each kind to solve beside other solvers.", min=1)
    ] = 5,
    quick: Annotated[bool, flag_quick("Solve four problems of each kind, and two factor graphs.")] = False,
    seed: Seed = 0,
) -> RelaxPlan:
    """Compare the optimisers of decompositions: iterations until the answer is proven, and what is proven.

    Each gets the same random problems, without branching; the last row of each table is the default with
    branching, to the proof. Factor graphs are solved by Certus and by HiGHS, CP-SAT, toulbar2 and AD3, where
    these are installed (pip install highspy ortools pytoulbar2): seconds until the proof, and, as a picture,
    how far from the best score each is at which time.
    """
    return RelaxPlan(
        count=4 if quick else count,
        iterations=iterations,
        graphs=2 if quick else graphs,
        seed=seed,
        only=split_names(only),
    )


@dataclass
class RelaxReport(BenchmarkReport):
    """How every optimiser fared on every kind of problem."""

    plan: RelaxPlan
    rows: list[OptimizerRow] = field(default_factory=list)
    solvers: list[SolverRow] = field(default_factory=list)

    def row(self, kind: str, optimizer: str) -> OptimizerRow | None:
        """Return one cell of the table."""
        return next((row for row in self.rows if (row.kind, row.optimizer) == (kind, optimizer)), None)


def run(plan: RelaxPlan, tell: Tell) -> RelaxReport:
    """Solve everything."""
    report = RelaxReport(plan, describe_machine(find_versions("highspy", "ortools", "pytoulbar2", "ad3")))
    ways = [*OPTIMIZERS, PROOF]
    total = len(plan.kinds) + len(plan.graph_kinds)
    for n, kind in enumerate(plan.kinds):
        for m, way in enumerate(ways):
            tell(f"{kind}: {way}", (n + m / len(ways)) / total)
            row = _measure_way(plan, kind, way)
            if row is not None:
                report.rows.append(row)
    for n, kind in enumerate(plan.graph_kinds):
        tell(f"{kind}: all solvers", (len(plan.kinds) + n) / total)
        report.solvers.extend(_measure_solvers(plan, kind))
    return report


def _measure_solvers(plan: RelaxPlan, kind: str) -> list[SolverRow]:
    """Solve the same factor graphs with every solver; proven scores have to be the same, but for rounding."""
    problems = [GRAPHS[kind](np.random.default_rng(plan.seed + number)) for number in range(plan.graphs)]
    found = {
        name: [solve(problem, plan.patience) for problem in problems]
        for name, solve in list_solvers().items()
    }
    best = [max(proof.score for proof in proofs) for proofs in zip(*found.values(), strict=True)]
    return [
        SolverRow(
            kind,
            name,
            proofs,
            sum(p.proven and p.score < most - 1e-4 for p, most in zip(proofs, best, strict=True)),
        )
        for name, proofs in found.items()
    ]


def _measure_way(plan: RelaxPlan, kind: str, way: str) -> OptimizerRow | None:
    solutions, iterations, seconds = [], [], []
    for number in range(plan.count):
        problem = PROBLEMS[kind](np.random.default_rng(plan.seed + number))
        began = perf_counter()
        try:
            solution = _solve_one(problem, way, plan)
        except InvalidInput:  # descent, where a part has no max-marginals
            return None
        seconds.append(perf_counter() - began)
        solutions.append(solution)
        done = solution.optimal or way == PROOF
        iterations.append(solution.stats["iterations"] if done else plan.iterations)
    return OptimizerRow(
        kind,
        way,
        100 * sum(solution.optimal for solution in solutions) / plan.count,
        iterations,
        float(np.mean([solution.gap for solution in solutions])),
        float(np.median(seconds)),
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
    more = float(np.mean([auto.proven - paper.proven for auto, paper in known])) if known else None
    auto, paper = report.row(JOINT, AUTO), report.row(JOINT, PAPER)
    ratio = auto.percentile(0.5) / paper.percentile(0.5) if auto is not None and paper is not None else None
    proofs = [row.proven for kind in report.plan.kinds if (row := report.row(kind, PROOF)) is not None]
    return [
        Claim("auto proves more than the paper's step does, without branching (mean of all kinds)", 0, True,
              more, "points"),
        Claim(f"iterations of auto over the paper's step's, {JOINT} (median)", 0.5, False, ratio),
        Claim("proven with branching (least of all kinds)", 100, True, min(proofs, default=None), "%"),
        Claim(f"factor graphs proven within {report.plan.patience:g} s (least of all kinds)", 100, True,
              min((row.share_within(report.plan.patience) for row in report.solvers if row.solver == CERTUS),
                  default=None), "%"),
    ]  # fmt: skip


def lay_out(report: RelaxReport) -> Iterator[Group]:
    """Yield a table for each kind of problem."""
    for kind in report.plan.kinds:
        names = ("proven", "iterations, median", "95 %", "mean gap", "median ms", "branches")
        table = make_table("optimizer", *names)
        rows = [row for way in (*OPTIMIZERS, PROOF) if (row := report.row(kind, way)) is not None]
        fewest = min((row.percentile(0.5) for row in rows if row.optimizer != PROOF), default=0.0)
        for row in rows:
            table.add_row(*_format_row(row, fewest))
        yield add_title(f"{kind}: {report.plan.count} problems", table)
    if report.solvers:
        table = make_table("factor graphs", "solver", "proven in 1 s", "in 10 s", "median ms", "wrong")
        for solver in report.solvers:
            table.add_row(
                solver.kind,
                Text(solver.solver, "cyan" if solver.solver == CERTUS else ""),
                f"{solver.share_within(1):.0f} %",
                f"{solver.share_within(10):.0f} %",
                f"{1000 * solver.median:.1f}",
                f"{solver.wrong}",
            )
        yield add_title(f"{report.plan.graphs} factor graphs of each kind", table)


def _format_row(row: OptimizerRow, fewest: float) -> list[Text]:
    median = row.percentile(0.5)
    return [
        Text(row.optimizer, "cyan" if row.optimizer in (AUTO, PROOF) else ""),
        Text(f"{row.proven:.0f} %"),
        Text(f"{median:.0f}", "bold green" if median <= fewest else ""),
        Text(f"{row.percentile(0.95):.0f}"),
        Text(f"{row.gap:.3g}"),
        Text(f"{1000 * row.seconds:.2f}"),
        Text(f"{row.nodes}"),
    ]


def paint(report: RelaxReport) -> Any:
    """Draw how far from the best score the solvers of factor graphs were, over time."""
    runs = {
        kind: {row.solver: row.proofs for row in report.solvers if row.kind == kind}
        for kind in report.plan.graph_kinds
    }
    return paint_paths(runs, report.plan.patience)


BENCHMARK = Benchmark(
    name="relax", make_plan=make_plan, run=run, lay_out=lay_out, make_claims=make_claims, paint=paint
)
