"""Iterative Viterbi A*: k-best staggered decoding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from certus.chain.method import Method


@dataclass(frozen=True, kw_only=True)
class IterativeViterbiAStar(Method):
    """Huang et al. (2012), section 4.4, algorithm 4.

    Staggered decoding whose stopping test is that the k best paths of the degenerate lattice are all active.
    The lower bound for pruning is the k-th best path known, from a beam of width k at the start, from the
    active paths of each pass, and from the k' = 2k paths that Viterbi A* lists.
    """

    name: ClassVar[str] = "iterative-viterbi-astar"
    papers: ClassVar[tuple[str, ...]] = ("huang2012",)
    one: ClassVar[bool] = False
    many: ClassVar[bool] = True
