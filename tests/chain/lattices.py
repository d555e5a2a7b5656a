"""Random chain problems with small integer scores: sums are exact in any precision, and ties are common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

import certus
from tests.reference.chain import Floats, Scores

DTYPES = (np.float64, np.float32, np.int64)


@dataclass(frozen=True)
class Problem:
    """What the reference sees, and the same as a user might give it."""

    scores: Scores
    chain: certus.Chain
    emissions: NDArray[Any]

    def __str__(self) -> str:
        return f"{self.chain!r} on {self.emissions.dtype} emissions\n{self.scores}"


def random_problem(rng: Generator, length: int, labels: int) -> Problem:
    """Any mixture of score ranges, forbidden labels and transitions, kinds of transitions, and types."""
    spread = int(rng.choice([0, 1, 3, 50]))
    forbidden = float(rng.choice([0, 0, 0.1, 0.4]))
    emissions = integers(rng, (length, labels), spread, forbidden)
    if rng.random() < 0.3:
        emissions[np.arange(length), rng.integers(labels, size=length)] = 60
    several = length > 1 and rng.random() < 0.25
    transitions = integers(
        rng, (length - 1, labels, labels) if several else (labels, labels), spread, forbidden
    )
    if rng.random() < 0.4:
        transitions[rng.random(transitions.shape) < 0.93] = rng.choice([0, -1, 2, -np.inf])
    ends = [integers(rng, (labels,), spread, forbidden) if rng.random() < 0.5 else None for _ in range(2)]
    return given(rng, Scores(emissions, transitions, *ends))


def given(rng: Generator, scores: Scores) -> Problem:
    """Give the same scores in some type, and the transitions perhaps as the list of those that differ."""
    transitions: Any = _typed(rng, scores.transitions)
    if scores.transitions.ndim == 2 and rng.random() < 0.25:
        transitions = listed(scores.transitions, float(rng.choice(scores.transitions.ravel())))
    ends = [None if x is None else _typed(rng, x) for x in (scores.start, scores.end)]
    prior = rng.integers(5, size=scores.labels) if rng.random() < 0.5 else None
    return Problem(scores, certus.Chain(transitions, *ends, prior=prior), _typed(rng, scores.emissions))


def integers(rng: Generator, shape: tuple[int, ...], spread: int, forbidden: float = 0) -> Floats:
    """Whole numbers from -spread to spread, a share of them -inf."""
    values = rng.integers(-spread, spread + 1, shape).astype(np.float64)
    values[rng.random(shape) < forbidden] = -np.inf
    return values


def listed(matrix: Floats, default: float) -> certus.SparseTransitions:
    """Hold a matrix by its elements that differ from the default."""
    origin, target = np.nonzero(matrix != default)
    return certus.SparseTransitions(len(matrix), origin, target, matrix[origin, target], default=default)


def peaked(rng: Generator, length: int, labels: int) -> Scores:
    """Like a trained model: a few labels a position stand out, and transitions matter less than emissions."""
    emissions = integers(rng, (length, labels), 30) - 100
    for row in emissions:
        row[rng.choice(labels, 4)] += rng.integers(60, 140, 4)
    return Scores(emissions, integers(rng, (labels, labels), 20))


def flat(rng: Generator, length: int, labels: int) -> Scores:
    """Nothing stands out, and transitions decide."""
    return Scores(integers(rng, (length, labels), 10), integers(rng, (labels, labels), 100))


def tied(rng: Generator, length: int, labels: int) -> Scores:
    """Few different scores, so that very many sequences are equally good; some labels are forbidden."""
    return Scores(integers(rng, (length, labels), 1, 0.1), integers(rng, (labels, labels), 1, 0.1))


SHAPES = {"peaked": peaked, "flat": flat, "tied": tied}


def _typed(rng: Generator, values: Floats) -> NDArray[Any]:
    dtype = DTYPES[rng.integers(3 if np.isfinite(values).all() else 2)]
    return values.astype(dtype)
