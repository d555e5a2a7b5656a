"""Joint parsing and tagging as a linear or integer program: a check that shares no algorithm with the rest.

A variable says whether the tree uses an edge, or a word; another whether the sequence takes an arc. What
enters a node leaves it, in the forest (Martin, Rardin and Campbell 1990) and in the lattice; for each word
and tag the two use the same. The linear program is the relaxation Q' of Rush et al. (2010, §5.3), which dual
decomposition solves as well; the integer program is the joint problem itself. HiGHS solves both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from certus.errors import CertusError
from certus.highs import start_highs
from certus_bench.joint_arrays import Floats, Ints, JointArrays, Pair

TOLERANCE = 1e-6  # how far from 0 and 1 a variable may be and still count as whole


@dataclass(frozen=True, eq=False)
class Outcome:
    """What HiGHS found."""

    score: float  # of the best point
    pair: Pair | None  # the tree and the sequence, if the point is whole; None if it is a mixture of several
    variables: int  # how many there were, and ``constraints``
    constraints: int


@dataclass(frozen=True, eq=False)
class _Entries:
    """Parts of a matrix, entry by entry; all of the same length."""

    row: Ints
    column: Ints
    value: Floats


def solve_program(
    problem: JointArrays, *, integer: bool, seconds: float | None = None, give_up: bool = False
) -> Outcome | None:
    """Solve a problem; None where no tree agrees with any sequence.

    Args:
        problem: the forest and the lattice.
        integer: whether variables have to be whole.
        seconds: the most time to spend.
        give_up: whether to return None, too, where that was not enough, instead of raising an error.
    """
    highspy, solver = start_highs(np.inf if seconds is None else seconds)
    if not len(problem.forest):
        return None
    lp, words = _write_program(problem, integer, highspy)
    solver.passModel(lp)
    solver.run()
    status = solver.getModelStatus()
    if status in (highspy.HighsModelStatus.kInfeasible, highspy.HighsModelStatus.kUnboundedOrInfeasible):
        return None
    if status == highspy.HighsModelStatus.kTimeLimit and give_up:
        return None
    if status != highspy.HighsModelStatus.kOptimal:
        raise CertusError(f"HiGHS gave up: {solver.modelStatusToString(status)}; allow it more seconds")
    score, x = float(solver.getObjectiveValue()), np.array(solver.getSolution().col_value)
    return Outcome(score, _read_pair(problem, x, words, score), lp.num_col_, lp.num_row_)


def _write_program(problem: JointArrays, integer: bool, highspy: Any) -> tuple[Any, slice]:
    """Columns are edges, words and arcs; rows are nodes, states but those of the end, and words with tags."""
    forest, arcs = problem.forest, problem.arcs
    scores = np.concatenate([forest.score, forest.word_score, problem.arc_scores()])
    words = slice(len(forest.score), len(forest.score) + len(forest.word))
    flow, states = _enter_forest(problem), int(arcs.begin[-2])
    path = _enter_lattice(problem, len(forest), words.stop, states)
    meeting, cells = _enter_agreement(problem, len(forest) + states, words)
    parts = [flow, path, meeting]
    rows = np.concatenate([part.row for part in parts])
    columns = np.concatenate([part.column for part in parts])
    values = np.concatenate([part.value for part in parts])
    order = np.lexsort((rows, columns))
    lp = highspy.HighsLp()
    lp.sense_ = highspy.ObjSense.kMaximize
    lp.num_col_, lp.num_row_ = len(scores), len(forest) + states + cells
    lp.col_cost_ = scores
    lp.col_lower_, lp.col_upper_ = np.zeros(len(scores)), np.ones(len(scores))
    lp.row_lower_ = lp.row_upper_ = _make_sides(lp.num_row_, len(forest))
    if integer:
        lp.integrality_ = [highspy.HighsVarType.kInteger] * len(scores)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = np.searchsorted(columns[order], np.arange(len(scores) + 1))
    lp.a_matrix_.index_, lp.a_matrix_.value_ = rows[order], values[order]
    return lp, words


def _make_sides(rows: int, root_of_lattice: int) -> Floats:
    """One unit comes out of the root of the forest, and one out of the first state of the lattice."""
    sides = np.zeros(rows)
    sides[0] = sides[root_of_lattice] = 1
    return sides


def _enter_forest(problem: JointArrays) -> _Entries:
    """Enter what hangs from a node, less the edges it is a child of."""
    forest = problem.forest
    edges = np.arange(len(forest.head))
    words = len(edges) + np.arange(len(forest.word))
    binary = forest.right >= 0
    rows = [forest.head, forest.word, forest.left, forest.right[binary]]
    columns = [edges, words, edges, edges[binary]]
    signs = [1.0, 1.0, -1.0, -1.0]
    values = [np.full(len(row), sign) for row, sign in zip(rows, signs, strict=True)]
    return _Entries(np.concatenate(rows), np.concatenate(columns), np.concatenate(values))


def _enter_lattice(problem: JointArrays, first_row: int, first_column: int, states: int) -> _Entries:
    """Enter what leaves a state, less what enters it."""
    arcs = problem.arcs
    columns = first_column + np.arange(len(arcs.origin))
    inner = arcs.target < states
    return _Entries(
        first_row + np.concatenate([arcs.origin, arcs.target[inner]]),
        np.concatenate([columns, columns[inner]]),
        np.concatenate([np.ones(len(columns)), -np.ones(int(inner.sum()))]),
    )


def _enter_agreement(problem: JointArrays, first_row: int, words: slice) -> tuple[_Entries, int]:
    """Enter the words that a tree uses with a tag, less the arcs into states that have it."""
    forest, arcs = problem.forest, problem.arcs
    at = problem.positions()[arcs.target] - 1
    inner = np.flatnonzero(at < problem.length)
    label = arcs.label[arcs.target[inner]]
    width = 2 + int(max(forest.tag.max(initial=0), label.max(initial=0)))
    cells = np.concatenate([forest.position * width + forest.tag + 1, at[inner] * width + label + 1])
    used, numbers = np.unique(cells, return_inverse=True)
    columns = np.concatenate([np.arange(words.start, words.stop), words.stop + inner])
    values = np.concatenate([np.ones(len(forest.word)), -np.ones(len(inner))])
    return _Entries(first_row + numbers.reshape(-1), columns, values), len(used)


def _read_pair(problem: JointArrays, x: Floats, words: slice, score: float) -> Pair | None:
    if ((x > TOLERANCE) & (x < 1 - TOLERANCE)).any():
        return None
    used = np.flatnonzero(x[words] > 0.5)
    tags = np.zeros(problem.length, np.int64)
    tags[problem.forest.position[used]] = problem.forest.tag[used]
    return Pair(score, np.flatnonzero(x[: words.start] > 0.5), tags)
