"""A* where its bounds are far larger than the scores of the best path."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import certus


@pytest.mark.parametrize(("method", "k"), [("astar", 1), ("kbest-astar", 1), ("kbest-astar", 3)])
def test_large_bounds_hide_no_path(method: str, k: int) -> None:
    """Labels that are not allowed make bounds of 1e165, beside which starts of 1e142 vanish."""
    transitions = np.zeros((4, 4))
    transitions[2, 3] = 9e165
    transitions[0, 2] = 1e142
    start = np.array([0.0, 0.0, 0.0, 8e142])
    emissions = np.zeros((3, 4))
    emissions[1, 3] = -1e225
    allowed = np.ones((3, 4), bool)
    allowed[0, 1] = allowed[1, 1] = allowed[1, 2] = False
    chain = certus.Chain(transitions, start=start)
    wanted = chain.decode(emissions, allowed=allowed, method="viterbi")
    found: Any = chain.decode(emissions, allowed=allowed, method=method, k=k)
    best = found if k == 1 else found[0]
    assert best.score == wanted.score == 8e142 + 1e142
    assert best.labels.tolist() == wanted.labels.tolist()
