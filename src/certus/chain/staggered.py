"""Staggered decoding: a lattice that starts with one label per position and grows where it must."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from certus import _native
from certus.chain.method import Method


@dataclass(frozen=True, kw_only=True)
class Staggered(Method):
    """Kaji et al. (2010), there SD; "iterative Viterbi" in Huang et al. (2012), algorithm 1.

    All labels but the most probable ones are folded into one degenerate label, which scores the best of each
    of its parts. If the best path through this small lattice avoids degenerate labels, it is the best path of
    all; if not, the number of active labels doubles. Forward and backward passes alternate, and nodes whose
    bound lies below the best path found so far are pruned for good.

    Labels are activated in the order of the ``prior`` given to the Chain, or else of the total weight of the
    transitions into them.

    Args:
        columnwise: double only at the positions where the best path was degenerate (section 3.5). False
            doubles everywhere, which bounds the number of iterations by log2 L + 1.
    """

    name: ClassVar[str] = "staggered"
    papers: ClassVar[tuple[str, ...]] = ("kaji2010",)
    columnwise: bool = True

    def request(self, k: int) -> _native.Request:
        """Pass the option on."""
        return _native.Request(k=k, columnwise=self.columnwise)
