"""What refinement has to beat: the plain HMM, and each observation's most frequent label."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from certus.errors import InvalidInput
from certus.learn.refinement.counts import Counts
from certus.learn.refinement.data import LabelledCorpus
from certus.learn.refinement.decoding import Summing
from certus.learn.refinement.diagnostics import Diagnostics, LabelReport
from certus.learn.refinement.model import Refinement
from certus.learn.refinement.operators import Operators, padded
from certus.learn.refinement.parameters import Parameters
from certus.learn.refinement.storage import Arrays, declare_parameters, pack_parameters, read_parameters
from certus.storage.declaration import Array, reals


def report_labels(corpus: LabelledCorpus) -> tuple[LabelReport, ...]:
    """Return how often each label occurs."""
    samples = np.bincount(corpus.labels, minlength=len(corpus.names.labels))
    return tuple(map(LabelReport, corpus.names.labels, samples.tolist()))


def check_smoothing(value: float) -> None:
    """Refuse pseudo-counts that are none."""
    if not (np.isfinite(value) and value >= 0):
        raise InvalidInput(f"smoothing must be a number of occurrences, 0 or more, not {value}")


class PlainHmm(Refinement):
    """A first-order hidden Markov model, estimated by counting: one hidden state per label.

    Args:
        smoothing: pseudo-occurrences of each label, spread like the whole corpus. With 0, what was not
            seen is impossible.
    """

    parameters: Parameters
    estimator: ClassVar[str] = "hmm"
    declared: ClassVar[dict[str, Array]] = declare_parameters()

    def __init__(self, *, smoothing: float = 0.1) -> None:
        check_smoothing(smoothing)
        self.smoothing = smoothing

    def _estimate(self, corpus: LabelledCorpus) -> None:
        self.parameters = Counts.of(corpus).estimate_parameters(self.smoothing)
        self.diagnostics = Diagnostics(report_labels(corpus))

    def _list_rungs(self) -> Sequence[Summing]:
        return [self.parameters.operators]

    def get_plain(self) -> Parameters:
        """Return the probabilities themselves."""
        return self.parameters

    def _pack_parts(self) -> dict[str, NDArray[Any]]:
        return pack_parameters(self.parameters)

    def _rebuild(self, arrays: Arrays) -> None:
        self.parameters = read_parameters(arrays)

    def _list_settings(self) -> dict[str, Any]:
        return {"smoothing": self.smoothing}


class Unigram(Refinement):
    """The most frequent label of each observation, whatever its neighbours.

    Of labels that are as frequent, the more frequent one altogether; an observation never seen gets the most
    frequent label of all.
    """

    joint: NDArray[np.float64]
    estimator: ClassVar[str] = "unigram"
    declared: ClassVar[dict[str, Array]] = {
        "joint": reals("labels", "observations+1", types="float64", least=5e-324, most=1)
    }

    def _estimate(self, corpus: LabelledCorpus) -> None:
        counts = Counts.of(corpus)
        touch = 1e-6 * counts.base_first[:, None]  # breaks ties, and fills in for the unseen
        joint = counts.seen + touch
        self.joint = joint / joint.sum()
        self.diagnostics = Diagnostics(report_labels(corpus))

    def _list_rungs(self) -> Sequence[Summing]:
        return [make_independent(self.joint)]

    def _pack_parts(self) -> dict[str, NDArray[Any]]:
        return {"joint": self.joint}

    def _rebuild(self, arrays: Arrays) -> None:
        self.joint = arrays["joint"]

    def _list_settings(self) -> dict[str, Any]:
        return {}


def make_independent(joint: NDArray[np.float64]) -> Operators:
    """Return the operators of (L, n) p(label, observation), each token by itself: anything may follow."""
    labels, n = joint.shape
    size = padded(labels)
    matrix, start, gain = np.zeros((1, size, size)), np.zeros(size), np.zeros((n, size))
    matrix[0, :labels, :labels] = start[:labels] = 1.0
    gain[:, :labels] = joint.T
    return Operators(
        np.arange(labels + 1, dtype=np.int64), start, matrix, np.zeros(n, np.int64), gain, gain.copy()
    )
