"""Best hidden path: the labels of the most probable latent path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from certus import _native
from certus.latent.method import Inference


@dataclass(frozen=True, kw_only=True)
class BHP(Inference):
    """The labels of the best latent path (Matsuzaki et al. 2005; Sun & Tsujii 2009, equation 10).

    Fast, and approximate: labels with many latent paths may be more probable than the one with the best.
    Their probability is exact, and what remains of 1 bounds all others: from a half on they are proven best.
    """

    name: ClassVar[str] = "bhp"
    papers: ClassVar[tuple[str, ...]] = ("sun2009",)
    code: ClassVar[_native.LatentInference] = _native.LatentInference.BHP
