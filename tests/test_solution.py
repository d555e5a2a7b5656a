"""What solutions say of themselves."""

from __future__ import annotations

import math

import numpy as np

import certus
from certus.annotation.tagging import Tagging
from certus.solution import KBest, Solution, Status


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
