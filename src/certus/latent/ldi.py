"""Latent-dynamic inference: the most probable label sequence, proven."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from certus import _native
from certus.checks import check_count
from certus.errors import InvalidInput
from certus.latent.method import Inference

BOUNDS = ("label", "mass")


@dataclass(frozen=True, kw_only=True)
class LDI(Inference):
    """Latent-dynamic inference (Sun & Tsujii 2009, figure 3).

    Takes the best latent paths in order, sums the probability of the labels of each exactly, and stops when
    nothing that was not seen can be more probable than the best. With ``steps`` it is the paper's LDI-A: it
    stops after this number of latent paths, and the bound of the Solution says what that may have cost.

    Args:
        steps: the most latent paths to look at; None for no limit. Without one, sentences whose labels the
            model is unsure of can take very long.
        bound: what must not exceed the best. ``mass``: the probability of all unseen sequences together,
            the paper's condition. ``label``: that, or a bound on any single one of them, whichever is met
            first, so never after more latent paths; docs/latent.md explains it.
        share: the most that a single sequence is believed to have of the probability that remains, the
            paper's alpha (equation 9). Below 1, LDI also stops by that belief, without a proof.
    """

    name: ClassVar[str] = "ldi"
    papers: ClassVar[tuple[str, ...]] = ("sun2009",)
    code: ClassVar[_native.LatentInference] = _native.LatentInference.LDI
    many: ClassVar[bool] = True
    steps: int | None = None
    bound: str = "label"
    share: float = 1.0

    def __post_init__(self) -> None:
        if self.steps is not None:
            check_count("steps", self.steps)
        if self.bound not in BOUNDS:
            raise InvalidInput(f"unknown bound {self.bound!r}; choose one of: {', '.join(BOUNDS)}")
        if not 0 < self.share <= 1:
            raise InvalidInput(f"share must be above 0 and at most 1, not {self.share!r}")

    def request(self, k: int, names: Sequence[str] | None) -> _native.LatentRequest:
        """Pass the options on."""
        return _native.LatentRequest(
            inference=self.code,
            k=k,
            steps=self.steps or 0,
            bounded=self.bound == "label",
            share=self.share,
        )
