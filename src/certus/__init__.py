"""Certus: the best label sequence under a model, fast, with a bound that proves it is the best."""

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
from certus.models.crf import CRF
from certus.solution import KBest, Solution, Status

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
