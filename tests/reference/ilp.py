"""The chain as an integer program: a unit of flow through the lattice, solved by HiGHS.

A variable for each edge says whether the path takes it; the flow that enters a node leaves it. This knows
nothing of dynamic programming, and reaches lattices that cannot be enumerated.
"""

from __future__ import annotations

import highspy
import numpy as np

from tests.reference.chain import Scores
from tests.reference.cp_sat import Program


def solve(scores: Scores) -> float | None:
    """Return the score of the best label sequence, or None where there is none. Needs T >= 2."""
    return optimum(state(scores))


def state(scores: Scores) -> highspy.HighsLp:
    """State the program."""
    T, L = scores.length, scores.labels
    nodes = scores.nodes()
    # (T-1, L, L): an edge carries the score of the node it enters, and the first also of the one it leaves.
    edges = np.stack([scores.link(t) + nodes[t + 1] for t in range(T - 1)])
    edges[0] += nodes[0][:, None]
    possible = np.isfinite(edges)
    lp = highspy.HighsLp()
    lp.sense_ = highspy.ObjSense.kMaximize
    lp.num_col_, lp.num_row_ = edges.size, 1 + (T - 2) * L
    lp.col_cost_ = np.where(possible, edges, 0).ravel()
    lp.col_lower_, lp.col_upper_ = np.zeros(edges.size), possible.ravel().astype(np.float64)
    lp.row_lower_ = lp.row_upper_ = np.eye(1, lp.num_row_)[0]
    lp.integrality_ = [highspy.HighsVarType.kInteger] * edges.size
    rows, values = _columns(T, L)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = np.concatenate([[0], np.cumsum([len(column) for column in rows])])
    lp.a_matrix_.index_, lp.a_matrix_.value_ = np.concatenate(rows), np.concatenate(values)
    return lp


def optimum(lp: highspy.HighsLp) -> float | None:
    """Solve a program to the proof; None where it has no solution."""
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("mip_rel_gap", 0.0)
    solver.passModel(lp)
    solver.run()
    if solver.getModelStatus() == highspy.HighsModelStatus.kInfeasible:
        return None
    assert solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return float(solver.getObjectiveValue())


def translate(lp: highspy.HighsLp) -> Program:
    """Return the same program for the second referee; its variables are 0 or 1."""
    rows: list[dict[int, float]] = [{} for _ in range(lp.num_row_)]
    matrix = lp.a_matrix_
    start, index, value = map(np.asarray, (matrix.start_, matrix.index_, matrix.value_))
    for variable in range(lp.num_col_):
        for n in range(start[variable], start[variable + 1]):
            rows[index[n]][variable] = float(value[n])
    limits = list(zip(rows, map(float, lp.row_lower_), map(float, lp.row_upper_), strict=True))
    impossible = [({v: 1.0}, 0.0, 0.0) for v, most in enumerate(lp.col_upper_) if most == 0]
    return list(map(float, lp.col_cost_)), [*limits, *impossible]


def _columns(T: int, L: int) -> tuple[list[list[int]], list[list[float]]]:
    """For each edge, the constraints it is in: row 0 is the unit that starts; then one row an inner node."""
    rows, values = [], []
    for t in range(T - 1):
        for i in range(L):
            for j in range(L):
                leaves = [0] if t == 0 else [1 + (t - 1) * L + i]
                enters = [1 + t * L + j] if t < T - 2 else []
                rows.append(leaves + enters)
                values.append([1.0 if t == 0 else -1.0] + [1.0] * len(enters))
    return rows, values
