"""Phrase-based decoding as an integer program for HiGHS: the path of Rush et al. (2013), section 2.2.

A variable for each edge of the graph whose nodes are (words translated, end of the last phrase, state of the
language model); flow from the beginning to the end; each source word is on exactly one chosen edge.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certus import _native
from certus.errors import InvalidInput
from certus.highs import start_highs
from certus.translate.methods import Program


def solve_program(
    problem: _native.PhraseProblem, forbidden: list[list[int]], method: Program, seconds: float
) -> _native.PhraseAnswer:
    """Return the best derivation of a short sentence."""
    if forbidden:
        raise InvalidInput("the integer program knows no forbidden terms; use optimal-beam")
    highspy, solver = start_highs(seconds)
    edges = problem.list_edges(method.edges)
    if not len(edges.tail):  # HiGHS calls a model without columns empty, not infeasible
        return problem.make_answer([], True, -math.inf)
    solver.passModel(_make_model(highspy, problem, edges))
    solver.run()
    info = solver.getInfo()
    chosen = np.flatnonzero(np.array(solver.getSolution().col_value, np.float64) > 0.5)
    status = solver.getModelStatus()
    if status == highspy.HighsModelStatus.kInfeasible:
        return problem.make_answer([], True, -math.inf)
    best = status == highspy.HighsModelStatus.kOptimal
    return problem.make_answer(_order(edges, chosen), best, info.mip_dual_bound if best else math.inf)


def _make_model(highspy: Any, problem: _native.PhraseProblem, edges: _native.PhraseEdges) -> Any:
    """Return rows for nodes (flow) and for words (coverage), a column for each edge."""
    count, nodes, words = len(edges.tail), edges.nodes, problem.words
    rows, columns, values = (
        [edges.tail, edges.head],
        [np.arange(count)] * 2,
        [np.ones(count), -np.ones(count)],
    )
    lengths = edges.end - edges.begin
    for offset in range(int(lengths.max(initial=0))):
        covering = np.flatnonzero(lengths > offset)
        rows.append(nodes + edges.begin[covering] + offset)
        columns.append(covering)
        values.append(np.ones(len(covering)))
    row, column, value = np.concatenate(rows), np.concatenate(columns), np.concatenate(values)
    order = np.argsort(column, kind="stable")
    flow = np.zeros(nodes)
    flow[0], flow[-1] = 1, -1
    target = np.concatenate([flow, np.ones(words)])
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = count, nodes + words
    model.col_cost_ = -edges.cost
    model.col_lower_, model.col_upper_ = np.zeros(count), np.ones(count)
    model.row_lower_ = model.row_upper_ = target
    model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    model.a_matrix_.start_ = np.concatenate([[0], np.cumsum(np.bincount(column, minlength=count))]).astype(
        np.int32
    )
    model.a_matrix_.index_ = row[order].astype(np.int32)
    model.a_matrix_.value_ = value[order]
    model.integrality_ = [highspy.HighsVarType.kInteger] * count
    return model


def _order(edges: _native.PhraseEdges, chosen: NDArray[np.int64]) -> list[int]:
    """Return the phrases of chosen edges from the beginning to the end."""
    after = {int(edges.tail[n]): int(n) for n in chosen}
    options, node = [], 0
    while node in after:
        edge = after[node]
        if edges.option[edge] >= 0:
            options.append(int(edges.option[edge]))
        node = int(edges.head[edge])
    return options
