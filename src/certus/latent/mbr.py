"""Minimum-Bayes-risk reranking: the label sequence that does best on average over the probable ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from certus import _native
from certus.chain.spans import begins_between, ends_between, is_tag
from certus.checks import check_count
from certus.errors import InvalidInput
from certus.latent.method import Inference, Reranked

Labels: TypeAlias = NDArray[np.int64]
GainFunction: TypeAlias = Callable[[Labels, Labels], float]
GAINS = ("accuracy", "spans")


@dataclass(frozen=True, kw_only=True)
class MBR(Inference):
    """Reranks the labels of the best latent paths (Sun & Tsujii 2009, section 5.3, equation 13).

    Of the label sequences that latent-dynamic inference collects, it takes the one that gains most on average
    over all of them, by their probability. Ties go to the more probable one.

    Args:
        gain: ``accuracy``, the share of right labels; ``spans``, F1 of chunks or entities, for labels such
            as B-NP; or a function of two sequences of label numbers, a candidate and what is right.
        steps: how many latent paths to collect the labels of, as in the paper.
        best: instead of those, this number of the most probable label sequences, which label search finds;
            they hold more of the mass for the same work.
    """

    name: ClassVar[str] = "mbr"
    papers: ClassVar[tuple[str, ...]] = ("sun2009",)
    code: ClassVar[_native.LatentInference] = _native.LatentInference.LDI
    reranks: ClassVar[bool] = True
    gain: str | GainFunction = "accuracy"
    steps: int = 30
    best: int | None = None

    def __post_init__(self) -> None:
        check_count("steps", self.steps)
        if self.best is not None:
            check_count("best", self.best)
        if not callable(self.gain) and self.gain not in GAINS:
            raise InvalidInput(
                f"unknown gain {self.gain!r}; choose one of: {', '.join(GAINS)}, or give a function"
            )

    def request(self, k: int, names: Sequence[str] | None) -> _native.LatentRequest:
        """Collect all sequences; the gains that have a name are reranked by natively."""
        gain = None
        if self.gain == "accuracy":
            gain = _native.LatentGain()
        elif self.gain == "spans":
            gain = make_span_gain(names)
        if self.best is None:
            return _native.LatentRequest(
                inference=self.code, k=k, steps=self.steps, bounded=False, all=True, gain=gain
            )
        return _native.LatentRequest(
            inference=self.code, k=self.best, steps=self.best, bounded=True, gain=gain
        )

    def rerank(self, labels: NDArray[np.int64], probabilities: NDArray[np.float64]) -> Reranked | None:
        """Rerank by a function."""
        if not callable(self.gain):
            return None
        gains = np.array([[float(self.gain(y, right)) for right in labels] for y in labels])
        mean = gains @ probabilities / probabilities.sum()
        best = int(mean.argmax())
        return Reranked(best, float(mean[best]))


def make_span_gain(names: Sequence[str] | None) -> _native.LatentGain:
    """Tell the kernels where spans begin and end, by the rules of ``certus.evaluation``."""
    if names is None:
        raise InvalidInput('the gain "spans" needs to know what labels are called: LatentChain(..., names=)')
    wrong = next((name for name in names if not is_tag(name)), None)
    if wrong is not None:
        raise InvalidInput(f'the gain "spans" is for labels such as B-NP and O, not {wrong!r}')
    tags = [*names, "O"]  # the last stands for what is outside of the sentence
    pairs = list(product(tags, tags))
    ends = np.array([ends_between(before, now) for before, now in pairs], np.uint8)
    begins = np.array([begins_between(before, now) for before, now in pairs], np.uint8)
    _, kind = np.unique([name.partition("-")[2] for name in names], return_inverse=True)
    return _native.LatentGain(ends, begins, kind.ravel().astype(np.int32))
