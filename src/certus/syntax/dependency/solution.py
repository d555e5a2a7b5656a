"""What is found of a sentence's trees: heads with their proof, several in order, probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from certus.solution import KBest, Rows, Solution

Heads: TypeAlias = NDArray[np.int64]  # (n,) of words 1 ... n; 0 is the root


class TreeSolution(Solution[Heads]):
    """A dependency tree with its proof: ``score <= optimum <= bound``.

    ``heads[i]`` is the head of word i + 1, where 0 is the root. ``stats`` counts ``iterations`` of dual
    decomposition, ``nodes`` of the search, arcs ``fixed`` by bounds, and how many of the ``automata`` were
    ``solved``.
    """

    __slots__ = ()

    @property
    def heads(self) -> Heads:
        """The heads, counted from 1; 0 is the root."""
        return self.value


class RankedTrees(KBest[TreeSolution]):
    """The k best trees, best first; fewer when fewer exist."""

    __slots__ = ()

    @property
    def heads(self) -> Rows[Heads]:
        """The heads of each tree."""
        heads: Rows[Heads] = self._values
        return heads


@dataclass(frozen=True)
class TreeMarginals:
    """The distribution p(tree) = exp(score) / Z, seen arc by arc.

    Attributes:
        probabilities: (n, n + 1); row i holds the probability of each head of word i + 1, the root first.
        log_partition: log Z, the log of the sum of exp(score) over all trees.
    """

    probabilities: NDArray[np.float64]
    log_partition: float

    def confidence(self, heads: Heads) -> NDArray[np.float64]:
        """Return the probability of each word's head in a tree."""
        return self.probabilities[np.arange(len(self.probabilities)), heads]

    def best(self) -> Heads:
        """Return the most probable head of each word, which may be no tree."""
        heads: Heads = self.probabilities.argmax(axis=1)
        return heads

    def probability(self, score: float) -> float:
        """Return the probability of a whole tree, given its score."""
        return float(np.exp(score - self.log_partition))
