"""Random joint problems, small enough to enumerate, with ties and forbidden combinations, some infeasible."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from certus.relax import Decomposition, Handle
from tests.reference.relax import CompletingPart, ListedPart, MarginalPart, Side, best_whole

KINDS = (ListedPart, MarginalPart, CompletingPart)
Rng = np.random.Generator


@dataclass
class Joint:
    """Parts, agreements (by flat cells) and weights."""

    parts: list[ListedPart]
    agreements: list[list[Side]]
    weights: list[float]

    @property
    def optimum(self) -> float:
        return best_whole(self.parts, self.agreements, self.weights)

    def decomposition(self) -> tuple[Decomposition, list[Handle]]:
        d = Decomposition()
        handles = [d.add(part, weight=w) for part, w in zip(self.parts, self.weights, strict=True)]
        for sides in self.agreements:
            d.agree(*((handles[p], name, cells) for p, name, cells in sides))
        return d, handles


def indicators(rng: Rng, count: int, shape: tuple[int, ...]) -> NDArray[np.int8]:
    """One cell a row, as labels have it, or any cells."""
    if rng.random() < 0.6:
        array = np.zeros((count, *shape), np.int8)
        rows = rng.integers(0, shape[1], (count, shape[0]))
        array[np.arange(count)[:, None], np.arange(shape[0]), rows] = 1
        return array
    return (rng.random((count, *shape)) < 0.4).astype(np.int8)


def scores(rng: Rng, count: int) -> NDArray[np.float64]:
    return rng.integers(-6, 7, count).astype(np.float64)


def same_space(rng: Rng) -> Joint:
    """Two to four parts that agree on one whole space, and mostly have something in common."""
    shape = (int(rng.integers(1, 4)), int(rng.integers(1, 4)))
    shared = indicators(rng, 6, shape)
    parts = []
    for _ in range(int(rng.integers(2, 5))):
        own = indicators(rng, int(rng.integers(1, 6)), shape)
        common = shared[rng.integers(0, 6, int(rng.integers(0, 4)))]
        array = np.concatenate([own, common])
        parts.append(KINDS[rng.integers(3)](scores(rng, len(array)), {"t": array}))
    cells = np.arange(shape[0] * shape[1])
    weights = [1.0 if rng.random() < 0.7 else float(rng.choice([0.5, 2.0, 3.0])) for _ in parts]
    return Joint(parts, [[(p, "t", cells) for p in range(len(parts))]], weights)


def mapped_cells(rng: Rng) -> Joint:
    """Three parts with two spaces each, several agreements over some of the cells, also within a part."""
    parts = []
    for _ in range(3):
        count = int(rng.integers(2, 7))
        spaces = {"a": indicators(rng, count, (2, 2)), "b": indicators(rng, count, (1, 3))}
        parts.append(KINDS[rng.integers(3)](scores(rng, count), spaces))
    agreements = []
    for _ in range(int(rng.integers(1, 4))):
        sides: list[Side] = []
        size = int(rng.integers(1, 3))
        for p in rng.permutation(3)[: int(rng.integers(2, 4))]:
            name, cells = ("a", 4) if rng.random() < 0.5 else ("b", 3)
            sides.append((int(p), name, rng.permutation(cells)[:size].astype(np.int64)))
        agreements.append(sides)
    return Joint(parts, agreements, [1.0, 1.0, 1.0])


MAKERS = (same_space, mapped_cells)
