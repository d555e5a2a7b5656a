"""How good links are: precision, recall, F1 and alignment error rate (Och & Ney 2003, §6)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

import numpy as np

from certus.errors import InvalidInput
from certus.formats.pharaoh import GoldLinks

TRIALS = 10_000


@dataclass
class LinkReport:
    """Counts of links, for each sentence pair and together.

    Attributes:
        counts: per pair: predicted links, those that are possible, those that are sure, and sure gold links.
    """

    counts: list[tuple[int, int, int, int]] = field(default_factory=list)

    def add(self, gold: GoldLinks, predicted: frozenset[tuple[int, int]]) -> None:
        """Count a pair."""
        self.counts.append(
            (
                len(predicted),
                len(predicted & gold.possible),
                len(predicted & gold.sure),
                len(gold.sure),
            )
        )

    @property
    def totals(self) -> tuple[int, int, int, int]:
        """The counts of all pairs together."""
        totals = np.array(self.counts, np.int64).reshape(-1, 4).sum(0)
        return tuple(totals.tolist())

    @property
    def precision(self) -> float:
        """How many of the predicted links are possible."""
        predicted, possible, _, _ = self.totals
        return possible / predicted if predicted else 1.0

    @property
    def recall(self) -> float:
        """How many of the sure links were predicted."""
        _, _, found, sure = self.totals
        return found / sure if sure else 1.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        p, r = self.precision, self.recall
        return 2 * p * r / (p + r) if p + r else 0.0

    @property
    def aer(self) -> float:
        """The alignment error rate: 1 - (sure found + possible found) / (predicted + sure)."""
        return float(_compute_aer(np.array(self.totals)))

    def as_dict(self) -> dict[str, Any]:
        """Return all figures."""
        predicted, possible, found, sure = self.totals
        return {
            "pairs": len(self.counts),
            "aer": self.aer,
            "precision": self.precision,
            "recall": self.recall,
            "f1": self.f1,
            "predicted": predicted,
            "predicted_possible": possible,
            "predicted_sure": found,
            "sure": sure,
        }


def compare_links(gold: Iterable[GoldLinks], predicted: Iterable[GoldLinks]) -> LinkReport:
    """Count how many predicted links are sure and possible ones.

    Raises:
        InvalidInput: there are not as many pairs of both.
    """
    report = LinkReport()
    for number, (right, guess) in enumerate(zip_longest(gold, predicted), 1):
        if right is None or guess is None:
            which = "predicted" if guess is None else "gold"
            raise InvalidInput(f"there is no {which} line {number}: both files need a line for each pair")
        report.add(right, guess.possible)
    if not report.counts:
        raise InvalidInput("there is no sentence pair to evaluate")
    return report


@dataclass(frozen=True)
class AerDifference:
    """The difference of two AERs by paired bootstrap over sentence pairs.

    Attributes:
        difference: the first less the second.
        low: the interval that holds 95 % of the resampled differences.
        high: see ``low``.
        p: the share of samples in which the difference has the other sign, doubled; at most 1.
    """

    difference: float
    low: float
    high: float
    p: float


def compare_reports(first: LinkReport, second: LinkReport, *, seed: int = 1) -> AerDifference:
    """Return the difference of two predictions for the same pairs, with its interval."""
    a, b = np.array(first.counts), np.array(second.counts)
    if a.shape != b.shape:
        raise InvalidInput(f"one prediction has {len(a)} pairs, the other {len(b)}")
    difference = float(_compute_aer(a.sum(0)) - _compute_aer(b.sum(0)))
    samples = np.random.default_rng(seed).multinomial(len(a), np.full(len(a), 1 / len(a)), TRIALS)
    found = _compute_aer(samples @ a) - _compute_aer(samples @ b)
    low, high = np.quantile(found, [0.025, 0.975])
    worse = float(np.mean(found >= 0 if difference < 0 else found <= 0))
    return AerDifference(difference, float(low), float(high), min(1.0, 2 * worse))


def _compute_aer(counts: Any) -> Any:
    predicted, possible, found, sure = np.moveaxis(counts, -1, 0)
    both = predicted + sure
    return np.where(both > 0, 1 - (found + possible) / np.maximum(both, 1), 0.0)
