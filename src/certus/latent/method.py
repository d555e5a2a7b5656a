"""What an inference is: a name, what it can do, its options, and what the kernels are asked for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from certus import _native


class Reranked(NamedTuple):
    """The label sequence that an inference prefers: its number among those found, and what it gains."""

    number: int
    gain: float


@dataclass(frozen=True, kw_only=True)
class Inference:
    """A way to go from latent states to labels. Subclasses add options and explain themselves."""

    name: ClassVar[str]
    papers: ClassVar[tuple[str, ...]] = ()  # keys of certus.citations.PAPERS
    code: ClassVar[_native.LatentInference]  # by which the native code knows it
    many: ClassVar[bool] = False  # can return more than one label sequence
    reranks: ClassVar[bool] = False  # chooses by something else than probability

    def request(self, k: int, names: Sequence[str] | None) -> _native.LatentRequest:
        """Return what the native code is asked; ``names`` are those of the labels, if they are known."""
        return _native.LatentRequest(inference=self.code, k=k, steps=1, bounded=False)

    def rerank(self, labels: NDArray[np.int64], probabilities: NDArray[np.float64]) -> Reranked | None:
        """Choose among the sequences found, (n, T), if that is not done natively."""
        return None
