"""The default: exact, and as near as possible to reading each emission once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from certus.chain.method import Method


@dataclass(frozen=True, kw_only=True)
class Auto(Method):
    """Exact pruning by each label's own score; goes beyond both papers.

    Potentials prepared from the transitions make every transition cost nothing or less, so a label's own
    score bounds what it can add. One pass over the emissions finds the labels that could matter at each
    position; all others are folded into one degenerate label. If the bound of the paths through it does not
    exceed the best path without it, that path is optimal; if it does, exactly the labels that could still
    matter are added. Small label sets, per-position transitions and lattices too flat to prune go to the
    dense sweep (``viterbi``, or ``viterbi-astar`` for k > 1), with next to nothing lost.
    """

    name: ClassVar[str] = "auto"
    many: ClassVar[bool] = True
