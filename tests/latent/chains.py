"""Random latent chains whose weights are whole numbers, so that probabilities are exact fractions."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from certus.latent import LatentChain
from tests.reference.latent import probabilities


@dataclass
class Problem:
    """Weights of one sentence; scores are their logarithms, -inf where a weight is 0."""

    emissions: NDArray[np.int64]
    transitions: NDArray[np.int64]
    owner: NDArray[np.int64]
    start: NDArray[np.int64] | None = None
    end: NDArray[np.int64] | None = None
    pairs: NDArray[np.int64] | None = None

    @property
    def scores(self) -> NDArray[np.float64]:
        return logs(self.emissions)

    def chain(self) -> LatentChain:
        ends = (None if x is None else logs(x) for x in (self.start, self.end))
        return LatentChain(logs(self.transitions), self.owner, *ends)

    def truth(self) -> dict[tuple[int, ...], Fraction]:
        start, end, pairs = (None if x is None else x.tolist() for x in (self.start, self.end, self.pairs))
        emissions, transitions, owner = (x.tolist() for x in (self.emissions, self.transitions, self.owner))
        return probabilities(emissions, transitions, owner, start, end, pairs)


def logs(weights: NDArray[np.int64]) -> NDArray[np.float64]:
    with np.errstate(divide="ignore"):
        return np.log(weights.astype(np.float64))


def draw(
    rng: np.random.Generator, *, least: int = 0, most: int = 4, paths: int = 800, latent: int | None = None
) -> Problem:
    """A problem of at most so many latent paths; with least = 0 some things are forbidden."""
    while True:
        labels, length = int(rng.integers(1, 4)), int(rng.integers(1, 6))
        counts = rng.integers(1, 4, labels) if latent is None else np.full(labels, latent)
        if int(counts.sum()) ** length <= paths:
            break
    states = int(counts.sum())
    owner = rng.permutation(np.repeat(np.arange(labels), counts))
    ends = [rng.integers(least, most + 1, states) if rng.random() < 0.3 else None for _ in range(2)]
    return Problem(
        rng.integers(least, most + 1, (length, states)),
        rng.integers(least, most + 1, (states, states)),
        owner,
        *ends,
    )
