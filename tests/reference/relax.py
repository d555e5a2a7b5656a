"""Joint problems by enumeration: parts that list all their structures, and the best whole of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from certus.relax import Choice, Forbidden


class ListedPart:
    """A part given by the list of its structures: scores (n,), and indicators (n, *shape) by space."""

    def __init__(
        self, scores: Sequence[float] | NDArray[np.float64], indicators: Mapping[str, NDArray[np.int8]]
    ) -> None:
        self.scores = np.asarray(scores, np.float64)
        self.indicators = indicators
        self.calls = 0

    @property
    def spaces(self) -> dict[str, tuple[int, ...]]:
        return {name: array.shape[1:] for name, array in self.indicators.items()}

    def _values(self, adjust: Mapping[str, NDArray[np.float64]]) -> NDArray[np.float64]:
        values = self.scores.copy()
        for name, array in adjust.items():
            used = self.indicators[name].reshape(len(values), -1) > 0
            values += np.where(used, array.reshape(1, -1), 0.0).sum(axis=1)
        return values

    def maximize(self, adjust: Mapping[str, NDArray[np.float64]]) -> Choice:
        self.calls += 1
        values = self._values(adjust)
        best = int(np.argmax(values)) if len(values) else -1
        if best < 0 or values[best] == -np.inf:
            raise Forbidden("nothing is left")
        return self.choice(best)

    def choice(self, index: int) -> Choice:
        return Choice(
            index, float(self.scores[index]), {name: array[index] for name, array in self.indicators.items()}
        )


class MarginalPart(ListedPart):
    """One that offers max-marginals, too."""

    def max_marginals(self, adjust: Mapping[str, NDArray[np.float64]]) -> dict[str, NDArray[np.float64]]:
        values = self._values(adjust)
        return {
            name: np.where(array > 0, values.reshape(-1, *[1] * (array.ndim - 1)), -np.inf).max(axis=0)
            for name, array in self.indicators.items()
        }


class CompletingPart(MarginalPart):
    """One that completes, too."""

    def complete(self, indicators: Mapping[str, NDArray[np.int8]]) -> Choice | None:
        fits = np.ones(len(self.scores), bool)
        for name, array in indicators.items():
            fits &= (self.indicators[name] == array).reshape(len(fits), -1).all(axis=1)
        best = np.where(fits, self.scores, -np.inf)
        return self.choice(int(np.argmax(best))) if fits.any() else None


Side = tuple[int, str, NDArray[np.int64]]


def best_whole(
    parts: Sequence[ListedPart], agreements: Sequence[Sequence[Side]], weights: Sequence[float] | None = None
) -> float:
    """Return the best sum of scores of structures that agree, -inf if none do. Cells are flat indices."""
    weights = weights or [1.0] * len(parts)
    every = np.stack(np.meshgrid(*(np.arange(len(part.scores)) for part in parts), indexing="ij"))
    wholes = every.reshape(len(parts), -1)  # a column is a structure of each part
    total = np.zeros(wholes.shape[1])
    for weight, part, chosen in zip(weights, parts, wholes, strict=True):
        total += weight * part.scores[chosen]
    for sides in agreements:
        first, *others = (
            parts[p].indicators[name].reshape(len(parts[p].scores), -1)[:, cells][wholes[p]]
            for p, name, cells in sides
        )
        for other in others:
            total[(first != other).any(axis=1)] = -np.inf
    return float(total.max(initial=-np.inf))
