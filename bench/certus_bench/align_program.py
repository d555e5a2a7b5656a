"""Agreement of two directions as an integer program, for HiGHS."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from certus.align import Agreement
from certus.highs import start_highs

Floats = NDArray[np.float64]


@dataclass
class Program:
    """Columns, which are 0 or 1, with what they score, and rows."""

    scores: list[float] = field(default_factory=list)
    rows: list[tuple[float, float, list[int], list[float]]] = field(default_factory=list)

    def add_column(self, score: float) -> int:
        """Return the number of a new column."""
        self.scores.append(score)
        return len(self.scores) - 1

    def add_row(self, low: float, high: float, plus: list[int], minus: list[int]) -> None:
        """Bound the sum of some columns less others."""
        self.rows.append((low, high, [*plus, *minus], [1.0] * len(plus) + [-1.0] * len(minus)))


@dataclass(frozen=True)
class ProgramAnswer:
    """What HiGHS found: the score is -inf if nothing is feasible, and None if time was up before."""

    score: float | None
    proven: bool


def solve_program(
    source: Floats,
    target: Floats,
    source_steps: Floats | None,
    target_steps: Floats | None,
    agreement: Agreement,
    seconds: float = 1e9,
) -> ProgramAnswer:
    """Return the best score, with a column for each choice, step and pair of choices.

    Args:
        source: (I, J + 1) scores of the choices of source words; 0 is nothing.
        target: (J, I + 1) of target words.
        source_steps: (J + 1, J + 1) of neighbouring choices; None for none.
        target_steps: (I + 1, I + 1) likewise.
        agreement: what it costs where the two differ.
        seconds: the most time that HiGHS gets.
    """
    highspy, solver = start_highs(seconds)
    program = Program()
    choices = [
        [[program.add_column(float(x)) if x > -np.inf else -1 for x in row] for row in side]
        for side in (source, target)
    ]
    for side, steps in zip(choices, (source_steps, target_steps), strict=True):
        for row in side:
            program.add_row(1, 1, [x for x in row if x >= 0], [])
        if steps is not None:
            _add_steps(program, side, steps)
    _add_prices(program, agreement, choices[0], choices[1])
    _add_prices(program, agreement, choices[1], choices[0])
    for n, score in enumerate(program.scores):
        solver.addVar(0, 1)
        solver.changeColCost(n, -score)
        solver.changeColIntegrality(n, highspy.HighsVarType.kInteger)
    for low, high, index, value in program.rows:
        solver.addRow(low, high, len(index), np.array(index, np.int32), np.array(value))
    solver.run()
    status = solver.getModelStatus()
    if status == highspy.HighsModelStatus.kInfeasible:
        return ProgramAnswer(-np.inf, True)
    score = -float(solver.getInfo().objective_function_value)
    return ProgramAnswer(score if abs(score) < 1e30 else None, status == highspy.HighsModelStatus.kOptimal)


def _add_steps(program: Program, side: list[list[int]], steps: Floats) -> None:
    """One column per step from choice to choice; before the first word is nothing."""
    for value, column in enumerate(side[0] if side else []):
        if column >= 0 and steps[0][value] == -np.inf:
            program.add_row(0, 0, [column], [])
        elif column >= 0:
            program.add_row(0, 0, [program.add_column(float(steps[0][value]))], [column])
    for before, after in pairwise(side):
        made = {
            (a, b): program.add_column(float(steps[a][b]))
            for a in range(len(before))
            for b in range(len(after))
            if before[a] >= 0 and after[b] >= 0 and steps[a][b] > -np.inf
        }
        for end, columns in ((0, before), (1, after)):
            for place, column in enumerate(columns):
                if column >= 0:
                    program.add_row(0, 0, [x for at, x in made.items() if at[end] == place], [column])


def _add_prices(program: Program, agreement: Agreement, own: list[list[int]], other: list[list[int]]) -> None:
    """Let each link pay the price of what the other direction chooses for its word."""
    for word, row in enumerate(own):
        for value, link in enumerate(row):
            if not value or link < 0:
                continue
            paid = []
            for choice, column in enumerate(other[value - 1]):
                price = find_price(agreement, word + 1, choice)
                if column >= 0 and price > -np.inf:
                    paid.append(program.add_column(price))
                    program.add_row(-1, 0, [paid[-1]], [column])
            program.add_row(0, 0, paid, [link])


def find_price(agreement: Agreement, place: int, back: int) -> float:
    """Return what a link of a word costs whose partner chooses ``back``; places are from 1."""
    if back == place:
        return 0.0
    if back == 0:
        return agreement.alone
    return agreement.adjacent if abs(back - place) == 1 else agreement.apart
