"""A second referee beside HiGHS: integer programs solved by OR-tools' CP-SAT.

Its library and that of HiGHS cannot be loaded together, so programs are solved in a process of their own:
``python -m tests.reference.cp_sat`` reads them from stdin, and knows neither Certus nor HiGHS.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

Row = tuple[
    Mapping[int, float], float, float
]  # coefficients by variable, the least and the most they add up to
Program = tuple[Sequence[float], Sequence[Row]]  # whole-numbered scores of 0/1 variables, and rows


def solve_programs(programs: Sequence[Program]) -> list[int | None]:
    """Return the optimum of each program, proven; None where nothing is possible."""
    written = [
        [
            [_as_whole(score) for score in scores],
            [[_list_row(row), *map(_as_whole, ends)] for row, *ends in rows],
        ]
        for scores, rows in programs
    ]
    command = [sys.executable, "-m", "tests.reference.cp_sat"]
    done = subprocess.run(command, input=json.dumps(written), capture_output=True, text=True, check=True)
    optima: list[int | None] = json.loads(done.stdout)
    return optima


def _list_row(row: Mapping[int, float]) -> list[list[int | None]]:
    return [[variable, _as_whole(coefficient)] for variable, coefficient in row.items()]


def _as_whole(number: float) -> int | None:
    if math.isinf(number):
        return None
    assert number == round(number)
    return round(number)


def _solve(scores: list[int], rows: list[Any]) -> int | None:
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    x = [model.new_bool_var("") for _ in scores]
    for row, least, most in rows:
        total = sum(coefficient * x[variable] for variable, coefficient in row)
        size = sum(abs(coefficient) for _, coefficient in row)
        model.add_linear_constraint(total, -size if least is None else least, size if most is None else most)
    model.maximize(sum(score * x[variable] for variable, score in enumerate(scores)))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    status = solver.solve(model)
    if status == cp_model.INFEASIBLE:
        return None
    assert status == cp_model.OPTIMAL
    optimum: int = round(solver.objective_value)
    return optimum


if __name__ == "__main__":
    print(json.dumps([_solve(*program) for program in json.load(sys.stdin)]))
