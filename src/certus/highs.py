"""HiGHS, the solver of integer programs, where it is installed."""

from __future__ import annotations

import math
from typing import Any

from certus.errors import CertusError


def start_highs(seconds: float) -> tuple[Any, Any]:
    """Return the module ``highspy`` and a new solver of it, which prints nothing and stops at no gap but 0.

    Raises:
        CertusError: HiGHS is not installed.
    """
    try:
        import highspy
    except ImportError:
        raise CertusError('method="ilp" needs HiGHS: pip install "certus[ilp]"') from None
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("threads", 1)
    solver.setOptionValue("mip_rel_gap", 0.0)
    solver.setOptionValue("mip_abs_gap", 0.0)
    if seconds < math.inf:
        solver.setOptionValue("time_limit", seconds)
    return highspy, solver
