"""Trees with siblings as an integer program, for HiGHS."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass
class _Rows:
    """Rows of a program, entry by entry."""

    row: list[int] = field(default_factory=list)
    column: list[int] = field(default_factory=list)
    value: list[float] = field(default_factory=list)
    lower: list[float] = field(default_factory=list)
    upper: list[float] = field(default_factory=list)

    def add(self, entries: dict[int, float], lower: float, upper: float) -> None:
        for column, value in entries.items():
            self.row.append(len(self.lower))
            self.column.append(column)
            self.value.append(value)
        self.lower.append(lower)
        self.upper.append(upper)


def solve_program(arcs: Array, siblings: Array, seconds: float) -> float | None:
    """Return the score of the best tree, or None where HiGHS does not prove it in time.

    Modifiers of a side are a path from START to END (the automaton, as a flow); trees are a flow of one unit
    to each word (single-commodity, Martins et al. 2009). Only arcs need to be whole.
    """
    import highspy

    costs, rows, binaries = _write_program(arcs, siblings)
    program = highspy.HighsLp()
    program.num_col_, program.num_row_ = len(costs), len(rows.lower)
    program.sense_ = highspy.ObjSense.kMaximize
    program.col_cost_ = costs
    program.col_lower_ = np.zeros(len(costs))
    upper = np.ones(len(costs))
    upper[binaries : 2 * binaries] = len(arcs)
    program.col_upper_ = upper
    program.row_lower_, program.row_upper_ = np.array(rows.lower), np.array(rows.upper)
    order = np.lexsort((rows.row, rows.column))
    column = np.array(rows.column)[order]
    program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    program.a_matrix_.start_ = np.searchsorted(column, np.arange(len(costs) + 1)).astype(np.int32)
    program.a_matrix_.index_ = np.array(rows.row, np.int32)[order]
    program.a_matrix_.value_ = np.array(rows.value)[order]
    whole, part = highspy.HighsVarType.kInteger, highspy.HighsVarType.kContinuous
    program.integrality_ = [whole if c < binaries else part for c in range(len(costs))]
    solver = highspy.Highs()
    for name, value in (
        ("output_flag", False),
        ("threads", 1),
        ("time_limit", seconds),
        ("mip_rel_gap", 0.0),
    ):
        solver.setOptionValue(name, value)
    solver.passModel(program)
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    return float(solver.getInfo().objective_function_value)


def _write_program(arcs: Array, siblings: Array) -> tuple[Array, _Rows, int]:
    """Columns are arcs, the flow on each, and pairs of neighbours."""
    n = len(arcs)
    place = {
        (h, m): i for i, (h, m) in enumerate((h, m) for h in range(n + 1) for m in range(1, n + 1) if h != m)
    }
    count = len(place)
    costs: list[Any] = [arcs[m - 1, h] for h, m in place] + [0.0] * count
    rows = _Rows()
    for m in range(1, n + 1):
        into = [i for (_, word), i in place.items() if word == m]
        out = [i for (head, _), i in place.items() if head == m]
        rows.add(dict.fromkeys(into, 1.0), 1, 1)
        rows.add({**{count + i: 1.0 for i in into}, **{count + i: -1.0 for i in out}}, 1, 1)
    for i in range(count):
        rows.add({count + i: 1.0, i: -float(n)}, -np.inf, 0)
    for head in range(n + 1):
        for side in (range(head - 1, 0, -1), range(head + 1, n + 1)):
            _write_side(head, list(side), siblings, place, costs, rows)
    return np.array(costs), rows, count


def _write_side(
    head: int,
    side: list[int],
    siblings: Array,
    place: dict[tuple[int, int], int],
    costs: list[Any],
    rows: _Rows,
) -> None:
    enters: dict[int, dict[int, float]] = {m: {} for m in [*side, 0]}
    leaves: dict[int, dict[int, float]] = {m: {} for m in [0, *side]}
    for s, before in enumerate([0, *side]):
        for after in [*side[s:], 0]:
            leaves[before][len(costs)] = 1.0
            enters[after][len(costs)] = 1.0
            costs.append(siblings[head, before, after])
    rows.add(leaves[0], 1, 1)
    for m in side:
        rows.add({**enters[m], place[head, m]: -1.0}, 0, 0)
        rows.add({**leaves[m], place[head, m]: -1.0}, 0, 0)
