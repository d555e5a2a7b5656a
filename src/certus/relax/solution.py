"""The answer of a decomposition: a structure of each part, in agreement, and how good it is proven to be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from certus.relax.trace import Trace
from certus.solution import Solution, Status

T = TypeVar("T")


@dataclass(frozen=True)
class Handle:
    """What ``Decomposition.add`` returns: stands for a part."""

    index: int
    name: str

    def __repr__(self) -> str:
        return f"<part {self.name}>"


class ByPart(dict[Handle, T]):
    """What belongs to each part; asked by its handle or its name."""

    def __missing__(self, key: Any) -> T:
        for handle, item in self.items():
            if handle.name == key:
                return item
        raise KeyError(f"{key!r}; the parts are: {', '.join(handle.name for handle in self)}")


class JointSolution(Solution):
    """``score <= optimum <= bound``, for the sum of the parts' scores under agreement.

    Attributes:
        value: by part, its structure; empty while none was found.
        indicators: by part, the 0/1 arrays of its structure, by the name of the space.
        scores: by part, the score of its structure, without weight.
        average: by part, the averaged indicators of its shared spaces: where they are neither 0 nor 1, the
            relaxation was loose at the end.
        trace: dual, primal and the rest, iteration by iteration.
        limit: which limit ended the search: "iterations", "seconds", "nodes", or None.
    """

    __slots__ = ("_stats", "average", "indicators", "limit", "scores", "trace")

    def __init__(
        self,
        value: ByPart[Any],
        score: float,
        bound: float,
        status: Status,
        *,
        indicators: ByPart[Any],
        scores: ByPart[float],
        average: ByPart[dict[str, NDArray[np.float64]]],
        trace: Trace,
        limit: str | None,
        stats: dict[str, Any],
    ) -> None:
        super().__init__(value, score, bound, status)
        self.indicators, self.scores, self.average = indicators, scores, average
        self.trace, self.limit, self._stats = trace, limit, stats

    @property
    def stats(self) -> dict[str, Any]:
        """What the search did.

        ``iterations`` of the optimiser in all branches; ``nodes`` of branch and bound, the root included;
        ``calls`` of each part, ``skipped`` where its adjustments had not changed, and ``completions`` of what
        another part chose, each by the part's name; cells ``fixed`` by bounds; reserves ``tightened``.
        """
        return dict(self._stats)

    def __repr__(self) -> str:
        proof = "optimal" if self.optimal else f"bound={self.bound:.6g}, {self.status.value}"
        work = f"{self._stats['iterations']} iterations, {self._stats['nodes']} nodes"
        return f"JointSolution({dict(self.value)}, score={self.score:.6g}, {proof}, {work})"
