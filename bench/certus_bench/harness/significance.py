"""Whether one system is better than another by more than chance, given what each of them got right."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class McNemar:
    """Two systems on the same sentences, by McNemar's exact test (Gillick & Cox 1989)."""

    first: str  # their names
    second: str
    only_first: int  # sentences that only the first got right
    only_second: int

    @property
    def p(self) -> float:
        """How often a fair coin would decide so unevenly which of the two is right, where one alone is."""
        trials, fewer = self.only_first + self.only_second, min(self.only_first, self.only_second)
        tails: int = 2 * sum(comb(trials, n) for n in range(fewer + 1))
        return min(1.0, tails / (1 << trials))


def count_disagreements(first: str, second: str, right: dict[str, NDArray[np.bool_]]) -> McNemar:
    """Compare two systems by name, given which sentences each of them got right."""
    one, other = right[first], right[second]
    return McNemar(first, second, int((one & ~other).sum()), int((other & ~one).sum()))
