"""A part of which some tags of words are shared, some forbidden, and the rest is its own affair."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from certus import _native
from certus.part import Adjustments, Choice, Forbidden, Part


class TagPart(Part, Protocol):
    """A part that also tells how good its structures can be that use a cell."""

    def max_marginals(self, adjust: Adjustments) -> Mapping[str, NDArray[np.float64]]:
        """Return for each cell the best score plus adjustments of a structure that uses it."""

    def read_structure(self, structure: Any) -> Choice:
        """Return what the kernels found, as a choice."""


class DisputedCells:
    """Another part's space ``tags``, cut down to the cells that are in dispute: (cells,).

    Few words have more than one tag that both models consider, so the multipliers are few, too.

    Args:
        part: with a space ``tags`` of (T, tags).
        allowed: (T, tags) the cells that are not forbidden.
        cells: (cells, 2) those of them that are shared.
    """

    def __init__(self, part: TagPart, allowed: NDArray[np.bool_], cells: NDArray[np.int64]) -> None:
        self._part = part
        self._base = np.where(allowed, 0.0, -np.inf)
        self._cells = cells[:, 0] * allowed.shape[1] + cells[:, 1]
        self.spaces: Mapping[str, tuple[int, ...]] = {"tags": (len(cells),)}

    def make_native(self) -> _native.RelaxPart | None:
        """Return the part for the kernels, if it has one."""
        make = getattr(self._part, "make_native", None)
        return None if make is None else make(self._base, self._cells)

    def read_structure(self, structure: Any) -> Choice:
        """Return what the kernels found, as a choice."""
        return self._cut(self._part.read_structure(structure))

    def maximize(self, adjust: Adjustments) -> Choice:
        """Return the best structure under adjusted scores."""
        return self._maximize(self._spread(adjust))

    def _maximize(self, full: NDArray[np.float64]) -> Choice:
        return self._cut(self._part.maximize({"tags": full}))

    def _cut(self, found: Choice) -> Choice:
        return Choice(found.value, found.score, {"tags": found.indicators["tags"].reshape(-1)[self._cells]})

    def complete(self, indicators: Mapping[str, NDArray[Any]]) -> Choice | None:
        """Return the best structure that uses just these of the shared cells, or None if there is none."""
        full = self._base.copy()
        full.reshape(-1)[self._cells[indicators["tags"] == 0]] = -np.inf
        try:
            return self._maximize(full)
        except Forbidden:
            return None

    def max_marginals(self, adjust: Adjustments) -> dict[str, NDArray[np.float64]]:
        """Return, for each cell, the best score with adjustments of a structure that uses it."""
        found = self._part.max_marginals({"tags": self._spread(adjust)})["tags"]
        return {"tags": found.reshape(-1)[self._cells]}

    def _spread(self, adjust: Adjustments) -> NDArray[np.float64]:
        """Lay adjustments of shared cells out over all words and tags."""
        full = self._base.copy()
        given = adjust.get("tags")
        if given is not None:
            full.reshape(-1)[self._cells] += given
        return full
