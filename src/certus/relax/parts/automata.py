"""Head automata as a part: which words modify which heads, under scores of neighbouring modifiers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certus import _native
from certus.errors import InvalidInput
from certus.part import Adjustments, Choice, Forbidden

Floats = NDArray[np.float64]


class HeadAutomata:
    """For each head and side, the best sequence of modifiers under sibling scores (Koo et al. 2010).

    Space ``heads`` as in TreePart, (n, n + 1); here a word may have any number of heads, also none. ``value``
    of a choice is the array of indicators.

    Args:
        arcs: (n, n + 1) of each head for each word, as in TreePart; -inf forbids. A word's own column is
            never used.
        siblings: (n + 1, n + 2, n + 1) [head, the modifier before, modifier] of two modifiers in a row on one
            side of a head, from the head outwards; words count from 1, 0 is the root as a head, and n + 1 as
            the modifier before stands for none.
    """

    def __init__(self, arcs: ArrayLike, siblings: ArrayLike) -> None:
        self.arcs: Floats = np.array(arcs, np.float64, order="C")
        self.siblings: Floats = np.array(siblings, np.float64, order="C")
        n = len(self.arcs)
        if self.arcs.shape != (n, n + 1) or self.siblings.shape != (n + 1, n + 2, n + 1):
            raise InvalidInput(
                "head automata of n words need arcs of shape (n, n + 1) and siblings of shape "
                f"(n + 1, n + 2, n + 1); got {self.arcs.shape} and {self.siblings.shape}"
            )
        self.arcs[np.arange(n), np.arange(1, n + 1)] = -np.inf
        for what, scores in (("arcs", self.arcs), ("siblings", self.siblings)):
            if np.isnan(scores).any() or (scores == np.inf).any():
                raise InvalidInput(f"scores of {what} must be numbers to add: they hold NaN or +inf")

    @property
    def spaces(self) -> dict[str, tuple[int, ...]]:
        """One cell for each head of each word."""
        return {"heads": self.arcs.shape}

    def make_native(self) -> _native.RelaxPart:
        """Return the automata for the kernels."""
        return _native.make_head_automata(self.arcs.reshape(-1), self.siblings.reshape(-1), len(self.arcs))

    def state_part(self) -> dict[str, Any]:
        """Return the automata as plain data, for certificates."""
        return {"kind": "siblings", "arcs": self.arcs, "siblings": self.siblings}

    @cached_property
    def _kernel(self) -> _native.RelaxPart:
        return self.make_native()

    def make_choice(self, cells: NDArray[np.int64]) -> Choice:
        """Return the modifiers of these cells."""
        return self._choose(cells, self._kernel.complete(cells))

    def maximize(self, adjust: Adjustments) -> Choice:
        """Return the best modifiers of all heads."""
        found = self.make_native().maximize(self._flatten(adjust))
        if found.score == -np.inf:
            raise Forbidden("the automata accept nothing that is left")
        return self._choose(found.used, found.score)

    def complete(self, indicators: Mapping[str, NDArray[Any]]) -> Choice | None:
        """Score the modifiers that the indicators name."""
        choice = self.make_choice(np.flatnonzero(np.asarray(indicators["heads"])))
        return choice if np.isfinite(choice.score) else None

    def max_marginals(self, adjust: Adjustments) -> dict[str, Floats]:
        """Return the best value with each head of each word."""
        best, without = np.empty(self.arcs.size), np.empty(self.arcs.size)
        self.make_native().max_marginals(self._flatten(adjust), best, without)
        return {"heads": best.reshape(self.arcs.shape)}

    def _flatten(self, adjust: Adjustments) -> Floats:
        if "heads" not in adjust:
            return np.zeros(self.arcs.size)
        return np.ascontiguousarray(adjust["heads"], np.float64).reshape(-1)

    def _choose(self, cells: NDArray[np.int64], score: float) -> Choice:
        used = np.zeros(self.arcs.shape, np.int8)
        used.reshape(-1)[cells] = 1
        return Choice(used, score, {"heads": used})
