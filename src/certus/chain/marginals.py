"""Marginal probabilities: exact forward-backward in log space, with -inf."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certus.checks import as_labels


@dataclass(frozen=True)
class Marginals:
    """The distribution p(y) = exp(score(y)) / Z over label sequences, seen position by position.

    Attributes:
        probabilities: (T, L); row t holds the probability of each label at position t.
        log_partition: log Z, the log of the sum of exp(score) over all sequences.
    """

    probabilities: NDArray[np.float64]
    log_partition: float

    def confidence(self, labels: ArrayLike) -> NDArray[np.float64]:
        """Return the probability of each label at its position, of a sequence (T,) or of several (n, T)."""
        ids = as_labels(labels, *self.probabilities.shape)
        return self.probabilities[np.arange(len(self.probabilities)), ids]

    def best(self) -> NDArray[np.int64]:
        """Return the most probable label of each position, which may not be a likely sequence: (T,)."""
        labels: NDArray[np.int64] = self.probabilities.argmax(axis=1)
        return labels

    def probability(self, score: float) -> float:
        """Return the probability of a whole sequence, given its score."""
        return float(np.exp(score - self.log_partition))
