"""Iterative Viterbi A*: k-best staggered decoding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from certus import _native, checks
from certus.chain.method import Method
from certus.errors import InvalidInput


@dataclass(frozen=True, kw_only=True)
class IterativeViterbiAStar(Method):
    """Huang et al. (2012), section 4.4, algorithm 4.

    Staggered decoding whose stopping test is that the k best paths of the degenerate lattice are all active.
    The lower bound for pruning is the k-th best path known: from a first list of paths near that of a beam,
    from the active paths of each pass, and from those that Viterbi A* lists. The options choose among the
    three, as the paper does to see what each is worth; every answer stays exact. Where passes have taken as
    long as Viterbi A* on the whole lattice would, that is what ends the search.

    Args:
        first: whether to begin with a list of paths (line 1 of the algorithm).
        ends: whether the active paths to the last labels of each pass count (line 16): little is gained
            after a first list.
        listed: k' / k, how many times k paths a round lists once one of them is degenerate (line 10). 0 ends
            the list there, and after a first list waits until no degenerate label is left.
        patience: how long it may take, in times of what Viterbi A* on the whole lattice takes by estimate,
            before that ends the search; ``math.inf`` never gives up, as in the paper.
    """

    name: ClassVar[str] = "iterative-viterbi-astar"
    papers: ClassVar[tuple[str, ...]] = ("huang2012",)
    one: ClassVar[bool] = False
    many: ClassVar[bool] = True
    first: bool = True
    ends: bool = False
    listed: int = 0
    patience: float = 1.0

    def __post_init__(self) -> None:
        """Refuse what is no number of paths, or no time."""
        checks.check_count("listed", self.listed, least=0)
        if not self.patience >= 0:
            raise InvalidInput(f"patience must be a number of at least 0, not {self.patience!r}")

    def request(self, k: int) -> _native.Request:
        """Pass the options on."""
        return _native.Request(
            k=k, first=self.first, ends=self.ends, listed=self.listed, patience=self.patience
        )
