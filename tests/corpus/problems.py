"""Random corpus problems, small enough for brute force, and the kernels' field of each."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from certus import _native
from certus.chain import Chain
from tests.reference.corpus import Problem


class Loaded(NamedTuple):
    """A field with all sentences, and what they are by themselves."""

    field: _native.Field
    labels: NDArray[np.int32]
    scores: NDArray[np.float64]
    excess: NDArray[np.float64]

    @property
    def base(self) -> float:
        return float(self.scores.sum())


def problem(dice: np.random.Generator) -> Problem:
    """Whole-numbered scores in a small range, so that ties abound; sometimes a forbidden transition."""
    labels, sentences, nodes = (int(dice.integers(low, high)) for low, high in ((2, 4), (1, 5), (1, 4)))
    first = np.concatenate([[0], np.cumsum(dice.integers(1, 4, sentences))]).astype(np.int64)
    tokens, most = int(first[-1]), int(dice.choice([2, 4, 8]))
    transitions = dice.integers(-most, most + 1, (labels, labels)).astype(float)
    if dice.random() < 0.2:
        transitions[dice.integers(labels), dice.integers(labels)] = -np.inf
    of = dice.integers(-1, nodes, tokens).astype(np.int64)
    of = np.where((dice.random(tokens) < 0.15) & (of >= 0), -2 - of, of)
    null, close, same = sorted(dice.integers(0, 7, 3).astype(float).tolist())
    if dice.random() < 0.4:
        null = close = 0.0
    return Problem(
        first,
        dice.integers(-most, most + 1, (tokens, labels)).astype(np.float32),
        transitions,
        of,
        nodes,
        (same, close, null),
        dice.integers(0, labels, labels).astype(np.int32),
    )


def load(made: Problem) -> Loaded:
    """Put all sentences into a field."""
    model: Any = Chain(made.transitions).prepare(np.dtype(np.float64))
    lattices = _native.ChainLattices(model, made.first, made.emissions)
    field = _native.Field(made.groups, *made.delta, made.count)
    count = len(made.first) - 1
    loaded = Loaded(field, np.zeros(int(made.first[-1]), np.int32), np.zeros(count), np.zeros(count))
    field.add(lattices, 0, 0, made.nodes, loaded.labels, loaded.scores, loaded.excess)
    field.close()
    return loaded
