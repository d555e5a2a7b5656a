"""The answer of a decomposition: a structure of each part, in agreement, and how good it is proven to be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

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

    def __getitem__(self, key: Handle | str) -> T:
        if isinstance(key, Handle) and key in self:
            return super().__getitem__(key)
        for handle, item in self.items():
            if handle.name == key:
                return item
        raise KeyError(f"{key!r}; the parts are: {', '.join(handle.name for handle in self)}")


class JointSolution(Solution[ByPart[Any]]):
    """``score <= optimum <= bound``, for the sum of the parts' scores under agreement.

    Attributes:
        value: by part, its structure; empty while none was found.
        indicators: by part, the 0/1 arrays of its structure, by the name of the space.
        scores: by part, the score of its structure, without weight.
        average: by part, the averaged indicators of its shared spaces: where they are neither 0 nor 1, the
            relaxation was loose at the end.
        trace: dual, primal and the rest, iteration by iteration.
        limit: which limit ended the search: "iterations", "seconds", "nodes", or None.
        calls: by part, how often it was asked for its maximum.
        skipped: by part, how often it was not asked, as its adjustments had not changed.
        completions: by part, how often it completed what another part chose.
    """

    papers: ClassVar[tuple[str, ...]] = ("rush2010", "rush2011")

    __slots__ = ("average", "calls", "completions", "indicators", "limit", "scores", "skipped", "trace")

    def __init__(
        self,
        value: ByPart[Any],
        score: float,
        bound: float,
        status: Status,
        *,
        indicators: ByPart[Mapping[str, NDArray[np.generic]]],
        scores: ByPart[float],
        average: ByPart[dict[str, NDArray[np.float64]]],
        trace: Trace,
        limit: str | None,
        calls: ByPart[int],
        skipped: ByPart[int],
        completions: ByPart[int],
        work: Mapping[str, int],
    ) -> None:
        super().__init__(value, score, bound, status, work)
        self.indicators, self.scores, self.average = indicators, scores, average
        self.trace, self.limit = trace, limit
        self.calls, self.skipped, self.completions = calls, skipped, completions

    @property
    def stats(self) -> dict[str, int]:
        """What the search did.

        ``iterations`` of the optimiser in all branches; ``nodes`` of branch and bound, the root included;
        ``calls``, ``skipped`` and ``completions`` of all parts together; cells ``fixed`` by bounds; reserves
        ``tightened``.
        """
        totals = {name: sum(getattr(self, name).values()) for name in ("calls", "skipped", "completions")}
        return super().stats | totals

    def __repr__(self) -> str:
        proof = "optimal" if self.optimal else f"bound={self.bound:.6g}, {self.status.value}"
        stats = self.stats
        work = f"{stats['iterations']} iterations, {stats['nodes']} nodes"
        return f"JointSolution({dict(self.value)}, score={self.score:.6g}, {proof}, {work})"
