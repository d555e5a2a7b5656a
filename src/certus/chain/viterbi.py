"""The Viterbi algorithm: every transition is scored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from certus import _native
from certus.chain.method import Method


@dataclass(frozen=True, kw_only=True)
class Viterbi(Method):
    """Dense dynamic programming, T·L² (Viterbi 1967).

    Rows of transitions stream through vector registers that hold the running maxima. No back-pointers are
    stored: the predecessors of the T labels on the path are found again by re-scoring. In a batch, sentences
    advance together, so that one read of a large matrix serves many.

    Args:
        sparse: where most label pairs share one score, score the other pairs only (the same result). False
            forces the dense sweep.
    """

    name: ClassVar[str] = "viterbi"
    papers: ClassVar[tuple[str, ...]] = ("viterbi1967",)
    sparse: bool = True

    def request(self, k: int) -> _native.Request:
        """Pass the option on."""
        return _native.Request(k=k, sparse=self.sparse)
