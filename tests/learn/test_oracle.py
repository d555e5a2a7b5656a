"""A pruned CRF whose pruning never drops what is annotated."""

from __future__ import annotations

import numpy as np
import pytest

from tests.learn.problems import Problem


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("seed", range(10))
def test_nothing_that_is_annotated_is_lost(order: int, seed: int) -> None:
    """With one label kept, pruning drops a good part of random labels, but not with the oracle."""
    updates = {}
    for keep in (False, True):
        problem = Problem(seed, order, labels=6)
        words = [problem.sentence(1, 6) for _ in range(40)]
        gold = [problem.rng.integers(0, 6, len(sentence)).tolist() for sentence in words]
        learner = problem.learner(problem.corpus(words, gold), wanted=[1.0, 1.0, 1.0, 1.0])
        learner.keep_gold = keep
        for epoch in range(5):
            report = learner.epoch(np.random.default_rng(epoch).permutation(41))
        updates[keep] = report.updates
    assert len(updates[True]) == order + 2
    assert sum(updates[False][:-1]) > 0
    assert sum(updates[True][:-1]) == 0
    assert updates[True][-1] == sum(updates[False]) == 41
