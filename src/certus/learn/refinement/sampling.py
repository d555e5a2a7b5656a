"""Sentences drawn from a refinement HMM with known parameters: all sentences walk in step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from certus.errors import InvalidInput
from certus.learn.refinement.data import Labelled
from certus.learn.refinement.parameters import Parameters
from certus.ragged import offsets_of

_LONGEST = 100_000  # tokens: a model that stops so rarely is a mistake


@dataclass(frozen=True, eq=False)
class Sample:
    """Drawn sentences.

    Attributes:
        labels, hidden, observations: (tokens,) ids.
        offsets: (sentences + 1,) where each sentence begins.
    """

    labels: NDArray[np.int64]
    hidden: NDArray[np.int64]
    observations: NDArray[np.int64]
    offsets: NDArray[np.int64]

    def list_sentences(
        self, labels: Sequence[str] | None = None, observations: Sequence[str] | None = None
    ) -> list[Labelled]:
        """Return the sentences as models learn from them, named by ids unless names are given."""
        a = _name_ids(self.labels, labels)
        x = _name_ids(self.observations, observations)
        ends = self.offsets.tolist()
        return [(x[i:j], a[i:j]) for i, j in pairwise(ends)]


def sample(model: Parameters, count: int, *, seed: int | np.random.Generator = 0) -> Sample:
    """Draw sentences.

    Args:
        model: to draw from.
        count: how many sentences.
        seed: the same gives the same sentences.
    """
    if count < 0:
        raise InvalidInput(f"cannot draw {count} sentences")
    rng = np.random.default_rng(seed)
    states = model.labels * model.hidden
    follow = np.hstack([model.transition.reshape(states, states), model.stop.reshape(states, 1)])
    emission = model.emission.reshape(states, -1)
    current = _draw(
        rng, np.broadcast_to(model.initial.reshape(1, -1), (1, states)), np.zeros(count, np.int64)
    )
    walkers = np.arange(count)
    steps: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]] = []
    while walkers.size:
        if len(steps) >= _LONGEST:
            raise InvalidInput(f"a sentence reached {_LONGEST:,} tokens; raise the probabilities of stopping")
        steps.append((walkers, current, _draw(rng, emission, current)))
        following = _draw(rng, follow, current)
        going = following < states
        walkers, current = walkers[going], following[going]
    return _order_tokens(steps, count, model.hidden)


def _draw(rng: np.random.Generator, table: NDArray[np.float64], rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Draw from the distribution in each of some rows of a table, row by row of the table."""
    drawn = np.empty(len(rows), np.int64)
    uniform = rng.random(len(rows))
    order = np.argsort(rows, kind="stable")
    for chosen in np.split(order, np.flatnonzero(np.diff(rows[order])) + 1):
        if chosen.size:
            heights = np.cumsum(table[rows[chosen[0]]])
            drawn[chosen] = np.searchsorted(heights / heights[-1], uniform[chosen], side="right")
    return np.minimum(drawn, np.int64(table.shape[1] - 1))


def _order_tokens(
    steps: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]], count: int, hidden: int
) -> Sample:
    """Put tokens that were drawn position by position into the order of their sentences."""
    if not steps:
        empty = np.zeros(0, np.int64)
        return Sample(empty, empty, empty, np.zeros(count + 1, np.int64))
    owner, states, seen = (np.concatenate(part) for part in zip(*steps, strict=True))
    order = np.argsort(owner, kind="stable")
    labels, inner = np.divmod(states[order], hidden)
    offsets = offsets_of(np.bincount(owner, minlength=count).tolist())
    return Sample(labels, inner, seen[order], offsets)


def _name_ids(ids: NDArray[np.int64], names: Sequence[str] | None) -> list[str]:
    if names is None:
        return [str(i) for i in ids.tolist()]
    return [names[i] for i in ids.tolist()]
