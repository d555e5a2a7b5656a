"""Solvers of factor graphs beside Certus, on the same problems, where they are installed.

HiGHS and CP-SAT get an integer program, toulbar2 and AD3 the variables and factors themselves. AD3's package
does not build for Python 3.11 and later as it is; it does once its Cython files are translated anew. Each
solver runs on one thread, and in a process of its own where its library disturbs others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from multiprocessing import TimeoutError as StillRunning
from multiprocessing import get_context
from time import perf_counter

import numpy as np

from certus.highs import start_highs
from certus_bench.relax_graphs import GraphProblem

SCALE = 10**6  # CP-SAT takes whole numbers
DIGITS = 6  # that toulbar2 keeps of scores
START = 5.0  # seconds that a process of its own may take besides
CLOSE = 1e-6  # of a score and a bound that toulbar2 calls equal


@dataclass(frozen=True)
class Proof:
    """What a solver came to: the best score, whether it is proven, and when.

    ``path`` are the seconds at which better answers were found, and their scores, where the solver tells.
    """

    score: float
    proven: bool
    seconds: float
    path: list[tuple[float, float]] = field(default_factory=list)


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


def solve_certus(problem: GraphProblem, seconds: float, *, tighten: bool = True) -> Proof:
    """Solve with Certus, with clusters on cycles where they are needed, or without any."""
    graph = problem.make_graph()
    began = perf_counter()
    found = graph.solve(seconds=seconds, tighten=tighten)
    taken = perf_counter() - began
    # What comes before the first search, the kernels' copy of the graph, is added to all times.
    times = (found.trace.seconds + (taken - found.trace.seconds[-1:].sum())).tolist()
    path = _keep_better([*zip(times, found.trace.score.tolist(), strict=True), (taken, found.score)])
    return Proof(found.score, found.optimal, taken, path)


def _keep_better(pairs: list[tuple[float, float]]) -> list[tuple[float, float]]:
    kept: list[tuple[float, float]] = []
    for when, score in pairs:
        if score > (kept[-1][1] if kept else -np.inf):
            kept.append((when, score))
    return kept


def solve_highs(problem: GraphProblem, seconds: float) -> Proof:
    """Solve with HiGHS."""
    program = make_program(problem)
    highspy, highs = start_highs(seconds)
    for score in program.scores:
        highs.addCol(-score, 0.0, 1.0, 0, [], [])
    for column in range(len(program.scores)):
        highs.changeColIntegrality(column, highspy.HighsVarType.kInteger)
    for columns, factors, least, most in program.rows:
        highs.addRow(least, most, len(columns), columns, np.array(factors, np.float64))
    path: list[tuple[float, float]] = []
    began = perf_counter()
    highs.cbMipImprovingSolution.subscribe(
        lambda event: path.append((perf_counter() - began, -event.data_out.objective_function_value))
    )
    highs.run()
    taken = perf_counter() - began
    proven = highs.getModelStatus() == highspy.HighsModelStatus.kOptimal
    score = -highs.getInfo().objective_function_value
    return Proof(score, proven, taken, _keep_better([*path, (taken, score)]))


def _run_apart(solve: Callable[[GraphProblem, float], Proof], problem: GraphProblem, seconds: float) -> Proof:
    """Solve in a process of its own: its library disturbs others, or knows no limit of time."""
    with get_context("spawn").Pool(1) as process:
        try:
            return process.apply_async(solve, (problem, seconds)).get(seconds + START)
        except StillRunning:
            return Proof(-np.inf, False, seconds)


def solve_cp_sat(problem: GraphProblem, seconds: float) -> Proof:
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
    path: list[tuple[float, float]] = []
    began = perf_counter()

    class Watch(cp_model.CpSolverSolutionCallback):  # type: ignore[misc]
        """Notes every better answer."""

        def on_solution_callback(self) -> None:
            """Note when it was found."""
            path.append((perf_counter() - began, self.objective_value / SCALE))

    status = solver.solve(model, Watch())
    taken = perf_counter() - began
    known = status in (cp_model.OPTIMAL, cp_model.FEASIBLE)
    score = solver.objective_value / SCALE if known else -np.inf
    return Proof(score, status == cp_model.OPTIMAL, taken, _keep_better(path))


def solve_toulbar2(problem: GraphProblem, seconds: float, *, consistency: int = 0) -> Proof:
    """Solve with toulbar2; ``consistency`` 1 enforces virtual arc consistency. Costs keep six digits."""
    from pytoulbar2 import CFN

    network = CFN(resolution=DIGITS, vac=consistency)
    for n, scores in enumerate(problem.states):
        network.AddVariable(f"s{n}", range(len(scores)))
        network.AddFunction([f"s{n}"], (-scores).tolist())
    for n, score in enumerate(problem.binaries):
        network.AddVariable(f"b{n}", range(2))
        network.AddFunction([f"b{n}"], [0.0, -score])
    for a, b, scores in problem.tables:
        network.AddFunction([f"s{a}", f"s{b}"], (-scores).reshape(-1).tolist())
    for literals, least, most in problem.counts:
        negated = sum(negative for _, negative in literals)
        factors = [-1 if negative else 1 for _, negative in literals]
        names = [f"b{i}" for i, _ in literals]
        if least > 0:
            network.AddLinearConstraint(factors, names, ">=", least - negated)
        if most < len(literals):
            network.AddLinearConstraint(factors, names, "<=", most - negated)
    for inputs, output in problem.outputs:
        for i in inputs:
            network.AddLinearConstraint([1, -1], [f"b{output}", f"b{i}"], ">=", 0)
        names = [*(f"b{i}" for i in inputs), f"b{output}"]
        network.AddLinearConstraint([1] * len(inputs) + [-1], names, ">=", 0)
    began = perf_counter()
    found = network.Solve(timeLimit=max(1, int(seconds)))
    taken = perf_counter() - began
    score = -found[1] if found else -np.inf
    proven = found is not None and -network.GetDDualBound() <= score + CLOSE
    return Proof(score, proven, taken, [(taken, score)] if found else [])


def solve_ad3(problem: GraphProblem, seconds: float) -> Proof:
    """Solve with AD3's exact mode, which branches; it takes no limit of time."""
    from ad3.factor_graph import PFactorGraph

    graph = PFactorGraph()
    states = [graph.create_multi_variable(len(scores)) for scores in problem.states]
    for variable, scores in zip(states, problem.states, strict=True):
        for state, score in enumerate(scores.tolist()):
            variable.set_log_potential(state, score)
    binaries = [graph.create_binary_variable() for _ in problem.binaries]
    for variable, score in zip(binaries, problem.binaries, strict=True):
        variable.set_log_potential(score)
    for a, b, scores in problem.tables:
        graph.create_factor_dense([states[a], states[b]], scores.reshape(-1).tolist())
    for literals, least, most in problem.counts:
        own = [binaries[i] for i, _ in literals]
        negated = [negative for _, negative in literals]
        kind = {(1, 1): "XOR", (0, 1): "ATMOSTONE"}.get((least, most), "OR" if least == 1 else "")
        if kind:
            graph.create_factor_logic(kind, own, negated)
        else:
            graph.create_factor_budget(own, most, negated)
    for inputs, output in problem.outputs:
        own = [*(binaries[i] for i in inputs), binaries[output]]
        graph.create_factor_logic("OROUT", own, [False] * len(own))
    began = perf_counter()
    value, *_, status = graph.solve(branch_and_bound=True)
    taken = perf_counter() - began
    return Proof(value, status == "integral" and taken <= seconds, taken, [(taken, value)])


CERTUS = "certus"
Solver = Callable[[GraphProblem, float], Proof]
_ALL: dict[str, tuple[str, Solver]] = {
    CERTUS: ("certus", solve_certus),
    "certus, no clusters": ("certus", partial(solve_certus, tighten=False)),
    "HiGHS": ("highspy", solve_highs),
    "CP-SAT": ("ortools", partial(_run_apart, solve_cp_sat)),
    "toulbar2": ("pytoulbar2", partial(_run_apart, solve_toulbar2)),
    "toulbar2, VAC": ("pytoulbar2", partial(_run_apart, partial(solve_toulbar2, consistency=1))),
    "AD3, exact": ("ad3", partial(_run_apart, solve_ad3)),
}


def list_solvers() -> dict[str, Solver]:
    """Return the solvers that are installed."""
    return {name: solve for name, (package, solve) in _ALL.items() if find_spec(package) is not None}
