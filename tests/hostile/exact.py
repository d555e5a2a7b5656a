"""Sums without rounding: every float is a whole multiple of 2^-1074, so sums of them are sums of integers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Structure = tuple[int, ...]  # what a structure is known by: its labels, its edges
DOUBLE: np.dtype[np.floating] = np.dtype(np.float64)
_UNIT = 2**1074


def as_units(value: float) -> int:
    """Return how many times 2^-1074 goes into a finite float, exactly."""
    numerator, denominator = float(value).as_integer_ratio()
    return numerator * (_UNIT // denominator)


def sum_exactly(terms: Sequence[float]) -> int | None:
    """Return the sum of scores in units, or None where one of them forbids."""
    return None if -math.inf in terms else sum(map(as_units, terms))


class Terms(NamedTuple):
    """What the scores of a problem are like.

    Attributes:
        magnitude: what the magnitudes of the scores of one structure can add up to at most, in units.
        grain: the largest power of two that all scores are multiples of, in units; 0 where all are zero.
    """

    magnitude: int
    grain: int


def describe_terms(arrays: Iterable[NDArray[np.floating] | None]) -> Terms:
    """Describe scores: a structure takes one from each of the arrays."""
    magnitude, grain = 0, 0
    for array in arrays:
        if array is not None:
            units = [as_units(abs(x)) for x in array.ravel().tolist() if math.isfinite(x)]
            magnitude += max(units, default=0)
            grain = math.gcd(grain, *units)
    return Terms(magnitude, grain & -grain)


class Exact:
    """All structures of a problem with their exact scores, and what an answer may lose to rounding.

    Args:
        sums: the score of each structure in units; None for those that are forbidden.
        terms: what the scores are like.
        steps: how many additions a score takes, and each of the search's comparisons, at most.
        dtype: the precision of the search.
        limit: the magnitude from which a problem may be refused; near the limit of the type by default.
        seen: the magnitude that is held against it, where the check at the door sees more than ``terms``.
    """

    def __init__(
        self,
        sums: Mapping[Structure, int | None],
        terms: Terms,
        steps: int,
        dtype: np.dtype[np.floating] = DOUBLE,
        limit: float | None = None,
        seen: int | None = None,
    ) -> None:
        self.ranked = {name: total for name, total in sums.items() if total is not None}
        self._terms, self._steps, self._dtype = terms, steps, dtype
        self._limit = as_units(float(np.finfo(dtype).max) / 16 if limit is None else limit)
        self._seen = terms.magnitude if seen is None else seen
        self._order = sorted(self.ranked.values(), reverse=True)

    @property
    def may_overflow(self) -> bool:
        """Whether the magnitudes add up to what is near the limit of the type, so that it may be refused."""
        return self._seen >= self._limit

    @property
    def magnitude(self) -> float:
        """What the magnitudes of the scores of a structure can add up to at most."""
        return min(self._terms.magnitude, as_units(float(np.finfo(DOUBLE).max))) / _UNIT

    def check_refusal(self, error: Exception, problem: object) -> None:
        """Nothing may be refused but what could overflow."""
        assert self.may_overflow, f"{error}\n{problem}"

    @property
    def best(self) -> Structure:
        """The best structure."""
        return max(self.ranked, key=self.ranked.__getitem__)

    def is_rank(self, structure: Structure, rank: int) -> bool:
        """Whether a structure may stand at a place in a list: no more than rounding is between them."""
        return abs(self.ranked[structure] - self._order[rank]) <= self.rounding

    def is_sum(self, structure: Structure, score: float) -> bool:
        """Whether a float is the score of a structure, added up in double precision."""
        if not math.isfinite(score):
            return False
        return abs(as_units(score) - self.ranked[structure]) <= self._round(DOUBLE)

    def is_bound(self, bound: float) -> bool:
        """Whether no structure scores more than this."""
        return bound == math.inf or as_units(bound) >= self._order[0] - self.rounding

    def is_log_sum(self, value: float) -> bool:
        """Whether a float can be the log of the sum of exp(score) over all structures."""
        best = self._order[0]
        digits = np.finfo(self._dtype).nmant + 1  # logs are not exact, even of exact sums
        room = self._steps * (self._terms.magnitude >> (digits - 1)) + as_units(1e-9)
        return best - room <= as_units(value) <= best + as_units(math.log(len(self._order))) + room

    @cached_property
    def rounding(self) -> int:
        """What sums can lose to rounding, in units: nothing, where they are small multiples of some grain."""
        return self._round(self._dtype)

    def _round(self, dtype: np.dtype[np.floating]) -> int:
        digits, (magnitude, grain) = np.finfo(dtype).nmant + 1, self._terms
        exact = magnitude <= grain << (digits - 1)  # also differences between two sums
        return 0 if exact else self._steps * (magnitude >> (digits - 1)) + self._steps
