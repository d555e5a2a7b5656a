"""What solutions say of themselves."""

from __future__ import annotations

import math

import numpy as np
import pytest

import certus
from certus.annotation.tagging import Tagging
from certus.solution import KBest, Solution, Status, conclude


def test_ranks_of_lists_made_of_arrays() -> None:
    emissions = np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 1.0]])
    several = certus.Chain(np.array([[0.5, -1.0], [0.0, 0.5]])).decode(emissions, k=3)
    assert [one.rank for one in several] == [1, 2, 3]
    assert [one.rank for one in several[1:]] == [2, 3]
    assert several[-1].rank == 3
    assert several[0].claim == "proven: no structure scores more"
    assert several[1].claim == "proven: no structure scores more, but for rank 1"
    assert several[2].claim == "proven: no structure scores more, but for ranks 1 to 2"
    assert "rank" not in repr(several[0])
    assert "rank=2" in repr(several[1])


def test_claims_of_what_is_not_proven() -> None:
    several = KBest([Tagging(["A"], 2.0, 3.5, Status.FEASIBLE), Tagging(["B"], 1.0, 3.5, Status.FEASIBLE)])
    assert several[0].claim == "not proven: no label sequence scores more than 3.5"
    assert several[1].claim == "not proven: no label sequence scores more than 3.5, but for rank 1"
    assert "rank=2" in repr(several[1])
    unknown = Solution("x", 2.0, math.inf, Status.FEASIBLE)
    assert unknown.claim == "not proven: it is not known how much any other structure scores"
    nothing = Solution("x", -math.inf, -math.inf, Status.INFEASIBLE)
    assert nothing.claim == "proven: no structure is possible"


@pytest.mark.parametrize(
    ("score", "bound", "allowance", "expected"),
    [
        (2.0, 2.0, 0.0, (Status.OPTIMAL, 2.0)),
        (2.0, 1.0, 0.0, (Status.OPTIMAL, 2.0)),
        (2.0, 2.5, 0.0, (Status.NODES, 2.5)),
        (2.0, 2.5, 0.5, (Status.OPTIMAL, 2.0)),
        (2.0, 2.5, 0.25, (Status.NODES, 2.5)),
        (2.0, math.inf, 1e300, (Status.NODES, math.inf)),
        (-math.inf, 2.5, 1.0, (Status.NODES, 2.5)),
        (-math.inf, math.inf, 0.0, (Status.NODES, math.inf)),
        (-math.inf, -math.inf, 0.0, (Status.INFEASIBLE, -math.inf)),
    ],
)
def test_score_and_bound_decide_what_is_proven(
    score: float, bound: float, allowance: float, expected: tuple[Status, float]
) -> None:
    assert conclude(score, bound, Status.NODES, allowance=allowance) == expected


def test_an_optimal_answer_has_its_score_for_a_bound() -> None:
    assert Solution("x", 2.0, 2.0, Status.OPTIMAL).optimal
    for bound in (1.0, 3.0, math.nan):
        with pytest.raises(ValueError, match="optimal answer"):
            Solution("x", 2.0, bound, Status.OPTIMAL)
