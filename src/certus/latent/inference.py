"""The list of inferences, and how a caller's choice becomes one of them."""

from __future__ import annotations

from collections.abc import Sequence

from certus.chain.spans import is_tag
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


def make_inference(name: str, steps: int = 0, labels: Sequence[str] | None = None) -> Inference:
    """Return an inference by its name, as models and the command line store it.

    Args:
        name: one of ``INFERENCES``.
        steps: the most latent paths that ldi looks at, 0 for no limit; of mbr, those whose labels it reranks.
        labels: what labels are called: labels of spans are reranked by F1, others by accuracy.
    """
    if name == LDI.name:
        return LDI(steps=steps or None)
    if name == MBR.name:
        spans = labels is not None and all(map(is_tag, labels))
        return MBR(gain="spans" if spans else "accuracy", **({"steps": steps} if steps else {}))
    return INFERENCES[name]() if name in INFERENCES else choose_inference(name, 1)


__all__ = ["INFERENCES", "Inference", "choose_inference", "make_inference"]
