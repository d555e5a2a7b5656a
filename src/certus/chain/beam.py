"""Beam search: approximate, with an honest bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from certus import _native
from certus.chain.method import Method
from certus.checks import check_count


@dataclass(frozen=True, kw_only=True)
class Beam(Method):
    """Keep the best ``width`` labels at each position, T·L·width.

    The only approximate method, but not a silent one: whatever it drops is bounded by its prefix score plus
    the most that the rest of the sentence could add, and the largest of these is the Solution's bound. Where
    the bound meets the score the path is proven optimal after all, and the status says so.

    Args:
        width: labels kept at each position. If all of them turn out to be dead ends, the search starts
            again with twice as many.
    """

    name: ClassVar[str] = "beam"
    exact: ClassVar[bool] = False
    width: int = 8

    def __post_init__(self) -> None:
        check_count("width", self.width)

    def request(self, k: int) -> _native.Request:
        """Pass the option on."""
        return _native.Request(k=k, width=self.width)
