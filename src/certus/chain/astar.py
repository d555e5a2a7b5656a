"""A* search from left to right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from certus import _native
from certus.chain.method import Method
from certus.errors import InvalidInput

Heuristic: TypeAlias = int | Literal["auto", "naive"]


def heuristic_code(heuristic: Heuristic) -> int:
    """-2 for the level that suits the labels, -1 for the naive heuristic, else that of the coarse one."""
    if heuristic == "auto":
        return -2
    if heuristic == "naive":
        return -1
    if not isinstance(heuristic, int) or isinstance(heuristic, bool) or not 0 <= heuristic <= 30:
        raise InvalidInput(f'heuristic must be "auto", "naive" or a level from 0 to 30, not {heuristic!r}')
    return heuristic


@dataclass(frozen=True, kw_only=True)
class AStar(Method):
    """Huang et al. (2012), section 4.1: T·L at best, T·L² at worst.

    Nodes are expanded in the order of the best score so far plus a bound on the rest.

    Args:
        heuristic: the bound on the rest. ``"naive"`` adds up the best emission and the best transition of
            each later position (equation 9); a level m runs the backward Viterbi algorithm on the degenerate
            lattice with 2^m active labels, tighter and dearer with m. The paper tries naive, 0, 3, 6 and 9;
            ``"auto"`` takes log₂ L - 2, rounded, which activates about a quarter of the labels.
    """

    name: ClassVar[str] = "astar"
    papers: ClassVar[tuple[str, ...]] = ("huang2012",)
    heuristic: Heuristic = "auto"

    def __post_init__(self) -> None:
        heuristic_code(self.heuristic)

    def request(self, k: int) -> _native.Request:
        """Pass the option on."""
        return _native.Request(k=k, heuristic=heuristic_code(self.heuristic))
