"""Constrained derivations as an integer program, solved by HiGHS.

A variable for each edge says how often it is used. A node is used as often as the edges it is a tail of
say, plus once if it is the goal, and each use takes one of its edges. Where no derivation uses a node
twice, the whole-numbered solutions of this flow are exactly the derivations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import highspy
import numpy as np
from numpy.typing import NDArray

from certus.hypergraph import Hypergraph
from tests.reference.ilp import optimum


def solve(
    graph: Hypergraph,
    scores: NDArray[np.float64],
    rows: Sequence[Mapping[int, float]],
    targets: Sequence[float],
) -> float | None:
    """Return the best score, or None where no derivation satisfies the constraints. For one goal."""
    return optimum(state(graph, scores, rows, targets))


def state(
    graph: Hypergraph,
    scores: NDArray[np.float64],
    rows: Sequence[Mapping[int, float]],
    targets: Sequence[float],
) -> highspy.HighsLp:
    """State the program."""
    entries: list[dict[int, float]] = [{} for _ in range(graph.edges)]  # of columns: row -> coefficient
    for edge in range(graph.edges):
        column = entries[edge]
        for tail in graph.tails[graph.offsets[edge] : graph.offsets[edge + 1]].tolist():
            column[tail] = column.get(tail, 0.0) - 1
        head = int(graph.heads[edge])
        column[head] = column.get(head, 0.0) + 1
    for number, row in enumerate(rows):
        for edge, coefficient in row.items():
            entries[edge][graph.nodes + number] = coefficient
    flow = np.zeros(graph.nodes)
    flow[int(graph.goals[0])] = 1
    return _lay_out(entries, scores, np.concatenate([flow, targets]))


def _lay_out(
    entries: list[dict[int, float]], scores: NDArray[np.float64], totals: NDArray[np.float64]
) -> highspy.HighsLp:
    possible = np.isfinite(scores)
    lp = highspy.HighsLp()
    lp.sense_ = highspy.ObjSense.kMaximize
    lp.num_col_, lp.num_row_ = len(entries), len(totals)
    lp.col_cost_ = np.where(possible, scores, 0)
    lp.col_lower_, lp.col_upper_ = np.zeros(len(entries)), possible.astype(np.float64)
    lp.row_lower_ = lp.row_upper_ = totals
    lp.integrality_ = [highspy.HighsVarType.kInteger] * len(entries)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = np.concatenate([[0], np.cumsum([len(column) for column in entries])])
    lp.a_matrix_.index_ = np.array([row for column in entries for row in column])
    lp.a_matrix_.value_ = np.array([x for column in entries for x in column.values()])
    return lp
