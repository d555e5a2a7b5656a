"""What questions about all derivations of a forest are answered with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Marginals:
    """The distribution p(d) = exp(score(d)) / Z over derivations, seen edge by edge and node by node.

    Attributes:
        edges: (E,) how often a derivation uses each edge, on average.
        nodes: (N,) how often it uses each node. Where no derivation uses a node twice, as in parse forests,
            both are probabilities.
        log_partition: log Z, the log of the sum of exp(score) over all derivations.
    """

    edges: NDArray[np.float64]
    nodes: NDArray[np.float64]
    log_partition: float

    def probability(self, score: float) -> float:
        """Return the probability of a whole derivation, given its score."""
        return float(np.exp(score - self.log_partition))


@dataclass(frozen=True)
class MaxMarginals:
    """How good derivations can be that use something.

    Attributes:
        edges: (E,) the best score of any derivation that uses the edge at least once; -inf where none does.
        nodes: (N,) the same for nodes.
        score: the best score of all.
    """

    edges: NDArray[np.float64]
    nodes: NDArray[np.float64]
    score: float
