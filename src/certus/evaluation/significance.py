"""Whether two predictions of the same text differ by more than chance.

Approximate randomisation (Yeh 2000, "More accurate tests for the statistical significance of result
differences", COLING): if the two systems were equal, it would not matter which of them an answer came from.
Swap their answers for each sentence by the toss of a coin, many times, and see how often the difference
becomes as large as it is. Sentences are swapped whole, since tokens of a sentence depend on one another.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from certus.errors import InvalidInput
from certus.evaluation.report import EvaluationReport

_CELLS = 2_000_000  # tosses held at a time

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Difference:
    """Two systems by one measure.

    Attributes:
        name: an accuracy of the reports, or a span column followed by " F1".
        first: what the first reaches.
        second: what the second reaches.
        p: how often chance alone makes a difference as large as this.
    """

    name: str
    first: float
    second: float
    p: float

    @property
    def difference(self) -> float:
        """How much better the first is."""
        return self.first - self.second


def measure_differences(
    first: EvaluationReport, second: EvaluationReport, *, trials: int = 10_000, seed: int = 0
) -> list[Difference]:
    """Compare two systems by every measure that both reports have.

    Args:
        first: a system compared with the gold file.
        second: another, compared with the same file.
        trials: how many times answers are swapped; the smallest p is 1 / (trials + 1).
        seed: of the coin.
    """
    if (first.sentences, first.tokens) != (second.sentences, second.tokens):
        raise InvalidInput("the two reports are about different files; compare both with the same gold file")
    if not (first.has_same_words and second.has_same_words):
        raise InvalidInput(
            "differences are tested token by token: both predictions must have the words of the gold file"
        )
    found = []
    for name, one in first.accuracies.items():
        if other := second.accuracies.get(name):
            p = _estimate_p(
                _as_column(one.by_sentence), _as_column(other.by_sentence), _get_total, trials, seed
            )
            found.append(Difference(name, one.accuracy, other.accuracy, p))
    for name, spans in first.spans.items():
        if against := second.spans.get(name):
            gold = spans.total.gold

            def compute_f1(counts: Array, gold: int = gold) -> Array:
                return 2 * counts[:, 0] / np.maximum(counts[:, 1] + gold, 1)

            p = _estimate_p(
                _as_column(spans.by_sentence), _as_column(against.by_sentence), compute_f1, trials, seed
            )
            found.append(Difference(f"{name} F1", spans.total.f1, against.total.f1, p))
    return found


def _as_column(counts: list[int] | list[tuple[int, int]]) -> Array:
    return np.asarray(counts, np.float64).reshape(len(counts), -1)


def _get_total(counts: Array) -> Array:
    return counts[:, 0]


def _estimate_p(
    first: Array, second: Array, measure: Callable[[Array], Array], trials: int, seed: int
) -> float:
    """Return the share of swaps that make a difference as large.

    Args:
        first: (S, c) counts of each sentence.
        second: (S, c) likewise.
        measure: makes (n,) figures of (n, c) counts.
        trials: the number of swaps.
        seed: of the coin.
    """
    sums = first.sum(0), second.sum(0)
    delta = second - first
    delta = delta[delta.any(1)]  # swapping what is equal changes nothing
    observed = abs(measure(sums[0][None]) - measure(sums[1][None]))[0]
    coin = np.random.default_rng(seed)
    block = max(1, _CELLS // max(1, len(delta)))
    as_large = 0
    for done in range(0, trials, block):
        tosses = coin.integers(0, 2, (min(block, trials - done), len(delta)), np.int8)
        moved = tosses.astype(np.float64) @ delta
        swapped = abs(measure(sums[0] + moved) - measure(sums[1] - moved))
        as_large += int((swapped >= observed - 1e-12).sum())
    return (as_large + 1) / (trials + 1)
