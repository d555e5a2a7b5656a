"""k-best A*: A* that lets each node be reached k times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from certus import _native
from certus.chain.astar import Heuristic, heuristic_code
from certus.chain.method import Method


@dataclass(frozen=True, kw_only=True)
class KBestAStar(Method):
    """Huang et al. (2012), section 4.3: the first k complete paths taken from the agenda are the k best.

    Args:
        heuristic: as for ``astar``.
    """

    name: ClassVar[str] = "kbest-astar"
    papers: ClassVar[tuple[str, ...]] = ("huang2012",)
    one: ClassVar[bool] = False
    many: ClassVar[bool] = True
    heuristic: Heuristic = "auto"

    def __post_init__(self) -> None:
        heuristic_code(self.heuristic)

    def request(self, k: int) -> _native.Request:
        """Pass the option on."""
        return _native.Request(k=k, heuristic=heuristic_code(self.heuristic))
