"""What a failed check raises."""

from __future__ import annotations

CLOSE = 1e-6  # of scores, which learners sum in single precision


class CheckFailed(AssertionError):
    """Something does not hold that has to; the message says what, and on which problem."""


def demand(condition: object, message: str) -> None:
    """Raise CheckFailed unless a condition holds."""
    if not condition:
        raise CheckFailed(message)
