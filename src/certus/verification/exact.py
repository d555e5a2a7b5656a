"""Exact numbers: every float is a whole number over a power of two, so sums and comparisons need no rounding.

``None`` stands for -inf, the score of what is forbidden, everywhere in this room.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any, TypeAlias

from certus.verification.errors import CertificateError
from certus.verification.work import limit_memory

Exact: TypeAlias = int | None  # a multiple of a grid's width, or -inf
_INTEGER = 32  # bytes of a whole number and of a reference to it, beside its bits
MOST_DIGITS = 4000  # of a numerator or denominator that is written out


class Grid:
    """The coarsest grid on which all given floats lie: they become whole numbers, multiples of its width.

    Args:
        numbers: all floats that will be compared; those of -inf do not count.
    """

    def __init__(self, *numbers: Iterable[float]) -> None:
        self.denominator, count, largest = 1, 0, 0.0
        for group in numbers:
            for number in group:
                if math.isfinite(number):
                    self.denominator = max(self.denominator, number.as_integer_ratio()[1])
                    count, largest = count + 1, max(largest, abs(number))
        bits = self.denominator.bit_length() + max(0, math.frexp(largest)[1])
        limit_memory("all scores together", count, _INTEGER + bits // 8)

    def lift(self, number: float) -> Exact:
        """Return a float as a multiple of the width; None for -inf."""
        if number == -math.inf:
            return None
        numerator, denominator = number.as_integer_ratio()
        return numerator * (self.denominator // denominator)

    def lift_all(self, numbers: Iterable[float]) -> list[Exact]:
        """Return floats as multiples of the width."""
        return [self.lift(number) for number in numbers]

    def lower(self, number: Exact) -> Fraction | None:
        """Return what a multiple of the width stands for."""
        return None if number is None else Fraction(number, self.denominator)


def add(*numbers: Exact) -> Exact:
    """Add; what is forbidden stays so."""
    total = 0
    for number in numbers:
        if number is None:
            return None
        total += number
    return total


def find_largest(numbers: Iterable[Exact]) -> Exact:
    """Return the largest number, None where all are forbidden."""
    return max((number for number in numbers if number is not None), default=None)


def is_more(left: Exact, right: Exact) -> bool:
    """Whether one number is above another."""
    return left is not None and (right is None or left > right)


def round_down(bound: Exact, scores: Iterable[Exact]) -> Exact:
    """Return the highest number up to ``bound`` that a sum of some of the scores can be.

    Every such sum is a multiple of the scores' greatest common divisor. So whole-numbered scores prove
    exactly, also where a bound was computed by floats.
    """
    step = math.gcd(*(score for score in scores if score is not None))
    return bound if bound is None or step == 0 else bound // step * step


def read_fraction(what: str, number: Any) -> Fraction | None:
    """Return a number of a certificate: a whole number, a float, a string such as "3/4", or None."""
    if number is None:
        return None
    if isinstance(number, str) and len(number) <= 2 * MOST_DIGITS:
        numerator, _, denominator = number.partition("/")
        if _is_digits(numerator.removeprefix("-")) and _is_digits(denominator) and int(denominator):
            return Fraction(int(numerator), int(denominator))
    elif isinstance(number, int | float) and not isinstance(number, bool) and abs(number) < math.inf:
        return Fraction(number)
    raise CertificateError(f"{what} must be a number, not {str(number)[:50]!r}")


def _is_digits(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < MOST_DIGITS


def show_fraction(number: Fraction | None, digits: int = 12) -> str:
    """Return a number for people to read."""
    if number is None:
        return "-inf"
    try:
        return f"{float(number):.{digits}g}"
    except OverflowError:
        return f"{'-' if number < 0 else ''}2^{(abs(number.numerator) // number.denominator).bit_length()}"


def write_fraction(number: Fraction | None) -> int | float | str | None:
    """Return a number as a certificate holds it: without any rounding."""
    if number is None:
        return None
    if number.denominator == 1 and abs(number.numerator) < 2**53:
        return number.numerator
    try:
        if Fraction(float(number)) == number:
            return float(number)
    except OverflowError:
        pass
    return f"{number.numerator}/{number.denominator}"
