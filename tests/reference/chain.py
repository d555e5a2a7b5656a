"""The slow, obvious version of the chain: every label sequence is written down and scored.

Where there are too many to write down, `best_scores` is a textbook dynamic program over the k best scores of
each label: it shares nothing with the native code, not even the idea of a path.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]


@dataclass(frozen=True)
class Scores:
    """A chain problem in float64: emissions (T, L); transitions (L, L) or (T-1, L, L); start and end (L,)."""

    emissions: Floats
    transitions: Floats
    start: Floats | None = None
    end: Floats | None = None

    @property
    def length(self) -> int:
        return len(self.emissions)

    @property
    def labels(self) -> int:
        return int(self.transitions.shape[-1])

    def nodes(self) -> Floats:
        """(T, L): the emissions with start and end added."""
        nodes = self.emissions.copy()
        if self.length and self.start is not None:
            nodes[0] += self.start
        if self.length and self.end is not None:
            nodes[-1] += self.end
        return nodes

    def link(self, t: int) -> Floats:
        """(L, L): the scores of going from position t to t + 1."""
        return self.transitions if self.transitions.ndim == 2 else self.transitions[t]

    def __str__(self) -> str:
        parts = (self.emissions, self.transitions, self.start, self.end)
        return "Scores(" + ", ".join("None" if x is None else f"array({x.tolist()})" for x in parts) + ")"


def all_scores(scores: Scores) -> Floats:
    """(L, ..., L) with T axes: element [y_0, ..., y_T-1] is the score of that sequence."""
    total = np.zeros(())
    for t, node in enumerate(scores.nodes()):
        total = total[..., None] + scores.link(t - 1) + node if t else total + node
    return total


def all_paths(length: int, labels: int) -> Labels:
    """(L^T, T): every label sequence, in the order of the elements of `all_scores`."""
    return np.array(list(product(range(labels), repeat=length)), np.int64).reshape(-1, length)


def best_of(totals: Floats, k: int) -> Floats:
    """At most k: the best scores that are not -inf, best first."""
    flat = totals.ravel()
    best = -np.sort(-_largest(flat, k))
    return best[best > -np.inf]


def best_scores(scores: Scores, k: int) -> Floats:
    """The same as `best_of(all_scores(scores), k)`, by dynamic programming."""
    nodes = scores.nodes()
    ways = nodes[0][:, None]  # (L, n): the n best scores of sequences that end in each label
    for t in range(1, scores.length):
        through = ways[:, :, None] + scores.link(t - 1)[:, None, :]
        ways = _largest(through.reshape(-1, scores.labels).T, k) + nodes[t][:, None]
    return best_of(ways, k)


def path_scores(scores: Scores, paths: Labels) -> Floats:
    """(n,): the scores of paths (n, T)."""
    nodes = scores.nodes()
    total = np.zeros(len(paths))
    for t in range(scores.length):
        if t:
            total += scores.link(t - 1)[paths[:, t - 1], paths[:, t]]
        total += nodes[t, paths[:, t]]
    return total


def dies_at(scores: Scores) -> int | None:
    """The first position that no sequence reaches, or None."""
    alive: NDArray[np.bool_] = np.ones(scores.labels, bool)
    for t, node in enumerate(scores.nodes()):
        if t:
            alive = np.any(alive[:, None] & (scores.link(t - 1) > -np.inf), axis=0)
        alive &= node > -np.inf
        if not alive.any():
            return t
    return None


def log_sum(totals: Floats) -> float:
    """The log of the sum of exp(score) over all sequences."""
    most = totals.max()
    return float(most + np.log(np.exp(totals - most).sum()))


def marginals(scores: Scores) -> Floats:
    """(T, L): the probability of each label at each position."""
    totals = all_scores(scores)
    weights = np.exp(totals - log_sum(totals))
    axes = range(scores.length)
    return np.stack([weights.sum(axis=tuple(a for a in axes if a != t)) for t in axes])


def _largest(values: Floats, k: int) -> Floats:
    """The k largest along the last axis, in any order."""
    return values if values.shape[-1] <= k else -np.partition(-values, k - 1)[..., :k]
