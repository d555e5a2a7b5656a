"""Scores of one's own: what they may be, and what is refused."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import certus
from certus.align import Agreement, align_matrix

SCORES = [[0.9, 0.1, 0.0], [0.2, 0.8, 0.1]]


def test_one_matrix() -> None:
    found = align_matrix(SCORES, null=0.3)
    assert found.links == ((0, 0), (1, 1))
    assert str(found) == "0-0 1-1"
    assert found.score == pytest.approx(0.9 + 0.9 + 0.8 + 0.8 + 0.3)
    assert found.optimal
    assert found.bound == found.score
    assert found.stats["iterations"] >= 1
    assert repr(found) == "Alignment('0-0 1-1', score=3.7, optimal)"


def test_types_and_layouts() -> None:
    expected = align_matrix(SCORES, null=0.3)
    wide = np.zeros((2, 6))
    wide[:, ::2] = SCORES
    before = wide.copy()
    for scores in (np.array(SCORES), np.array(SCORES).T.copy().T, wide[:, ::2]):
        found = align_matrix(scores, null=0.3)
        assert (found.links, found.score) == (expected.links, expected.score)
    assert (wide == before).all()
    assert align_matrix(np.array(SCORES, np.float32), null=0.3).links == expected.links
    assert align_matrix([[3, 0], [0, 2]], null=1).links == ((0, 0), (1, 1))


def test_empty() -> None:
    for shape in ((0, 0), (0, 3), (3, 0)):
        found = align_matrix(np.zeros(shape), null=-1.0)
        assert found.links == ()
        assert found.score == -float(sum(shape)) == found.bound


def test_forbidden() -> None:
    never = np.full((2, 2), -np.inf)
    assert align_matrix(never).links == ()
    with pytest.raises(certus.Infeasible, match="no pair of alignments"):
        align_matrix(never, null=-np.inf)
    assert align_matrix(never, null=-np.inf, infeasible="return").status is certus.Status.INFEASIBLE


def test_more_than_one_link_per_word() -> None:
    """Adjacent agreement lets two source words share a target word."""
    scores = np.array([[2.0], [1.9]])
    assert align_matrix(scores, null=0.0).links == ((0, 0),)
    assert align_matrix(scores, null=0.0, agreement=Agreement(adjacent=-0.5)).links == ((0, 0), (1, 0))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"forward": [[np.nan]]}, "forward[0, 0] is nan"),
        ({"forward": [[np.inf]]}, "forward[0, 0] is inf"),
        ({"forward": [1.0]}, "two dimensions"),
        ({"forward": [[1e300]]}, "scale them down"),
        ({"backward": [[1.0]]}, "backward (1, 1)"),
        ({"null": ([0.0], [0.0, 0.0])}, "must be a number, or have shape (3,)"),
        ({"null": np.nan}, "is nan"),
        ({"agreement": "some"}, "there is no agreement 'some'"),
        ({"forward_steps": [[0.0]]}, "must have shape (3, 3)"),
        ({"max_iterations": 0}, "max_iterations"),
        ({"seconds": -1}, "seconds is -1"),
        ({"infeasible": "maybe"}, "infeasible"),
    ],
)
def test_refusals(given: dict[str, Any], message: str) -> None:
    with pytest.raises(certus.InvalidInput, match=re.escape(message)):
        align_matrix(**{"forward": SCORES, **given})


def test_prices_do_not_reward() -> None:
    with pytest.raises(certus.InvalidInput, match="adjacent is 1"):
        Agreement(adjacent=1.0)
