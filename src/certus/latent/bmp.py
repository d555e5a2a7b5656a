"""Best marginal path: the most probable label of each position."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from certus import _native
from certus.latent.method import Inference


@dataclass(frozen=True, kw_only=True)
class BMP(Inference):
    """The most probable label of each position by itself (Morency et al. 2007; equations 11 and 12).

    Fewest wrong labels on average, but not of one sequence: what comes out may be improbable as a whole, or
    even forbidden, and then its score is -inf.
    """

    name: ClassVar[str] = "bmp"
    papers: ClassVar[tuple[str, ...]] = ("morency2007", "sun2009")
    code: ClassVar[_native.LatentInference] = _native.LatentInference.BMP
