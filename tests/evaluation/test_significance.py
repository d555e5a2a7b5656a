"""Approximate randomisation, against all swaps written out."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from certus.errors import InvalidInput
from certus.evaluation import F1, Accuracy, EvaluationReport, Share, SpanReport, measure_differences


def accuracy(counts: list[int], tokens: int = 10) -> EvaluationReport:
    row = Accuracy("upos", Share(sum(counts), tokens * len(counts)), by_sentence=counts)
    return EvaluationReport(len(counts), tokens * len(counts), {"upos": row})


def chunks(counts: list[tuple[int, int]], gold: int) -> EvaluationReport:
    total = F1(sum(c for c, _ in counts), sum(p for _, p in counts), gold)
    return EvaluationReport(len(counts), 10, {}, {"chunk": SpanReport("chunk", total, {}, counts)})


def test_accuracy_against_all_swaps() -> None:
    one, two = [9, 8, 7, 9, 10, 6, 8], [7, 8, 6, 9, 7, 7, 5]
    found = measure_differences(accuracy(one), accuracy(two), trials=40_000)[0]
    gaps = [abs(sum(s * (a - b) for s, a, b in zip(signs, one, two, strict=True)))
            for signs in product((1, -1), repeat=7)]  # fmt: skip
    exact = float(np.mean(np.array(gaps) >= sum(one) - sum(two)))
    assert found.p == pytest.approx(exact, abs=0.01)
    assert found.difference == pytest.approx((sum(one) - sum(two)) / 70)


def f1(counts: list[tuple[int, int]], gold: int) -> float:
    return 2 * sum(c for c, _ in counts) / (sum(p for _, p in counts) + gold)


def test_f1_against_all_swaps() -> None:
    one, two, gold = [(3, 4), (2, 2), (1, 3), (4, 5), (2, 4)], [(1, 4), (2, 3), (1, 1), (3, 5), (0, 2)], 15
    found = measure_differences(chunks(one, gold), chunks(two, gold), trials=40_000)[0]
    observed = abs(f1(one, gold) - f1(two, gold))
    large = []
    for mask in product((False, True), repeat=5):
        pairs = [(b, a) if swap else (a, b) for swap, a, b in zip(mask, one, two, strict=True)]
        gap = abs(f1([a for a, _ in pairs], gold) - f1([b for _, b in pairs], gold))
        large.append(gap >= observed - 1e-12)
    assert found.name == "chunk F1"
    assert found.p == pytest.approx(float(np.mean(large)), abs=0.01)


def test_equal_systems_do_not_differ() -> None:
    assert measure_differences(accuracy([5, 6]), accuracy([5, 6]), trials=100)[0].p == 1.0


def test_a_clear_difference_is_seen() -> None:
    assert measure_differences(accuracy([9] * 40), accuracy([5] * 40))[0].p < 0.001


def test_the_seed_decides() -> None:
    one, two = accuracy([9, 8, 7, 5, 9]), accuracy([8, 8, 8, 4, 7])
    assert measure_differences(one, two, seed=3) == measure_differences(one, two, seed=3)
    assert measure_differences(one, two, seed=3) != measure_differences(one, two, seed=4)


def test_many_sentences_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = accuracy([9, 8, 7, 5, 9]), accuracy([8, 8, 8, 4, 7])
    whole = measure_differences(one, two, trials=20_000)[0].p
    monkeypatch.setattr("certus.evaluation.significance._CELLS", 7)
    assert measure_differences(one, two, trials=20_000)[0].p == pytest.approx(whole, abs=0.02)


def test_reports_about_different_files() -> None:
    with pytest.raises(InvalidInput, match="different files"):
        measure_differences(accuracy([1]), accuracy([1, 2]))
