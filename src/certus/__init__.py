"""Certus: the best label sequence under a model, fast, with a bound that proves it is the best."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from certus.chain import (
    Automaton,
    Chain,
    Marginals,
    SparseTransitions,
    bilou,
    bio,
    decode,
    iobes,
)
from certus.errors import CertusError, Infeasible, InvalidInput, ModelError, NotFitted
from certus.solution import KBest, Solution, Status

if TYPE_CHECKING:
    from certus.models.crf import CRF

__version__ = "0.1.0"

__all__ = [
    "CRF",
    "Automaton",
    "CertusError",
    "Chain",
    "Infeasible",
    "InvalidInput",
    "KBest",
    "Marginals",
    "ModelError",
    "NotFitted",
    "Solution",
    "SparseTransitions",
    "Status",
    "bilou",
    "bio",
    "decode",
    "iobes",
]


def __getattr__(name: str) -> Any:
    """Import what needs more than decoding does when it is first asked for."""
    if name == "CRF":
        from certus.models.crf import CRF

        return CRF
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
