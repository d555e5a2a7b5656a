"""What a failed check raises."""

from __future__ import annotations


class CheckFailed(AssertionError):
    """Something does not hold that has to; the message says what, and on which problem."""


def demand(condition: object, message: str) -> None:
    """Raise CheckFailed unless a condition holds."""
    if not condition:
        raise CheckFailed(message)
