"""The default: exact, and as near as possible to reading each emission once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from certus.chain.method import Method


@dataclass(frozen=True, kw_only=True)
class Auto(Method):
    """Exact pruning by bounds from both sides; goes beyond both papers.

    A sweep from left to right bounds the best way to every label, stepping only from the few labels of the
    position before that could matter, with one number for all others. Traced back, it gives a real path.
    If the bound of all paths meets its score, it is optimal: usually that is all, and each emission is read
    once.
    If not, sweeps to the left and to the right alternate, each with the other's bounds, and drop every label
    that no better path can run through, until those left are so few that solving among them is trivial.

    Small label sets, transitions of each position, and lattices too flat to prune go to the dense sweep
    (``viterbi``, or ``viterbi-astar`` for k > 1), with next to nothing lost.
    """

    name: ClassVar[str] = "auto"
    papers: ClassVar[tuple[str, ...]] = ("kaji2010", "huang2012")
    many: ClassVar[bool] = True
