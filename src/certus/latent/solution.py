"""What inference over latent chains returns."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certus.solution import Solution, Status


class LatentSolution(Solution):
    """A label sequence with its probability, and what is proven of it.

    Attributes:
        value: the label numbers; ``labels`` is the same.
        score: the log of the probability of the labels, exact: summed over all their latent paths.
        bound: the log of an upper bound on the probability of any label sequence (of lower ranks: of any
            that is not ranked better).
        status: OPTIMAL where nothing is more probable: proven.
        remaining: the probability of all label sequences together that were not looked at.
        gain: for MBR, what the labels gain on average; else None.
    """

    __slots__ = ("_work", "gain", "remaining")

    def __init__(
        self,
        value: Any,
        score: float,
        bound: float,
        status: Status,
        *,
        remaining: float,
        work: tuple[int, int, int],
        gain: float | None = None,
        position: int | None = None,
    ) -> None:
        super().__init__(value, score, bound, status, position=position)
        self.remaining = remaining
        self.gain = gain
        self._work = work

    @property
    def probability(self) -> float:
        """Of the labels: the exponential of the score."""
        return min(1.0, math.exp(self.score))

    @property
    def stats(self) -> dict[str, int]:
        """What the search did: latent ``paths`` and label ``sequences`` seen, ``prefixes`` expanded."""
        return dict(zip(("paths", "sequences", "prefixes"), self._work, strict=True))

    def __repr__(self) -> str:
        value = np.array2string(np.asarray(self.value), threshold=12)
        proof = "optimal" if self.optimal else f"bound={math.exp(self.bound):.6g}, {self.status.value}"
        return f"LatentSolution({value}, probability={self.probability:.6g}, {proof})"


@dataclass(frozen=True)
class LabelSequences:
    """Label sequences of a sentence with their exact probabilities, most probable first.

    Attributes:
        labels: (n, T) label numbers.
        probabilities: (n,)
        remaining: the probability of all others together.
        paths: how many latent paths were looked at.
    """

    labels: NDArray[np.int64]
    probabilities: NDArray[np.float64]
    remaining: float
    paths: int

    def __len__(self) -> int:
        return len(self.probabilities)

    def __iter__(self) -> Iterator[tuple[NDArray[np.int64], float]]:
        return iter(zip(self.labels, self.probabilities.tolist(), strict=True))
