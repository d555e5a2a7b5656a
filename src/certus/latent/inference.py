"""The list of inferences, and how a caller's choice becomes one of them."""

from __future__ import annotations

from certus.errors import InvalidInput
from certus.latent.bhp import BHP
from certus.latent.bmp import BMP
from certus.latent.ldi import LDI
from certus.latent.mbr import MBR
from certus.latent.method import Inference

INFERENCES: dict[str, type[Inference]] = {kind.name: kind for kind in (LDI, BHP, BMP, MBR)}


def choose_inference(inference: str | Inference, k: int) -> Inference:
    """Return the inference meant, or say what is wrong with the choice."""
    if isinstance(inference, str):
        if inference not in INFERENCES:
            raise InvalidInput(f"unknown inference {inference!r}; choose one of: {', '.join(INFERENCES)}")
        inference = INFERENCES[inference]()
    elif not isinstance(inference, Inference):
        raise InvalidInput(f"inference must be a name or an Inference, not {type(inference).__name__}")
    if k > 1 and not inference.many:
        able = ", ".join(name for name, kind in INFERENCES.items() if kind.many)
        raise InvalidInput(
            f"inference {inference.name!r} finds one label sequence, not k = {k}; for more use {able}"
        )
    return inference


__all__ = ["INFERENCES", "Inference", "choose_inference"]
