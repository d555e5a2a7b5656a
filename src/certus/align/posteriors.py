"""The probabilities of links, and what each direction chooses by them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from certus.align.solution import Link


@dataclass(frozen=True)
class Posteriors:
    """The probabilities of all links of a pair.

    Attributes:
        forward: (I, J) that source word i is where target word j comes from.
        backward: (I, J) that target word j is where source word i comes from.
        forward_null: (J,) that a target word has no link.
        backward_null: (I,) that a source word has no link.
    """

    forward: NDArray[np.float32]
    backward: NDArray[np.float32]
    forward_null: NDArray[np.float32]
    backward_null: NDArray[np.float32]

    @property
    def links(self) -> NDArray[np.float32]:
        """(I, J) the mean of both directions."""
        return np.asarray((self.forward + self.backward) / 2, np.float32)

    def choose_forward(self) -> list[Link]:
        """Return for each target word its most probable link, where that is more probable than none."""
        return _choose_rows(self.forward, self.forward_null)

    def choose_backward(self) -> list[Link]:
        """Return for each source word its most probable link, where that is more probable than none."""
        return [(i, j) for j, i in _choose_rows(self.backward.T, self.backward_null)]


def _choose_rows(links: NDArray[np.float32], null: NDArray[np.float32]) -> list[Link]:
    """Return for each column its most probable row, where that is more probable than none."""
    if not links.size:
        return []
    rows = links.argmax(0)
    linked = links[rows, np.arange(links.shape[1])] > null
    return [(int(rows[j]), int(j)) for j in np.flatnonzero(linked)]
