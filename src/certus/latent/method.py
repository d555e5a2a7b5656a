"""What an inference is: a name, what it can do, its options, and what the kernels are asked for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar


@dataclass(frozen=True, kw_only=True)
class Inference:
    """A way to go from latent states to labels. Subclasses add options and explain themselves."""

    name: ClassVar[str]
    code: ClassVar[int]  # the number by which the native code knows it
    many: ClassVar[bool] = False  # can return more than one label sequence
    reranks: ClassVar[bool] = False  # chooses by something else than probability

    def request(self, k: int, names: Sequence[str] | None) -> dict[str, Any]:
        """Return what the native code is asked; ``names`` are those of the labels, if they are known."""
        return {"inference": self.code, "k": k, "steps": 1, "bounded": False, "all": False, "gain": None}

    def rerank(self, labels: Any, probabilities: Any) -> tuple[int, float] | None:
        """Choose among the sequences found, if that is not done natively: its number, and what it gains."""
        return None
