"""A label sequence as a part."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certus import _native, checks
from certus.chain import Chain, SparseTransitions
from certus.chain.decoding import raise_failure
from certus.errors import Infeasible, InvalidInput
from certus.part import LARGEST, Adjustments, Choice, Forbidden, check_adjustments


class ChainPart:
    """The label sequences of a chain model: space ``labels`` of shape (T, L), one label per position.

    Scores are held in float64, whatever the chain's precision, as bounds are only as exact as the sums.

    Args:
        chain: the transitions.
        emissions: (T, L) the scores of the labels at each position.
        bigrams: whether there is a space ``bigrams`` of shape (T - 1, L, L), too, for
            ``Decomposition.tighten``: pairs of labels in a row. Adjusting it takes a matrix of transitions
            for each position.
    """

    def __init__(self, chain: Chain, emissions: checks.Scores, *, bigrams: bool = False) -> None:
        self._chain = chain
        self._bigrams = bigrams
        if bigrams and isinstance(chain.transitions, SparseTransitions):
            raise InvalidInput("bigrams of sparse transitions would be dense: use dense transitions")
        scores = checks.as_emissions(emissions, chain.labels, checks.DOUBLE)
        self._emissions: NDArray[np.float64] = checks.freeze(np.ascontiguousarray(scores, np.float64))
        checks.check_finite("emissions", self._emissions)
        checks.check_magnitudes("emissions", self._emissions, LARGEST)
        for name in ("transitions", "start", "end"):
            scores = getattr(chain, name)
            if scores is not None:
                given = scores.scores if isinstance(scores, SparseTransitions) else scores
                checks.check_magnitudes(name, np.asarray(given, np.float64), LARGEST)
        self._rows = np.arange(len(self._emissions))

    @property
    def spaces(self) -> dict[str, tuple[int, ...]]:
        """One cell for each label of each position, and for each pair of labels if wanted."""
        length, labels = self._emissions.shape
        pairs: dict[str, tuple[int, ...]] = {"bigrams": (max(length - 1, 0), labels, labels)}
        return {"labels": (length, labels), **(pairs if self._bigrams else {})}

    def maximize(self, adjust: Adjustments) -> Choice:
        """Return the best label sequence: ``value`` is the array of label ids."""
        try:
            emissions = self._adjust_emissions(adjust)
            found = self._adjust_chain(adjust).decode(emissions)
        except Infeasible:
            raise Forbidden("no label sequence is left") from None
        return self._choice(found.labels)

    def make_native(self) -> _native.RelaxPart | None:
        """Return the chain for the kernels; None where the scores are refused."""
        model = self._chain.prepare(checks.DOUBLE)
        assert isinstance(model, _native.Model64)
        if model.check(self._emissions).status is not _native.Status.OPTIMAL:
            return None
        if self._bigrams:
            pairs = np.broadcast_to(self._read_dense("transitions"), self.spaces["bigrams"])
            return _native.make_bigram_chain_part(
                model,
                self._emissions.reshape(-1),
                np.ascontiguousarray(pairs).reshape(-1),
                self._read_dense("start"),
                self._read_dense("end"),
            )
        return _native.make_chain_part(model, self._emissions.reshape(-1))

    def state_part(self) -> dict[str, Any] | None:
        """Return the chain as plain data, for certificates; None where bigrams are shared."""
        return None if self._bigrams else {"kind": "chain", **self._chain.state_problem(self._emissions).data}

    def make_choice(self, cells: NDArray[np.int64], native: _native.RelaxPart) -> Choice:
        """Return the label sequence of these cells."""
        return self._choice(cells[: len(self._rows)] - self._rows * self._emissions.shape[1])

    def complete(self, indicators: Mapping[str, NDArray[Any]]) -> Choice | None:
        """Score the label sequence that the indicators spell, if they spell one that is allowed."""
        if "labels" not in indicators:
            return self._complete_bigrams(np.asarray(indicators["bigrams"]))
        chosen = np.asarray(indicators["labels"])
        if (chosen.sum(axis=1) != 1).any():
            return None
        choice = self._choice(chosen.argmax(axis=1).astype(np.int64))
        other = any(not np.array_equal(choice.indicators[name], indicators[name]) for name in indicators)
        return choice if np.isfinite(choice.score) and not other else None

    def max_marginals(self, adjust: Adjustments) -> dict[str, NDArray[np.float64]]:
        """Return the best value of a sequence through each label of each position."""
        best = np.empty_like(self._emissions)
        scores = self._adjust_emissions(adjust)
        chain = self._adjust_chain(adjust)
        model = chain.prepare(checks.DOUBLE)
        assert isinstance(model, _native.Model64)
        raise_failure(chain, model.check(scores), scores)
        _native.max_marginals(model, scores, best)
        return {"labels": best}

    def _read_dense(self, name: str) -> NDArray[np.float64]:
        """Return the chain's transitions, start or end scores in float64; zeros where it has none."""
        scores = getattr(self._chain, name)
        return np.zeros(self._chain.labels) if scores is None else np.array(scores, np.float64, order="C")

    def _complete_bigrams(self, chosen: NDArray[Any]) -> Choice | None:
        try:
            choice = self.maximize({"bigrams": np.where(chosen > 0, 0.0, -np.inf)})
        except Forbidden:
            return None
        return choice if (choice.indicators["bigrams"] == chosen).all() else None

    def _adjust_chain(self, adjust: Adjustments) -> Chain:
        added = adjust.get("bigrams")
        if added is None or not added.size:
            return self._chain
        chain = self._chain
        adjusted = checks.seal(np.asarray(chain.transitions, np.float64) + added)
        return Chain(adjusted, start=chain.start, end=chain.end)

    def _adjust_emissions(self, adjust: Adjustments) -> NDArray[np.float64]:
        check_adjustments(self.spaces, adjust)
        return self._emissions + adjust["labels"] if "labels" in adjust else self._emissions

    def _choice(self, labels: NDArray[np.int64]) -> Choice:
        used = np.zeros(self._emissions.shape, np.int8)
        used[self._rows, labels] = 1
        indicators: dict[str, NDArray[np.int8]] = {"labels": used}
        if self._bigrams:
            pairs = indicators["bigrams"] = np.zeros(self.spaces["bigrams"], np.int8)
            pairs[self._rows[:-1], labels[:-1], labels[1:]] = 1
        return Choice(labels, float(self._chain.score(self._emissions, labels)), indicators)
