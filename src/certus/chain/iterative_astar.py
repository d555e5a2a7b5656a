"""Iterative A*: A* on a degenerate lattice that grows where it must."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from certus.chain.method import Method


@dataclass(frozen=True, kw_only=True)
class IterativeAStar(Method):
    """Huang et al. (2012), section 4.2.

    As staggered decoding, but each degenerate lattice is searched by A* with the naive heuristic, without
    pruning from round to round.
    """

    name: ClassVar[str] = "iterative-astar"
    papers: ClassVar[tuple[str, ...]] = ("huang2012",)
