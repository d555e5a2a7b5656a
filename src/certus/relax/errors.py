"""What can go wrong between parts. Each error carries the best answer so far, where there is one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from certus.errors import CertusError, Infeasible, InvalidInput, describe_infeasible
from certus.part import LARGEST, SMALLEST

if TYPE_CHECKING:
    from certus.relax.solution import JointSolution
    from certus.relax.variables import Assignment


class PartFailed(CertusError):
    """A part raised an error; the original is chained, and what was known by then is not lost.

    Attributes:
        part: the name of the part.
        solution: the best answer and bound so far.
    """

    def __init__(self, message: str, part: str = "", solution: JointSolution | None = None) -> None:
        self.part = part
        self.solution = solution
        super().__init__(message)


class Inconsistent(PartFailed):
    """A part returned what cannot be: a wrong shape, a forbidden cell, or provably not its maximum."""


def describe_too_large(magnitude: float) -> InvalidInput:
    """Return the error for scores that add up to so much, or so little, that multipliers have no room."""
    too, limit, way = ("more", LARGEST, "down") if magnitude > 1 else ("less", SMALLEST, "up")
    return InvalidInput(
        f"the scores of the parts add up to {magnitude:.3g}, {too} than {limit:.3g}; scale them {way}"
    )


class Interrupted(KeyboardInterrupt):
    """The search was interrupted; what was known by then is not lost.

    Attributes:
        solution: the best answer and bound so far.
    """

    def __init__(self, solution: JointSolution | Assignment) -> None:
        self.solution = solution
        super().__init__()


class NoAgreement(Infeasible):
    """No structures of the parts agree: proven.

    Attributes:
        solution: what the search did, with status INFEASIBLE.
    """

    def __init__(self, solution: JointSolution | None = None) -> None:
        self.solution = solution
        super().__init__(
            describe_infeasible(
                "no structures of the parts agree on every shared cell",
                "Look for cells that one part needs and another forbids",
            )
        )

    def __reduce__(self) -> tuple[type[NoAgreement], tuple[JointSolution | None]]:
        return type(self), (self.solution,)
