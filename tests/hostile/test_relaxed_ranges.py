"""Decompositions whose scores differ by many orders of magnitude: no false infeasible, no overflow."""

from __future__ import annotations

import numpy as np
import pytest

from certus import InvalidInput, Status
from tests.reference.relax import CompletingPart, ListedPart
from tests.relax.problems import Joint

OPTIMIZERS = ["auto", "bundle", "subgradient"]
CELLS = np.arange(4)


def make_joint(*parts: tuple[list[float], list[str]], kind: type[ListedPart] = CompletingPart) -> Joint:
    """Make parts that agree in two rows of two cells; a structure is written as the cell of each row."""
    made = []
    for scores, structures in parts:
        indicators = np.zeros((len(structures), 2, 2), np.int8)
        for number, cells in enumerate(structures):
            indicators[number, [0, 1], [int(cell) for cell in cells]] = 1
        made.append(kind(scores, {"t": indicators}))
    return Joint(made, [[(p, "t", CELLS) for p in range(len(made))]], [1.0] * len(made))


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("penalty", [1e6, 1e7, 1e9, 1e15, 1e100])
def test_large_penalties_are_not_infeasible(penalty: float, optimizer: str) -> None:
    joint = make_joint(
        ([0.0, -penalty], ["10", "00"]), ([0.0, 0.0, 0.0], ["01", "01", "00"]), ([0.0, 0.0], ["01", "00"])
    )
    found = joint.decomposition()[0].solve(optimizer=optimizer, infeasible="return")
    assert (found.status, found.score) == (Status.OPTIMAL, -penalty)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("unit", [1e-39, 1e-19, 1.0])
def test_small_scores_are_not_lost_beside_multipliers(unit: float, optimizer: str) -> None:
    joint = make_joint(
        ([-unit, -unit], ["11", "00"]), ([0.0, -unit, -unit, 0.0], ["01", "00", "00", "00"]), kind=ListedPart
    )
    found = joint.decomposition()[0].solve(optimizer=optimizer)
    assert (found.status, found.score) == (Status.OPTIMAL, -unit)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_parts_that_cannot_agree_do_not_overflow(optimizer: str) -> None:
    far = -4.8792952627837516e238
    joint = make_joint(([far, far], ["10", "10"]), ([far, far], ["00", "01"]), kind=ListedPart)
    found = joint.decomposition()[0].solve(
        optimizer=optimizer, infeasible="return", max_iterations=60, seconds=5
    )
    assert not found.value
    assert not found.optimal


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_scores_beyond_the_range_are_refused_when_they_appear(optimizer: str) -> None:
    joint = make_joint(([-1.0, 5.0], ["01", "10"]), ([-2.8e306, -1.0, -2.8e306], ["01", "11", "10"]))
    with pytest.raises(InvalidInput, match="down"):
        joint.decomposition()[0].solve(optimizer=optimizer)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_scores_too_small_for_multipliers_are_refused(optimizer: str) -> None:
    tiny = 2.225073858507202e-308
    joint = make_joint(
        ([tiny, tiny, tiny], ["00", "11", "01"]),
        ([0.0, tiny, tiny, -5e-324], ["00", "11", "01", "01"]),
        ([1.5e-323, tiny], ["00", "01"]),
    )
    with pytest.raises(InvalidInput, match="scale them up"):
        joint.decomposition()[0].solve(optimizer=optimizer)


def test_scores_too_small_that_appear_late_are_not_lost() -> None:
    joint = make_joint(([-5e-324, 0.0, 0.0], ["00", "01", "00"]), ([0.0], ["00"]), kind=ListedPart)
    found = joint.decomposition()[0].solve()
    assert found.score <= 0.0 <= found.bound
    assert found.optimal == (found.score == found.bound)
