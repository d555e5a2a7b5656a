"""What a solve did, iteration by iteration."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Trace:
    """One entry per iteration; every ``dual`` is a bound on the optimum.

    Attributes:
        dual: the bound this iteration proved. Within a branch: together with the other open branches.
        bound: the best of them so far.
        primal: the best score of a whole found in this iteration; NaN where none was.
        best: the best score so far; -inf before there is any.
        step: the step that led to the multipliers of this iteration.
        node: the branch in which it was, 0 before branching.
        seconds: since the start.
    """

    dual: list[float] = field(default_factory=list)
    bound: list[float] = field(default_factory=list)
    primal: list[float] = field(default_factory=list)
    best: list[float] = field(default_factory=list)
    step: list[float] = field(default_factory=list)
    node: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.dual)

    def plot(self, path: str | Path | None = None, *, title: str | None = None) -> object:
        """Draw dual and primal by iteration; into a file if a path is given. Needs matplotlib."""
        from certus.relax.picture import draw_curves

        return draw_curves(self, path, title)
