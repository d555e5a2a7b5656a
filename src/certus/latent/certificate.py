"""The certificate of a latent chain: the prefixes of labels that have to be looked into, and no others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certus.verification import Certificate, CertificateError, Problem, certify

MOST_PREFIXES = 20_000  # that a certificate expands
TIE = 1e-12  # of a mass: what floats may be off by

Floats = NDArray[np.float64]


def certify_labels(problem: Problem, labels: list[int] | None) -> Certificate:
    """Return the certificate that no labels are more probable; None where no labels are possible."""
    return certify(problem, labels, {"expanded": _Search(problem.data).list_prefixes(labels)})


class _Search:
    """Masses in floats, rescaled at each position: they only decide which prefixes are expanded."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        emissions, owner = data["emissions"].copy(), data["owner"]
        if len(emissions):
            emissions[0] += data.get("start", 0.0)
            emissions[-1] += data.get("end", 0.0)
        steps = np.broadcast_to(data["transitions"], (max(len(emissions) - 1, 0), *data["transitions"].shape))
        if "pairs" in data:
            pairs = data["pairs"]
            wide = pairs.shape[1] == len(owner)
            steps = steps + (pairs if wide else pairs[:, owner[:, None], owner])
        self._nodes = np.exp(emissions - _find_top(emissions, 1))
        self._links = np.exp(steps - _find_top(steps, (1, 2)))
        self._own = np.eye(int(owner.max()) + 1)[owner].T  # (L, H): 1 for the states of a label
        self._rest = self._find_rest()

    def _find_rest(self) -> Floats:
        rest: Floats = np.ones(self._nodes.shape)
        for t in range(len(rest) - 2, -1, -1):
            worth = self._links[t] * (self._nodes[t + 1] * rest[t + 1])
            rest[t] = (worth @ self._own.T).max(axis=1)
        return rest

    def list_prefixes(self, answer: list[int] | None) -> list[list[int]]:
        """Return the prefixes that have to be expanded, each after the one it extends."""
        length = len(self._nodes)
        limit = 0.0 if answer is None else self._sum_up(answer) * (1 - TIE)
        prefixes: list[list[int]] = []
        waiting: list[tuple[list[int], Floats | None]] = [([], None)] if length else []
        while waiting:
            prefix, ending = waiting.pop()
            prefixes.append(prefix)
            if len(prefixes) > MOST_PREFIXES:
                raise CertificateError(
                    f"no certificate of at most {MOST_PREFIXES:,} prefixes of labels was found"
                )
            t = len(prefix)
            reached = self._nodes[t] if ending is None else (ending @ self._links[t - 1]) * self._nodes[t]
            worth = self._own @ (reached * self._rest[t])
            if t + 1 < length:
                waiting += [
                    ([*prefix, z], reached * self._own[z]) for z in np.flatnonzero(worth > limit).tolist()
                ]
        return prefixes

    def _sum_up(self, labels: list[int]) -> float:
        ending = self._nodes[0] * self._own[labels[0]] if labels else np.ones(1)
        for t, label in enumerate(labels[1:], 1):
            ending = (ending @ self._links[t - 1]) * self._nodes[t] * self._own[label]
        return float(ending.sum())


def _find_top(scores: Floats, axes: int | tuple[int, ...]) -> Floats:
    """Return what to subtract so that the largest exponential is 1."""
    top: Floats = scores.max(axis=axes, keepdims=True, initial=-np.inf)
    return np.where(np.isfinite(top), top, 0.0)
