"""Viterbi A*: one forward pass, then paths in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from certus.chain.method import Method


@dataclass(frozen=True, kw_only=True)
class ViterbiAStar(Method):
    """Huang et al. (2012), section 3.5, algorithm 3: T·L² + k·T·L.

    The forward scores are a perfect heuristic for a search from the end, so nothing is expanded in vain.
    Where the paper pushes all L alternatives at each position, only the best is pushed, and its successor
    when it is taken: the agenda holds k·T entries instead of k·T·L.
    """

    name: ClassVar[str] = "viterbi-astar"
    papers: ClassVar[tuple[str, ...]] = ("huang2012",)
    one: ClassVar[bool] = False
    many: ClassVar[bool] = True
