"""Random scores in several regimes: ties, whole numbers, penalties, tiny numbers, and all magnitudes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

WHOLE = ("ties", "small", "large")
REAL = ("normal", "penalties", "forbidding", "tiny", "mixed")
_RANGES = ((-300, 300), (-300, -290), (-20, 20), (-3, 7), (0, 16), (295, 300))  # of decimal exponents


@dataclass(frozen=True)
class Regime:
    """How the scores of a problem are drawn.

    Attributes:
        name: one of ``WHOLE`` and ``REAL``.
        share: of scores that are -inf.
        exponents: of "mixed" scores; the first is that of "tiny" ones.
        single: whether scores are single-precision numbers.
    """

    name: str
    share: float
    exponents: tuple[float, float]
    single: bool = False

    @property
    def integral(self) -> bool:
        """Whether scores are whole numbers whose sums are exact."""
        return self.name in WHOLE

    @property
    def epsilon(self) -> float:
        """The distance from 1 to the next number."""
        return 2.0**-23 if self.single else 2.0**-52

    def draw(self, rng: Random, *, share: float | None = None) -> float:
        """Return a score; ``share`` replaces the regime's own share of -inf."""
        if rng.random() < (self.share if share is None else share):
            return -math.inf
        value = self._draw_finite(rng)
        return float(np.float32(value)) if self.single else value

    def draw_array(self, rng: Random, shape: Sequence[int], *, share: float | None = None) -> Any:
        """Return an array of scores."""
        values = [self.draw(rng, share=share) for _ in range(math.prod(shape))]
        return np.array(values, np.float32 if self.single else np.float64).reshape(shape)

    def _draw_finite(self, rng: Random) -> float:
        if self.name == "ties":
            return float(rng.randint(0, 1))
        if self.name == "small":
            return float(rng.randint(-4, 4))
        if self.name == "large":
            return float(rng.randint(-(10**6), 10**6))
        if self.name == "normal":
            return rng.gauss(0, 2)
        if self.name == "penalties":
            return rng.choice([0.0, 0.75, 1.0, 3.0, rng.gauss(0, 1), rng.gauss(0, 1), -1e4, -4e6, -5e6])
        if self.name == "forbidding":  # penalties that stand for -inf
            return rng.choice([1.0, rng.gauss(0, 1), rng.gauss(0, 1), rng.gauss(0, 1), -1e6, -1e12])
        if self.name == "tiny":
            return rng.gauss(0, 2) * math.pow(10.0, self.exponents[0])
        return math.copysign(math.pow(10.0, rng.uniform(*self.exponents)), rng.choice([-1, 1]))


def draw_regime(
    rng: Random,
    *,
    largest: float = 300.0,
    names: Sequence[str] = WHOLE + REAL,
    shares: Sequence[float] = (0.0, 0.0, 0.1, 0.3),
    single: bool = False,
) -> Regime:
    """Return a regime; no score is larger than 10 to the power of ``largest``."""
    low, high = map(float, rng.choice(_RANGES))
    largest = min(largest, 36.0) if single else largest
    high = min(high, largest)
    low = max(min(low, high - 5), -36.0) if single else min(low, high - 5)
    name = rng.choice(list(names))
    if single and name == "large":
        name = "small"
    if name == "tiny":
        low = -9.0 if single else rng.choice([-9.0, -300.0])
    return Regime(name, rng.choice(list(shares)), (low, high), single)
