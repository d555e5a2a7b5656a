"""Corpus problems by the kernels equal brute force, and their bounds hold on the way."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from certus import _native
from certus.chain import Chain
from certus.corpus import Iteration, Limits
from certus.corpus.solver import Clock, solve
from tests.corpus.problems import Loaded, load, problem
from tests.reference.corpus import Problem

SEEDS = range(8)
EACH = 150
TINY = 1e-9


def solved(made: Problem, limits: Limits) -> tuple[Loaded, list[Iteration], float, NDArray[np.int32]]:
    """Solve a problem: its field, its trace, the score and the labels."""
    loaded = load(made)
    trace = solve(loaded.field, limits, made.delta[0], loaded.base, lambda _: None, Clock(limits.seconds))
    labels, scores = loaded.labels.copy(), loaded.scores.copy()
    score = loaded.base + loaded.field.labels(labels, scores)
    return loaded, trace, score, labels


@pytest.mark.parametrize("seed", SEEDS)
def test_the_answer_equals_brute_force(seed: int, tally: list[int]) -> None:
    dice = np.random.default_rng(seed)
    for _ in range(EACH):
        made = problem(dice)
        loaded, trace, score, labels = solved(made, Limits())
        if not np.isfinite(loaded.base):
            continue
        best = made.best(loaded.labels)
        assert score == best == made.score(labels, loaded.labels)
        assert all(iteration.bound >= best - TINY for iteration in trace)
        assert (loaded.field.open_blocks, loaded.field.open_nodes) == (0, 0)
        assert loaded.field.bound() + loaded.base == pytest.approx(best, abs=TINY)
        assert not loaded.excess.any()
        tally.append(1)


@pytest.mark.parametrize("unit", [2.0**-100, 1e-9, 1e9])
def test_scores_of_any_size(unit: float) -> None:
    """What is proven is best at the scale of the scores, and small scores are proven like large ones."""
    dice = np.random.default_rng(500)
    for _ in range(EACH):
        made = problem(dice)
        emissions = (unit * (made.emissions + dice.normal(size=made.emissions.shape))).astype(np.float32)
        same, close, null = (unit * weight for weight in made.delta)
        transitions = (unit * made.transitions).astype(np.float32).astype(float)  # as lattices keep them
        delta = same, close, null
        made = replace(made, emissions=emissions, transitions=transitions, delta=delta)
        loaded, _, score, labels = solved(made, Limits())
        if not np.isfinite(loaded.base):
            continue
        best = made.best(loaded.labels)
        assert score == pytest.approx(best, rel=0, abs=1e-11 * unit)
        assert made.score(labels, loaded.labels) == pytest.approx(best, rel=0, abs=1e-11 * unit)
        assert (loaded.field.open_blocks, loaded.field.open_nodes) == (0, 0)


@pytest.mark.parametrize("seed", SEEDS[:3])
def test_bounds_hold_at_every_step(seed: int) -> None:
    dice = np.random.default_rng(100 + seed)
    for _ in range(EACH):
        made = problem(dice)
        loaded = load(made)
        if not np.isfinite(loaded.base):
            continue
        best, last = made.best(loaded.labels), np.inf
        for step in range(5):
            bound = loaded.field.bound() + loaded.base
            assert best - TINY <= bound <= last + TINY
            last = bound
            loaded.field.iterate(step % 3)
            assert loaded.field.bound() + loaded.base >= best - TINY
            loaded.field.certify()


@pytest.mark.parametrize("seed", SEEDS[:3])
def test_what_is_fixed_is_part_of_an_optimum(seed: int) -> None:
    """After a few iterations, the nodes fixed so far leave an optimum within reach: branching finds it."""
    dice = np.random.default_rng(200 + seed)
    for _ in range(EACH):
        made = problem(dice)
        loaded, _, score, _ = solved(made, Limits(max_iterations=int(dice.integers(0, 3)), branches=10_000))
        if np.isfinite(loaded.base):
            assert score == made.best(loaded.labels)


@pytest.mark.parametrize("seed", SEEDS[:3])
def test_lazy_is_as_good_as_eager(seed: int) -> None:
    dice = np.random.default_rng(300 + seed)
    for _ in range(EACH):
        made = problem(dice)
        answers = [solved(made, Limits(lazy=lazy)) for lazy in (True, False)]
        if np.isfinite(answers[0][0].base):
            assert answers[0][2] == answers[1][2]


@pytest.mark.parametrize("seed", SEEDS[:3])
def test_subgradient(seed: int) -> None:
    """Its certified answers equal brute force, its bounds hold, and lazy decoding changes nothing at all."""
    dice = np.random.default_rng(400 + seed)
    certified = 0
    for _ in range(EACH):
        made = problem(dice)
        limits: dict[str, Any] = {"method": "subgradient", "max_iterations": 60}
        loaded, trace, score, labels = solved(made, Limits(**limits))
        if not np.isfinite(loaded.base):
            continue
        best = made.best(loaded.labels)
        assert all(iteration.bound >= best - TINY for iteration in trace)
        assert score <= best
        assert score == made.score(labels, loaded.labels)
        if (loaded.field.open_blocks, loaded.field.open_nodes) == (0, 0):
            assert score == best
            certified += 1
        _, eager, other, _ = solved(made, Limits(lazy=False, **limits))
        assert [one.bound for one in trace] == [one.bound for one in eager]
        assert score == other
    assert certified > EACH / 2


def test_components_are_solved_apart() -> None:
    """Two sentences that share no node are two components; a node of one word alone is none."""
    emissions = np.array([[1, 0], [0, 2], [1, 0], [0, 2], [1, 0]], np.float32)
    nodes = np.array([0, 0, 1, 1, 2], np.int64)
    first = np.array([0, 2, 4, 5], np.int64)
    made = Problem(
        first, emissions, np.zeros((2, 2)), nodes, 3, (3.0, 0.0, 0.0), np.arange(2, dtype=np.int32)
    )
    loaded = load(made)
    components = loaded.field.components()
    blocks, count = components.blocks, components.nodes
    assert blocks.tolist() == [1, 1]
    assert count.tolist() == [1, 1]
    _, _, score, labels = solved(made, Limits())
    assert score == made.best(loaded.labels) == 2 + 6 + 2 + 6 + 1 + 3
    assert labels.tolist() == [1, 1, 1, 1, 0]


def test_a_node_is_turned_off() -> None:
    """Two words that would lose more by agreeing than it brings keep their labels for the bonus of none."""
    emissions = np.array([[5, 0], [0, 5]], np.float32)
    first = np.array([0, 1, 2], np.int64)
    groups = np.arange(2, dtype=np.int32)
    made = Problem(first, emissions, np.zeros((2, 2)), np.zeros(2, np.int64), 1, (3.0, 2.0, 2.0), groups)
    loaded, _, score, labels = solved(made, Limits())
    assert score == made.best(loaded.labels) == 5 + 5 + 2 + 2
    assert labels.tolist() == [0, 1]
    assert loaded.field.consensus().labels.tolist() == [2]


def test_observed_words_decide() -> None:
    """Words that are observed vote with the label of their sentence, and keep it."""
    emissions = np.array([[3, 0], [3, 0], [0, 1]], np.float32)
    first = np.array([0, 1, 2, 3], np.int64)
    nodes = np.array([-2, -2, 0], np.int64)
    groups = np.arange(2, dtype=np.int32)
    made = Problem(first, emissions, np.zeros((2, 2)), nodes, 1, (2.0, 0.0, 0.0), groups)
    loaded, _, score, labels = solved(made, Limits())
    assert labels.tolist() == [0, 0, 0]
    assert score == made.best(loaded.labels) == 3 + 3 + 0 + 3 * 2


def test_merging_nodes() -> None:
    emissions = np.array([[1, 0], [0, 3]], np.float32)
    model: Any = Chain(np.zeros((2, 2))).prepare(np.dtype(np.float64))
    lattices = _native.ChainLattices(model, np.array([0, 1, 2], np.int64), emissions)
    field = _native.Field(np.arange(2, dtype=np.int32), 2.0, 0.0, 0.0, 2)
    labels, scores, excess = np.zeros(2, np.int32), np.zeros(2), np.zeros(2)
    field.add(lattices, 0, 0, np.array([0, 1], np.int64), labels, scores, excess)
    field.merge(np.array([0, 0], np.int64))
    field.close()
    solve(field, Limits(), 2.0, float(scores.sum()), lambda _: None, Clock(None))
    assert field.labels(labels, scores) + 4.0 == 0 + 3 + 2 + 2
    assert labels.tolist() == [1, 1]


def test_limits_stop_it() -> None:
    dice = np.random.default_rng(5)
    for _ in range(50):
        made = problem(dice)
        loaded, trace, score, labels = solved(made, Limits(max_iterations=0, branches=0))
        if np.isfinite(loaded.base):
            assert trace == []
            assert score == made.score(labels, loaded.labels) <= loaded.field.bound() + loaded.base + TINY
        assert solved(made, Limits(seconds=0))[1] == []
