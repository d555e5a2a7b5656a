"""A translation forest and a language model as an integer program for HiGHS (Rush and Collins 2011).

``native/translate/hierarchical/leaf_program.hpp`` says what its rows and columns are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from certus import _native
from certus.highs import start_highs
from certus.translate.hierarchical_methods import ForestProgram

WHOLE = 1e-6  # how far from 0 and 1 a number may be that is one of them


def solve_forest_program(
    forest: _native.TargetForest, method: ForestProgram, seconds: float
) -> _native.TargetForestAnswer:
    """Return the best derivation; that of the linear program where it is whole, if ``method.relaxed``."""
    highspy, solver = start_highs(seconds)
    program = forest.make_program(method.columns)
    solver.passModel(_make_model(highspy, program, method.relaxed))
    solver.run()
    info, status = solver.getInfo(), solver.getModelStatus()
    solved = status == highspy.HighsModelStatus.kOptimal
    values = np.array(solver.getSolution().col_value, np.float64)[: program.edges]
    whole = bool((np.abs(values - np.round(values)) <= WHOLE).all()) and len(values) == program.edges
    chosen = (values > 0.5).astype(np.uint8) if whole else np.zeros(program.edges, np.uint8)
    if status == highspy.HighsModelStatus.kInfeasible:
        return forest.judge_program(chosen * 0, True, -np.inf)
    bound = (-info.objective_function_value if method.relaxed else -info.mip_dual_bound) if solved else np.inf
    return forest.judge_program(chosen, solved and whole, bound)


def _make_model(highspy: Any, program: _native.TargetForestProgram, relaxed: bool) -> Any:
    columns = len(program.cost)
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = columns, len(program.target)
    model.col_cost_ = -program.cost
    model.col_lower_, model.col_upper_ = np.zeros(columns), program.upper
    model.row_lower_ = model.row_upper_ = program.target
    model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    model.a_matrix_.start_, model.a_matrix_.index_ = program.start, program.row
    model.a_matrix_.value_ = program.value
    if not relaxed:
        kinds = highspy.HighsVarType
        flows = columns - program.edges
        model.integrality_ = [kinds.kInteger] * program.edges + [kinds.kContinuous] * flows
    return model
