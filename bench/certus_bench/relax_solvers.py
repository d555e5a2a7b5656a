"""Solvers of factor graphs beside Certus: HiGHS and CP-SAT, on the same integer program, where installed."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from importlib.util import find_spec
from multiprocessing import get_context
from time import perf_counter

import numpy as np

from certus_bench.relax_graphs import GraphProblem

SCALE = 10**6  # CP-SAT takes whole numbers


@dataclass(frozen=True)
class Proof:
    """What a solver came to: the best score, whether it is proven, and when."""

    score: float
    proven: bool
    seconds: float


@dataclass
class Program:
    """An integer program: binary columns with scores, and rows with bounds.

    A table is a column per entry, which sum to the columns of the states on both sides.
    """

    scores: list[float] = field(default_factory=list)
    rows: list[tuple[list[int], list[int], int, int]] = field(default_factory=list)

    def add(self, scores: list[float]) -> list[int]:
        """Add columns; return their numbers."""
        first = len(self.scores)
        self.scores.extend(scores)
        return list(range(first, len(self.scores)))

    def demand(self, columns: list[int], factors: list[int], least: int, most: int) -> None:
        """Add a row."""
        self.rows.append((columns, factors, least, most))


def make_program(problem: GraphProblem) -> Program:
    """Return the integer program of a factor graph."""
    program = Program()
    states = [program.add(scores.tolist()) for scores in problem.states]
    binaries = program.add(problem.binaries)
    for own in states:
        program.demand(own, [1] * len(own), 1, 1)
    for a, b, scores in problem.tables:
        entries = np.array(program.add(scores.reshape(-1).tolist())).reshape(scores.shape)
        for row, column in zip([*entries, *entries.T], [*states[a], *states[b]], strict=True):
            program.demand([*row.tolist(), column], [1] * len(row) + [-1], 0, 0)
    for literals, least, most in problem.counts:
        negated = sum(negative for _, negative in literals)
        factors = [-1 if negative else 1 for _, negative in literals]
        program.demand([binaries[i] for i, _ in literals], factors, least - negated, most - negated)
    for inputs, output in problem.outputs:
        own = [binaries[i] for i in inputs]
        program.demand([*own, binaries[output]], [1] * len(own) + [-1], 0, len(own))
        for i in own:
            program.demand([binaries[output], i], [1, -1], 0, 1)
    return program


def solve_certus(problem: GraphProblem, seconds: float) -> Proof:
    """Solve with Certus."""
    graph = problem.make_graph()
    began = perf_counter()
    found = graph.solve(seconds=seconds)
    return Proof(found.score, found.optimal, perf_counter() - began)


def solve_highs(problem: GraphProblem, seconds: float) -> Proof:
    """Solve with HiGHS."""
    import highspy

    program = make_program(problem)
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("threads", 1)
    highs.setOptionValue("mip_rel_gap", 0.0)
    highs.setOptionValue("time_limit", seconds)
    for score in program.scores:
        highs.addCol(-score, 0.0, 1.0, 0, [], [])
    for column in range(len(program.scores)):
        highs.changeColIntegrality(column, highspy.HighsVarType.kInteger)
    for columns, factors, least, most in program.rows:
        highs.addRow(least, most, len(columns), columns, np.array(factors, np.float64))
    began = perf_counter()
    highs.run()
    proven = highs.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return Proof(-highs.getInfo().objective_function_value, proven, perf_counter() - began)


def solve_cp_sat(problem: GraphProblem, seconds: float) -> Proof:
    """Solve with CP-SAT, in a process of its own: its library and highspy's cannot be loaded together."""
    with ProcessPoolExecutor(1, get_context("spawn")) as process:
        return process.submit(_solve_cp_sat, problem, seconds).result()


def _solve_cp_sat(problem: GraphProblem, seconds: float) -> Proof:
    """Solve with CP-SAT; scores are rounded to six digits."""
    from ortools.sat.python import cp_model

    program = make_program(problem)
    model = cp_model.CpModel()
    x = [model.new_bool_var("") for _ in program.scores]
    for columns, factors, least, most in program.rows:
        total = sum(factor * x[column] for column, factor in zip(columns, factors, strict=True))
        model.add_linear_constraint(total, least, most)
    model.maximize(sum(round(SCALE * score) * x[n] for n, score in enumerate(program.scores)))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.max_time_in_seconds = seconds
    began = perf_counter()
    status = solver.solve(model)
    proven = status == cp_model.OPTIMAL
    known = status in (cp_model.OPTIMAL, cp_model.FEASIBLE)
    score = solver.objective_value / SCALE if known else -np.inf
    return Proof(score, proven, perf_counter() - began)


CERTUS = "certus"
_ALL: dict[str, tuple[str, Callable[[GraphProblem, float], Proof]]] = {
    CERTUS: ("certus", solve_certus),
    "HiGHS": ("highspy", solve_highs),
    "CP-SAT": ("ortools", solve_cp_sat),
}


def list_solvers() -> dict[str, Callable[[GraphProblem, float], Proof]]:
    """Return the solvers that are installed."""
    return {name: solve for name, (package, solve) in _ALL.items() if find_spec(package) is not None}
