"""What Certus runs on its own parts, solvers and learners, for those of other people.

Each check draws small problems, compares with what must hold, and raises ``CheckFailed``, an AssertionError,
that says what does not.
"""

from certus.testing.failure import CheckFailed
from certus.testing.learners import check_learner
from certus.testing.parts import check_part
from certus.testing.solvers import check_solver

__all__ = ["CheckFailed", "check_learner", "check_part", "check_solver"]
