"""What a check comes to."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from fractions import Fraction

from certus.verification.exact import show_fraction


class Finding(enum.Enum):
    """How far a certificate proves its answer."""

    PROVEN = "proven"
    WITHIN = "proven to within epsilon"
    REFUTED = "refuted"


@dataclass(frozen=True)
class Verdict:
    """What was found about a certificate; true unless it is refuted.

    Attributes:
        finding: ``PROVEN``: no structure scores more than the answer, exactly. ``WITHIN``: none scores more
            than the answer plus ``epsilon``. ``REFUTED``: the certificate does not prove what it claims.
        score: of the answer, exactly; None for -inf, where nothing is possible or nothing was found.
        bound: that is proven, exactly; None for -inf.
        reason: where a refuted certificate fails.
    """

    finding: Finding
    score: Fraction | None = None
    bound: Fraction | None = None
    reason: str = ""

    @property
    def epsilon(self) -> Fraction | None:
        """How much more than the answer the optimum could be at most; None where there is no answer."""
        if self.bound is None:
            return Fraction(0)
        return None if self.score is None else self.bound - self.score

    @property
    def proven(self) -> bool:
        """Whether the answer is proven to be the best, without any rounding."""
        return self.finding is Finding.PROVEN

    def is_within(self, tolerance: float) -> bool:
        """Whether the answer is proven to be the best but for ``tolerance``; never where there is no answer.

        That nothing is possible is proven where the bound is -inf, and counts as within.
        """
        if self.finding is Finding.REFUTED or self.epsilon is None:
            return False
        return self.epsilon <= tolerance  # compares exactly

    def __bool__(self) -> bool:
        return self.finding is not Finding.REFUTED

    def __str__(self) -> str:
        if self.finding is Finding.REFUTED:
            return f"refuted: {self.reason}"
        if self.score is None:
            return (
                "proven: nothing is possible"
                if self.bound is None
                else f"no answer; bound {show_fraction(self.bound)}"
            )
        if self.proven:
            return f"proven: score {show_fraction(self.score)} = bound, exactly"
        assert self.epsilon is not None
        return f"proven to within {show_fraction(self.epsilon, 3)}: score {show_fraction(self.score)}"
