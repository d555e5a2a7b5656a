"""What refinement has to beat: the plain HMM, and each observation's most frequent label."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from certus.errors import InvalidInput
from certus.latent.refinement.counts import Counts
from certus.latent.refinement.data import Corpus, Observed
from certus.latent.refinement.diagnostics import Diagnostics, LabelReport
from certus.latent.refinement.model import Refinement, Summing
from certus.latent.refinement.operators import Sums
from certus.latent.refinement.parameters import Parameters


def reports(corpus: Corpus) -> tuple[LabelReport, ...]:
    """Return how often each label occurs."""
    samples = np.bincount(corpus.labels, minlength=len(corpus.names.labels))
    return tuple(map(LabelReport, corpus.names.labels, samples.tolist()))


def check_smoothing(value: float) -> None:
    """Refuse pseudo-counts that are none."""
    if not (np.isfinite(value) and value >= 0):
        raise InvalidInput(f"smoothing must be a number of occurrences, 0 or more, not {value}")


class PlainHmm(Refinement):
    """A first-order hidden Markov model, estimated by counting: one hidden state a label.

    Args:
        smoothing: pseudo-occurrences of each label, spread like the whole corpus. With 0, what was not
            seen is impossible.
    """

    parameters: Parameters

    def __init__(self, *, smoothing: float = 0.1) -> None:
        check_smoothing(smoothing)
        self.smoothing = smoothing

    def _estimate(self, corpus: Corpus) -> None:
        self.parameters = Counts.of(corpus).parameters(self.smoothing)
        self.diagnostics = Diagnostics(reports(corpus))

    def _ladder(self) -> Iterator[Summing]:
        yield self.parameters.operators


class Unigram(Refinement):
    """The most frequent label of each observation, whatever its neighbours.

    Of labels that are as frequent, the more frequent one altogether; an observation never seen gets the most
    frequent label of all.
    """

    _given: _Alone

    def _estimate(self, corpus: Corpus) -> None:
        counts = Counts.of(corpus)
        self._given = _Alone(counts)
        self.diagnostics = Diagnostics(reports(corpus))

    def _ladder(self) -> Iterator[Summing]:
        yield self._given


class _Alone:
    """p(label | observation), with a touch of p(label) to break ties and to fill in for the unseen."""

    def __init__(self, counts: Counts) -> None:
        touch = 1e-6 * counts.base_first[:, None]
        joint = counts.seen + touch
        self.joint = joint / joint.sum()  # (L, n + 1)

    def sums(self, data: Observed, threads: int = 1) -> Sums:
        both = self.joint.T[data.observations]
        mass = both.sum(axis=1)
        return self._summed(both / mass[:, None], np.log(mass), data)

    def sums_of(self, data: Observed, labels: NDArray[np.int64], threads: int = 1) -> Sums:
        chosen = self.joint[labels, data.observations]
        marginals = np.zeros((len(labels), len(self.joint)))
        marginals[np.arange(len(labels)), labels] = 1.0
        return self._summed(marginals, np.log(chosen), data)

    @staticmethod
    def _summed(marginals: NDArray[np.float64], logs: NDArray[np.float64], data: Observed) -> Sums:
        total = np.concatenate([[0.0], np.cumsum(logs)])
        mass = total[data.offsets[1:]] - total[data.offsets[:-1]]
        return Sums(marginals, mass, np.ones(len(mass)), np.zeros(len(mass)))
