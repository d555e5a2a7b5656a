"""Exact reduction: a cell whose best whole is no better than the best one known is of no use to anyone."""

from __future__ import annotations

import numpy as np

from certus.part import Forbidden
from certus.relax.dual import Branch, Dual
from certus.relax.layout import Floats, Mask

MARGIN = 1e-12  # of the magnitudes: rounding does not decide
WHOLE = 1e-6  # the same for whole numbers


def find_impossible(
    dual: Dual, branch: Branch, multipliers: Floats, score: float, *, whole: bool = False
) -> Mask:
    """Return the open variables that cannot be 1 in any whole that scores more than ``score``: (V,).

    With max-marginals m_p of each part under the multipliers, a whole that uses a cell scores at most the sum
    of m_p at that cell over the parts that have it, and of the maxima of the others.
    """
    layout = dual.layout
    if not any(oracle.has_max_marginals for oracle in dual.oracles):
        return np.zeros(layout.variables, bool)
    try:
        evaluation = dual.evaluate(branch, multipliers)
        losses = dual.compute_losses(branch, evaluation)
    except Forbidden:
        return np.zeros(layout.variables, bool)
    total = np.zeros(layout.variables)
    for own in layout.slices:
        # Two copies of a variable in one part bound the same structures: the lower bound holds, not the sum.
        lowest = np.zeros(layout.variables)
        np.minimum.at(lowest, layout.var[own], losses[own])
        total += lowest
    useless = score + 1 - WHOLE if whole else score  # of whole numbers, the next better one is 1 more
    limit = useless - evaluation.dual - MARGIN * evaluation.magnitude
    return dual.free(branch) & ~layout.reserve & (total <= limit)
