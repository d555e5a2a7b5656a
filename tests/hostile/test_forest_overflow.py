"""Sums beyond the range of doubles are refused, wherever in a forest they occur."""

from __future__ import annotations

import numpy as np
import pytest

from certus.errors import InvalidInput
from certus.hypergraph import Hypergraph


def test_a_sum_that_overflows_below_the_goal_is_refused() -> None:
    graph = Hypergraph([0, 1, 2, 2], [0, 0, 1, 2, 2], [0, 1], 2)
    scores = np.array([-1.5e308, -1.5e308, 1.6e308, -1.7e308])  # -1.4e308, but not from below; and -1.7e308
    for ask in (graph.decode, graph.max_marginals, graph.log_partition, lambda x: graph.decode(x, k=2)):
        with pytest.raises(InvalidInput, match="beyond the range of float64"):
            ask(scores)
    assert graph.decode(0.1 * scores).score == pytest.approx(-1.4e307)


def test_huge_scores_that_add_up_are_taken() -> None:
    graph = Hypergraph([0, 1, 2, 2], [0, 0, 1, 2, 2], [0, 1], 2)
    assert graph.decode(np.array([1e308, -np.inf, 0.0, -1e308])).score == -1e308
    assert graph.decode(np.array([4e307, 4e307, 4e307, -1e308])).score == pytest.approx(1.2e308)


def test_a_sum_that_overflows_beside_what_cannot_be_derived_is_refused() -> None:
    graph = Hypergraph([0, 2, 3, 3, 1], [0, 0, 0, 0, 3, 3], [0, 2, 1], 3)
    largest = np.finfo(np.float64).max
    scores = np.array([largest, largest, largest, largest, -np.inf])  # over 0, 2 and 1: no number
    for ask in (graph.decode, graph.max_marginals, graph.log_partition, lambda x: graph.decode(x, k=2)):
        with pytest.raises(InvalidInput, match="beyond the range of float64"):
            ask(scores)
