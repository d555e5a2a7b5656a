"""Factor graphs against enumeration: tables and constraints, ties, forbidden states, nothing allowed."""

from __future__ import annotations

import itertools
import os

import numpy as np
import pytest

from certus.errors import Infeasible, InvalidInput
from certus.relax import FactorGraph, Literal, Variable, factor_graph
from certus.solution import Status

PROBLEMS = int(os.environ.get("CERTUS_PROBLEMS", 2000))
Rng = np.random.Generator


def draw_literals(rng: Rng, graph: FactorGraph, most: int) -> list[Literal]:
    """Some literals, each of another variable."""
    chosen = rng.permutation(len(graph.variables))[: int(rng.integers(1, most + 1))]
    literals = []
    for v in (graph.variables[int(i)] for i in chosen):
        literal = v[int(rng.integers(v.states))]
        literals.append(~literal if rng.random() < 0.3 else literal)
    return literals


def draw_scores(rng: Rng, shape: tuple[int, ...]) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    scores = rng.integers(-5, 6, shape).astype(np.float64)
    if rng.random() < 0.3:
        scores[rng.random(shape) < 0.2] = -np.inf
    return scores


def add_factor(rng: Rng, graph: FactorGraph) -> None:
    kind = rng.integers(6)
    if kind <= 2:
        count = int(rng.integers(1, 4))
        variables = [graph.variables[int(i)] for i in rng.permutation(len(graph.variables))[:count]]
        graph.add_table(variables, draw_scores(rng, tuple(v.states for v in variables)))
        return
    literals = draw_literals(rng, graph, 5)
    if kind == 3:
        least = int(rng.integers(0, 2))
        graph.add_count(literals, least=least, most=int(rng.integers(least, len(literals) + 1)))
    elif kind == 4 and len(literals) > 1:
        graph.add_or_output(literals[:-1], literals[-1])
    else:
        weights = [int(w) for w in rng.integers(0, 4, len(literals))]
        graph.add_knapsack(literals, weights, int(rng.integers(0, 6)))


def draw_graph(seed: int) -> FactorGraph:
    rng = np.random.default_rng(seed)
    graph = FactorGraph()
    for _ in range(int(rng.integers(1, 7))):
        if rng.random() < 0.5:
            graph.add_binary(float(rng.integers(-4, 5)))
        else:
            graph.add_variable(draw_scores(rng, (int(rng.integers(1, 4)),)))
    for _ in range(int(rng.integers(0, 9))):
        add_factor(rng, graph)
    return graph


def enumerate_best(graph: FactorGraph) -> float:
    every = itertools.product(*(range(v.states) for v in graph.variables))
    return max(graph.score(np.array(states, np.int64)) for states in every)


