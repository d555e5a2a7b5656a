"""Exact reduction: a cell whose best whole is no better than the best one known is of no use to anyone."""

from __future__ import annotations

from typing import Any

import numpy as np

from certus.relax.dual import Branch, Dual
from certus.relax.layout import Floats, Mask
from certus.relax.part import Forbidden

MARGIN = 1e-12  # of the magnitudes: rounding does not decide
WHOLE = 1e-6


def impossible(dual: Dual, branch: Branch, multipliers: Floats, score: float, whole: bool = False) -> Mask:
    """Return the open variables that cannot be 1 in any whole that scores more than ``score``: (V,).

    With max-marginals m_p of each part under the multipliers, a whole that uses a cell scores at most the sum
    of m_p at that cell over the parts that have it, and of the maxima of the others.
    """
    layout = dual.layout
    none = np.zeros(layout.variables, bool)
    if not any(hasattr(oracle.part, "max_marginals") for oracle in dual.oracles):
        return none
    evaluation = dual.evaluate(branch, multipliers)
    loss = np.zeros(layout.variables)
    asked = multipliers.copy()
    asked[branch.off[layout.var]] = -np.inf
    asked[branch.on[layout.var]] = dual.bonus
    active = dual.active[layout.var]
    for oracle, own, answer in zip(dual.oracles, layout.slices, evaluation.answers, strict=True):
        if not hasattr(oracle.part, "max_marginals"):
            continue
        try:
            best = max_marginals(oracle, asked[own], active[own])
        except Forbidden:
            return none
        # Two copies of a variable in one part bound the same structure: take the worse only.
        lost = np.full(layout.variables, np.inf)
        np.minimum.at(lost, layout.var[own], best - answer.value)
        lost[~np.isin(np.arange(layout.variables), layout.var[own])] = 0.0
        loss += np.minimum(lost, 0.0)
    # Of whole numbers, the first better one is a whole more.
    useless = score + 1 - WHOLE if whole else score
    limit = useless - evaluation.dual - MARGIN * evaluation.magnitude
    return dual.free(branch) & ~layout.reserve & (loss <= limit)


def max_marginals(oracle: Any, multipliers: Floats, active: Mask) -> Floats:
    """Ask a part for the best value of any structure that uses each of its copies: (n,)."""
    arrays = oracle.part.max_marginals(oracle.adjustments(multipliers, active))
    best = np.empty(oracle.size)
    for block in oracle.blocks:
        own = slice(block.where.start - oracle.start, block.where.stop - oracle.start)
        if block.space in arrays:
            best[own] = np.asarray(arrays[block.space], np.float64).reshape(-1)[block.cells] * oracle.weight
        else:
            best[own] = np.inf
    return best
