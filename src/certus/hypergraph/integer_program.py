"""Constrained derivations as an integer program, for HiGHS.

A variable for each edge says how often it is used. A node is used as often as the edges it is a tail of
say, plus once if it is the goal, and each use takes one of its edges. Since forests have no cycles, every
whole-numbered solution of this flow is the count of edges of a derivation, and the score depends on nothing
else. What is proven rests on HiGHS, which works with rounded numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from certus.highs import start_highs
from certus.hypergraph.rows import Constraints

if TYPE_CHECKING:
    from certus.hypergraph.forest import Forest


class Programmed(NamedTuple):
    """What HiGHS found out.

    Attributes:
        edges: a derivation in preorder; None where none was found.
        bound: no derivation has more; -inf where there is none.
        over: whether HiGHS was done, rather than out of time.
    """

    edges: NDArray[np.int64] | None
    bound: float
    over: bool


def solve_program(
    graph: Forest, scores: NDArray[Any], constraints: Constraints, seconds: float
) -> Programmed:
    """Solve the program of one forest; several goals share one unit of flow."""
    highspy, solver = start_highs(seconds)
    solver.passModel(_state_program(highspy, graph, scores.astype(np.float64), constraints))
    solver.run()
    status = solver.getModelStatus()
    if status == highspy.HighsModelStatus.kInfeasible:
        return Programmed(None, -np.inf, True)
    info = solver.getInfo()
    over = status == highspy.HighsModelStatus.kOptimal
    bound = float(info.mip_dual_bound)
    if not np.isfinite(info.objective_function_value) or info.primal_solution_status != 2:
        return Programmed(None, bound, over)
    values = np.round(solver.getSolution().col_value).astype(np.int64)
    goal = int(graph.goals[np.argmax(values[graph.edges :])])
    return Programmed(_derive(graph, goal, values[: graph.edges]), bound, over)


def _state_program(highspy: Any, graph: Forest, scores: NDArray[np.float64], constraints: Constraints) -> Any:
    """State it: a column for each edge, then each goal; a row for each node, one for the goals, then A."""
    possible = np.isfinite(scores)
    goals, edges, nodes = len(graph.goals), graph.edges, graph.nodes
    tail_edge = np.repeat(np.arange(edges), np.diff(graph.offsets))
    row_of = np.repeat(np.arange(constraints.count), np.diff(constraints.offsets))
    crown = np.arange(edges, edges + goals)
    column = np.concatenate([np.arange(edges), tail_edge, crown, crown, constraints.edges])
    row = np.concatenate([graph.heads, graph.tails, graph.goals, np.full(goals, nodes), nodes + 1 + row_of])
    value = np.concatenate(
        [
            np.ones(edges),
            -np.ones(len(tail_edge)),
            -np.ones(goals),
            np.ones(goals),
            constraints.coefficients,
        ]
    )
    column, row, value = _add_up(column, row, value, nodes + 1 + constraints.count)
    program = highspy.HighsLp()
    program.sense_ = highspy.ObjSense.kMaximize
    program.num_col_, program.num_row_ = edges + goals, nodes + 1 + constraints.count
    program.col_cost_ = np.concatenate([np.where(possible, scores, 0), np.zeros(goals)])
    program.col_lower_ = np.zeros(edges + goals)
    program.col_upper_ = np.concatenate([np.where(possible, np.inf, 0), np.ones(goals)])
    totals = np.concatenate([np.zeros(nodes), [1.0], constraints.targets])
    program.row_lower_ = program.row_upper_ = totals
    program.integrality_ = [highspy.HighsVarType.kInteger] * (edges + goals)
    program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    program.a_matrix_.start_ = np.searchsorted(column, np.arange(edges + goals + 1))
    program.a_matrix_.index_, program.a_matrix_.value_ = row, value
    return program


def _add_up(
    column: NDArray[np.int64], row: NDArray[np.int64], value: NDArray[np.float64], rows: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Join the entries of each cell, sorted by column."""
    cells, place = np.unique(column * rows + row, return_inverse=True)
    return cells // rows, cells % rows, np.bincount(place, value, len(cells)).astype(np.float64)


def _derive(graph: Forest, goal: int, counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Write down a derivation, in preorder, that uses each edge so often."""
    left = counts.copy()
    ways: dict[int, list[int]] = {}
    for edge in np.flatnonzero(counts).tolist():
        ways.setdefault(int(graph.heads[edge]), []).append(edge)
    stack, edges = [goal], []
    while stack:
        options = ways[stack.pop()]
        while not left[options[-1]]:
            options.pop()
        edge = options[-1]
        left[edge] -= 1
        edges.append(edge)
        stack.extend(graph.tails[graph.offsets[edge] : graph.offsets[edge + 1]][::-1].tolist())
    return np.array(edges, np.int64)