@pytest.mark.parametrize("narrow", [True, False])
def test_the_best_assignment_is_found(narrow: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """By dynamic programming, and by the search as if that took too much room."""
    if not narrow:
        monkeypatch.setattr(factor_graph, "AT_ONCE", 0)
    feasible = 0
    for seed in range(PROBLEMS):
        graph = draw_graph(seed)
        best = enumerate_best(graph)
        found = graph.solve(infeasible="return")
        if best == -np.inf:
            assert found.status is Status.INFEASIBLE, seed
            continue
        feasible += 1
        assert found.status is Status.OPTIMAL, seed
        assert found.score == found.bound == best == graph.score(found.value), seed
    assert feasible > PROBLEMS // 3


def make_grid(side: int, states: int, seed: int, pull: float | None) -> tuple[FactorGraph, float]:
    """A grid whose neighbours like to be equal, by ``pull`` or at random; and its optimum, row by row."""
    rng = np.random.default_rng(seed)
    graph = FactorGraph()
    scores = rng.normal(size=(side, side, states))
    across, down = (np.full((side, side), pull) if pull else rng.normal(size=(side, side)) for _ in range(2))
    cells = [[graph.add_variable(scores[r, c]) for c in range(side)] for r in range(side)]
    for r, c in itertools.product(range(side), range(side)):
        if c + 1 < side:
            graph.add_table([cells[r][c], cells[r][c + 1]], np.eye(states) * across[r, c])
        if r + 1 < side:
            graph.add_table([cells[r][c], cells[r + 1][c]], np.eye(states) * down[r, c])
    rows = np.array(list(itertools.product(range(states), repeat=side)))  # every way to fill a row
    best = np.zeros(len(rows))
    for r in range(side):
        own = scores[r][np.arange(side), rows].sum(axis=1)
        own += ((rows[:, 1:] == rows[:, :-1]) * across[r, :-1]).sum(axis=1)
        if r:
            same = (rows[:, None] == rows[None]) @ down[r - 1]  # [above, here]
            best = (best[:, None] + same).max(axis=0)
        best = best + own
    return graph, float(best.max())


@pytest.mark.parametrize("pull", [0.7, None])
def test_grids_against_row_by_row(pull: float | None) -> None:
    for seed in range(6):
        graph, best = make_grid(5, 3, seed, pull)
        found = graph.solve()
        assert found.optimal
        assert found.score == pytest.approx(best, abs=1e-9)
        assert found.score == pytest.approx(graph.score(found.value), abs=1e-9)


def draw_clauses(rng: np.random.Generator, words: int, roles: int) -> FactorGraph:
    """Words have one role at most, some roles one word; neighbours exclude each other; six words have one."""
    graph = FactorGraph()
    cells = [[graph.add_binary(score) for score in rng.normal(-0.8, 1.5, roles)] for _ in range(words)]
    for word in cells:
        graph.add_at_most_one(word)
    for role in range(5):
        graph.add_at_most_one([word[role] for word in cells])
    for word, after in itertools.pairwise(cells):
        for role in range(roles):
            graph.add_or([~word[role], ~after[(role + 1) % roles]])
    graph.add_count([cell for word in cells for cell in word], most=6)
    return graph


def test_sweeps_that_get_stuck_go_on_as_steps() -> None:
    """A count of all cells gives each of them only a share: sweeps alone need thousands of branches."""
    for seed in range(10):
        graph = draw_clauses(np.random.default_rng(seed), words=12, roles=8)
        best = graph.solve(max_nodes=20)
        assert best.optimal
        assert best.score == pytest.approx(graph.solve(optimizer="descent").score)


def test_limits_leave_an_honest_bound() -> None:
    graph, best = make_grid(5, 3, 1, None)
    for found in (graph.solve(seconds=1e-5), graph.solve(max_nodes=1)):
        assert found.score - 1e-9 <= best <= found.bound + 1e-9


def test_what_cannot_be_meant_is_refused() -> None:
    graph = FactorGraph()
    a, b = graph.add_variable([0.0, 1.0, 2.0]), graph.add_binary()
    other: Variable = FactorGraph().add_binary()
    for call, words in (
        (lambda: graph.add_table([a, b], np.zeros((2, 2))), r"shape \(3, 2\), not \(2, 2\)"),
        (lambda: graph.add_table([a, a], np.zeros((3, 3))), "twice"),
        (lambda: graph.add_or([a]), r"variable\[state\]"),
        (lambda: graph.add_or([b, ~b]), "twice"),
        (lambda: graph.add_or([]), "at least one literal"),
        (lambda: graph.add_table([other], np.zeros(2)), "not a variable of this factor graph"),
        (lambda: a[3], "go from 0 to 2"),
        (lambda: graph.add_variable([np.nan]), "NaN"),
        (lambda: graph.add_knapsack([b], [-1], 3), "weight"),
        (lambda: FactorGraph().solve(), "nothing to solve"),
    ):
        with pytest.raises(InvalidInput, match=words):
            call()
    graph.add_or([b])
    graph.add_or([~b])
    with pytest.raises(Infeasible, match="no assignment"):
        graph.solve()
