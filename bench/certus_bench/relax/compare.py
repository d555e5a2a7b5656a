"""Solves the same problems with every optimiser, and counts iterations until the proof."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from certus.errors import InvalidInput
from certus.relax import Auto, Bundle, Decomposition, Descent, JointSolution, Optimizer, Subgradient
from certus_bench.relax.problems import PROBLEMS

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
Tell = Callable[[str, float], None]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What to compare.

    Attributes:
        count: problems of each kind.
        iterations: the most that each optimiser gets, without branching.
        seconds: the most that a proof with branching may take.
        seed: of the first problem.
        only: kinds whose names contain one of these; all if empty.
    """

    count: int = 40
    iterations: int = 200
    seconds: float = 30.0
    seed: int = 0
    only: tuple[str, ...] = ()

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
class Row:
    """How one optimiser fared on problems of one kind.

    Attributes:
        kind: of the problems, and ``optimizer`` the name of the way to solve them.
        proven: in percent.
        iterations: of each problem; those without a proof have the limit.
        gap: the mean of what is left between score and bound.
        seconds: the mean a problem.
        nodes: the most branches.
    """

    kind: str
    optimizer: str
    proven: float
    iterations: list[int]
    gap: float
    seconds: float
    nodes: int

    def percentile(self, share: float) -> float:
        """Return the iterations that a share of the problems stays within."""
        return float(np.percentile(self.iterations, 100 * share))


@dataclass
class Report:
    """All that a run found."""

    plan: Plan
    rows: list[Row] = field(default_factory=list)

    def row(self, kind: str, optimizer: str) -> Row | None:
        """Return one cell of the table."""
        return next((row for row in self.rows if (row.kind, row.optimizer) == (kind, optimizer)), None)


def run(plan: Plan, tell: Tell) -> Report:
    """Solve everything."""
    report = Report(plan)
    ways = [*OPTIMIZERS, PROOF]
    for n, kind in enumerate(plan.kinds):
        for m, way in enumerate(ways):
            tell(f"{kind}: {way}", (n + m / len(ways)) / len(plan.kinds))
            row = _measure(plan, kind, way)
            if row is not None:
                report.rows.append(row)
    return report


def _measure(plan: Plan, kind: str, way: str) -> Row | None:
    solutions, iterations = [], []
    began = time.perf_counter()
    for number in range(plan.count):
        problem = PROBLEMS[kind](np.random.default_rng(plan.seed + number))
        try:
            solution = _solve(problem, way, plan)
        except InvalidInput:  # descent, where a part has no max-marginals
            return None
        solutions.append(solution)
        done = solution.optimal or way == PROOF
        iterations.append(solution.stats["iterations"] if done else plan.iterations)
    return Row(
        kind,
        way,
        100 * sum(solution.optimal for solution in solutions) / plan.count,
        iterations,
        float(np.mean([solution.gap for solution in solutions])),
        (time.perf_counter() - began) / plan.count,
        max(solution.stats["nodes"] for solution in solutions),
    )


def _solve(problem: Decomposition, way: str, plan: Plan) -> JointSolution:
    if way == PROOF:
        return problem.solve(seconds=plan.seconds)
    return problem.solve(optimizer=OPTIMIZERS[way], max_iterations=plan.iterations, max_nodes=1)
