"""A label sequence as a part."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certus import _native
from certus.chain import Chain
from certus.chain import inputs as _inputs
from certus.errors import Infeasible
from certus.relax.part import Adjustments, Choice, Forbidden


class ChainPart:
    """The label sequences of a chain model: space ``labels`` of shape (T, L), one label a position.

    Scores are held in float64, whatever the chain's precision, as bounds are only as exact as the sums.

    Args:
        chain: the transitions.
        emissions: (T, L) the scores of the labels at each position.
    """

    def __init__(self, chain: Chain, emissions: Any) -> None:
        self._chain = chain
        scores = _inputs.as_emissions(emissions, chain.labels, _inputs.DOUBLE)
        self._emissions: NDArray[np.float64] = np.ascontiguousarray(scores, np.float64)
        _inputs.check_finite("emissions", self._emissions)
        self._rows = np.arange(len(self._emissions))

    @property
    def spaces(self) -> dict[str, tuple[int, ...]]:
        """One cell for each label of each position."""
        return {"labels": self._emissions.shape}

    def maximize(self, adjust: Adjustments) -> Choice:
        """Return the best label sequence: ``value`` is the array of label ids."""
        try:
            found = self._chain.decode(self._adjusted(adjust))
        except Infeasible:
            raise Forbidden("no label sequence is left") from None
        return self._choice(found.labels)

    def complete(self, indicators: Mapping[str, NDArray[Any]]) -> Choice | None:
        """Score the label sequence that the indicators spell, if they spell one that is allowed."""
        chosen = np.asarray(indicators["labels"])
        if (chosen.sum(axis=1) != 1).any():
            return None
        choice = self._choice(chosen.argmax(axis=1).astype(np.int64))
        return choice if np.isfinite(choice.score) else None

    def max_marginals(self, adjust: Adjustments) -> dict[str, NDArray[np.float64]]:
        """Return the best value of a sequence through each label of each position."""
        best = np.empty_like(self._emissions)
        _native.max_marginals(self._model(), self._adjusted(adjust), best)
        return {"labels": best}

    def _model(self) -> _native.Model64:
        model = self._chain.prepared(_inputs.DOUBLE)
        assert isinstance(model, _native.Model64)
        return model

    def _adjusted(self, adjust: Adjustments) -> NDArray[np.float64]:
        return self._emissions + adjust["labels"] if "labels" in adjust else self._emissions

    def _choice(self, labels: NDArray[np.int64]) -> Choice:
        used = np.zeros(self._emissions.shape, np.int8)
        used[self._rows, labels] = 1
        return Choice(labels, float(self._chain.score(self._emissions, labels)), {"labels": used})
