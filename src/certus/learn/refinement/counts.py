"""What is counted in labelled sentences: the estimates that every learner here starts from or falls back on.

    p(b | a)  = (count(a, b) + s p(b)) / (count(a) + s)     b a label or the end of the sentence
    p(x | a)  = (count(a, x) + s p(x)) / (count(a) + s)     x an observation or one never seen
    p_1(a)    = (starts with a + s p(a)) / (sentences + s)

with s the smoothing, in occurrences. p(x) counts one observation that was never seen among all, so that such
a one is possible later, and is as likely whatever the label.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from certus.learn.refinement.data import LabelledCorpus
from certus.learn.refinement.parameters import Parameters


@dataclass(frozen=True, eq=False)
class Counts:
    """Weighted counts of a corpus.

    Attributes:
        first: (L,) sentences that start with each label.
        follow: (L, L + 1) how often each label, or in the last column the end, follows each label.
        seen: (L, n + 1) how often each label has each observation; the last column, the unseen, is 0.
    """

    first: NDArray[np.float64]
    follow: NDArray[np.float64]
    seen: NDArray[np.float64]

    @classmethod
    def of(cls, corpus: LabelledCorpus) -> Counts:
        """Count."""
        labels, n = len(corpus.names.labels), corpus.names.unseen + 1
        following = np.full(len(corpus.labels), labels)
        inner = corpus.inner
        following[inner] = corpus.labels[inner + 1]
        first = corpus.first
        return cls(
            _tally(corpus.labels[first], corpus.weights[first], labels),
            _tally(corpus.labels * (labels + 1) + following, corpus.weights, labels, labels + 1),
            _tally(corpus.labels * n + corpus.observations, corpus.weights, labels, n),
        )

    @property
    def total(self) -> NDArray[np.float64]:
        """(L,) how often each label occurs."""
        return np.asarray(self.seen.sum(1))

    @property
    def base_follow(self) -> NDArray[np.float64]:
        """(L + 1,) how often each label, or the end, follows anything, as a distribution."""
        return np.asarray(self.follow.sum(0) / self.follow.sum())

    @property
    def base_seen(self) -> NDArray[np.float64]:
        """(n + 1,) how often each observation occurs, as a distribution; the unseen as if it had once."""
        base = self.seen.sum(0)
        base[-1] = 1.0
        return np.asarray(base / base.sum())

    @property
    def base_first(self) -> NDArray[np.float64]:
        """(L,) how often each label occurs, as a distribution."""
        return np.asarray(self.total / self.total.sum())

    def estimate_first(self, smoothing: float) -> NDArray[np.float64]:
        """Return (L,) p_1(a)."""
        p: NDArray[np.float64] = (self.first + smoothing * self.base_first) / (self.first.sum() + smoothing)
        return p

    def estimate_following(self, smoothing: float) -> NDArray[np.float64]:
        """Return (L, L + 1) p(b | a)."""
        total = self.follow.sum(1, keepdims=True)
        p: NDArray[np.float64] = (self.follow + smoothing * self.base_follow) / (total + smoothing)
        return p

    def estimate_observed(self, smoothing: float) -> NDArray[np.float64]:
        """Return (L, n + 1) p(x | a)."""
        p: NDArray[np.float64] = (self.seen + smoothing * self.base_seen) / (self.total[:, None] + smoothing)
        return p

    def estimate_parameters(self, smoothing: float) -> Parameters:
        """Return the plain HMM: one hidden state per label."""
        follow = self.estimate_following(smoothing)
        return Parameters(
            self.estimate_first(smoothing)[:, None],
            np.ascontiguousarray(follow[:, None, :-1, None]),
            np.ascontiguousarray(follow[:, -1:]),
            np.ascontiguousarray(self.estimate_observed(smoothing)[:, None, :]),
        )


def _tally(codes: NDArray[np.int64], weights: NDArray[np.float64], *shape: int) -> NDArray[np.float64]:
    return np.bincount(codes, weights, math.prod(shape)).astype(np.float64).reshape(shape)
