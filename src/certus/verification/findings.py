"""What a check computes before anybody looks at what was claimed."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Findings:
    """The exact score of an answer, and the bound that a proof proves; None for -inf."""

    score: Fraction | None
    bound: Fraction | None
