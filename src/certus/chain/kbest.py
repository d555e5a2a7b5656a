"""The k best label sequences of a sentence."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from certus.solution import LabelKBest, LabelSolution


class KBestLabels(LabelKBest[LabelSolution[NDArray[np.int64]]]):
    """The k best label sequences, best first; fewer when fewer exist."""

    __slots__ = ()

    @property
    def values(self) -> NDArray[np.int64]:
        """The label ids: (n, T), a row per sequence."""
        values: NDArray[np.int64] = self._values
        return values

    @property
    def labels(self) -> NDArray[np.int64]:
        """The same as ``values``."""
        values: NDArray[np.int64] = self._values
        return values
