"""Trees with siblings and grandparents as linear and integer programs, for HiGHS.

What an automaton picks is a path from START to END on either side of its head, a flow of one unit; where it
has grandparents, one path for each parent. Trees are flows as well (Martins et al. 2009): of as many units as
there are words (single-commodity), or of one unit to each word (multi-commodity), a tighter relaxation.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from certus.highs import start_highs

Array = NDArray[np.float64]
Flow = Literal["single", "multi"]
TOLERANCE = 1e-6  # how far from 0 and 1 a variable may be and still count as whole


@dataclass(frozen=True, eq=False)
class Parts:
    """Scores over candidate arcs, laid out as the kernels have them (native/syntax/dependency/arcs.hpp).

    Kinds of parts that the model has not are empty arrays.
    """

    words: int
    heads: NDArray[np.int32]
    modifiers: NDArray[np.int32]
    arcs: Array
    siblings: Array
    grandparents: Array
    grandsiblings: Array

    @property
    def has_parents(self) -> bool:
        """Whether scores depend on the parent of a head."""
        return bool(self.grandparents.size or self.grandsiblings.size)


@dataclass(frozen=True)
class Outcome:
    """What HiGHS found: the score of the best point, and whether it is a tree, not a mixture of several."""

    score: float
    is_whole: bool


def flatten(arcs: Array, siblings: Array) -> Parts:
    """Return dense scores of arcs and siblings, as ``certus.Trees`` takes them, over all arcs."""
    n = len(arcs)
    pairs = [(h, m) for h in range(n + 1) for m in range(1, n + 1) if h != m]
    heads, modifiers = (np.array([pair[i] for pair in pairs], np.int32) for i in (0, 1))
    tables = [
        siblings[h][np.ix_([0, *side], [*side, 0])].reshape(-1)
        for h in range(n + 1)
        for side in (range(h - 1, 0, -1), range(h + 1, n + 1))
    ]
    none = np.empty(0)
    return Parts(n, heads, modifiers, arcs[modifiers - 1, heads], np.concatenate(tables), none, none)


def solve_program(
    parts: Parts, seconds: float, *, integer: bool = True, flow: Flow = "single", single_root: bool = False
) -> Outcome | None:
    """Solve a program; None where HiGHS does not end in time."""
    highspy, solver = start_highs(seconds)
    written = _Program()
    arcs = _write_trees(parts, flow, single_root, written)
    _write_automata(parts, arcs, written)
    program = written.export(highspy)
    if integer:  # with whole arcs, all else that is best is whole
        whole, part = highspy.HighsVarType.kInteger, highspy.HighsVarType.kContinuous
        program.integrality_ = [whole if c < len(arcs) else part for c in range(program.num_col_)]
    solver.passModel(program)
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    values = np.array(solver.getSolution().col_value)[: len(arcs)]
    is_whole = bool((np.abs(values - values.round()) < TOLERANCE).all())
    return Outcome(float(solver.getInfo().objective_function_value), is_whole)


@dataclass
class _Program:
    """Columns by their scores and largest values; rows entry by entry."""

    costs: list[float] = field(default_factory=list)
    most: list[float] = field(default_factory=list)
    row: list[int] = field(default_factory=list)
    column: list[int] = field(default_factory=list)
    value: list[float] = field(default_factory=list)
    lower: list[float] = field(default_factory=list)
    upper: list[float] = field(default_factory=list)

    def add_column(self, cost: float, most: float = 1.0) -> int:
        self.costs.append(float(cost))
        self.most.append(most)
        return len(self.costs) - 1

    def add_row(self, entries: dict[int, float], lower: float, upper: float) -> None:
        for column, value in entries.items():
            self.row.append(len(self.lower))
            self.column.append(column)
            self.value.append(value)
        self.lower.append(lower)
        self.upper.append(upper)

    def export(self, highspy: Any) -> Any:
        program = highspy.HighsLp()
        program.num_col_, program.num_row_ = len(self.costs), len(self.lower)
        program.sense_ = highspy.ObjSense.kMaximize
        program.col_cost_ = np.array(self.costs)
        program.col_lower_, program.col_upper_ = np.zeros(len(self.costs)), np.array(self.most)
        program.row_lower_, program.row_upper_ = np.array(self.lower), np.array(self.upper)
        order = np.lexsort((self.row, self.column))
        column = np.array(self.column)[order]
        program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        program.a_matrix_.start_ = np.searchsorted(column, np.arange(len(self.costs) + 1)).astype(np.int32)
        program.a_matrix_.index_ = np.array(self.row, np.int32)[order]
        program.a_matrix_.value_ = np.array(self.value)[order]
        return program


def _write_trees(parts: Parts, flow: Flow, single_root: bool, program: _Program) -> list[int]:
    """Return the columns of the arcs, the first ones: each word has a head, and is reached from the root."""
    arcs = [program.add_column(score) for score in parts.arcs]
    for word in range(1, parts.words + 1):
        program.add_row({arcs[a]: 1.0 for a in np.flatnonzero(parts.modifiers == word)}, 1, 1)
    if single_root:
        program.add_row({arcs[a]: 1.0 for a in np.flatnonzero(parts.heads == 0)}, 1, 1)
    everyone = range(1, parts.words + 1)
    for reached in [[word] for word in everyone] if flow == "multi" else [list(everyone)]:
        units = [program.add_column(0.0, float(len(reached))) for _ in arcs]
        for word in everyone:
            into = {units[a]: 1.0 for a in np.flatnonzero(parts.modifiers == word)}
            out = {units[a]: -1.0 for a in np.flatnonzero(parts.heads == word)}
            stays = float(word in reached)
            program.add_row(into | out, stays, stays)
        for unit, arc in zip(units, arcs, strict=True):
            program.add_row({unit: 1.0, arc: -float(len(reached))}, -np.inf, 0)
    return arcs


def _write_automata(parts: Parts, arcs: list[int], program: _Program) -> None:
    sibling = grandparent = grandsibling = 0  # where the tables of a side or a head begin
    for head in range(parts.words + 1):
        own = np.flatnonzero(parts.heads == head)
        parents = np.flatnonzero(parts.modifiers == head) if head else np.array([-1])
        for left in (True, False):
            side = own[parts.modifiers[own] < head][::-1] if left else own[parts.modifiers[own] > head]
            size = (len(side) + 1) ** 2
            pairs, more, below = np.zeros(size), np.zeros((len(parents), size)), np.zeros((len(parents), 0))
            if parts.siblings.size:
                pairs = parts.siblings[sibling : sibling + size]
            if parts.grandsiblings.size:
                more = parts.grandsiblings[grandsibling : grandsibling + more.size].reshape(more.shape)
            if parts.grandparents.size:
                table = parts.grandparents[grandparent : grandparent + len(parents) * len(own)]
                below = table.reshape(len(parents), -1)[:, np.searchsorted(own, side)]
            scores = (pairs + more).reshape(-1, len(side) + 1, len(side) + 1)
            scores[:, :, : below.shape[1]] += below[:, None, :]
            if not parts.has_parents:
                scores = scores[:1]
            _write_side(parts, arcs, side, parents, scores, program)
            sibling, grandsibling = sibling + size, grandsibling + more.size
        grandparent += len(parents) * len(own)


def _write_side(
    parts: Parts,
    arcs: list[int],
    side: NDArray[np.int64],
    parents: NDArray[np.int64],
    scores: Array,
    program: _Program,
) -> None:
    """Write a path through the candidates of a side for each parent; scores: [parent][previous][next]."""
    taken: list[dict[int, float]] = [{} for _ in side]
    for number, table in enumerate(scores):
        parent = int(parents[number]) if parts.has_parents else -1
        enters: list[dict[int, float]] = [{} for _ in range(len(side) + 1)]
        leaves: list[dict[int, float]] = [{} for _ in range(len(side) + 1)]
        above = parts.heads[parent] if parent >= 0 else -1
        open_to = [i for i, arc in enumerate(side) if parts.modifiers[arc] != above]
        for before in [0, *(i + 1 for i in open_to)]:
            for after in [*(i for i in open_to if i >= before), len(side)]:
                column = program.add_column(table[before, after])
                leaves[before][column] = 1.0
                enters[after][column] = 1.0
        if parent >= 0:
            program.add_row({**leaves[0], arcs[parent]: -1.0}, 0, 0)
        else:
            program.add_row(leaves[0], 1, 1)
        for i in open_to:
            out = dict.fromkeys(leaves[i + 1], -1.0)
            program.add_row(enters[i] | out, 0, 0)
            taken[i].update(enters[i])
    for arc, columns in zip(side, taken, strict=True):
        program.add_row({**columns, arcs[arc]: -1.0}, 0, 0)
