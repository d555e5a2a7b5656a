"""Factor graphs and decompositions whose scores differ by many orders of magnitude, against enumeration."""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Sequence

import numpy as np
import pytest

from certus.relax import OPTIMIZERS, Decomposition, FactorGraph, Handle, Literal
from certus.relax.parts import Or, OrOutput
from certus.solution import Status

PROBLEMS = int(os.environ.get("CERTUS_PROBLEMS", 2000)) // 4
ROUNDING = 1e-10  # of the magnitudes: more than float64 sums lose, less than a wrong answer does
Rng = np.random.Generator
Terms = list[float]


def draw_score(rng: Rng, kind: str) -> float:
    if kind == "penalties":
        return float(rng.choice([0.0, rng.normal(), -1e4, 1e4 * rng.normal()]))
    if kind == "decades":
        return float(rng.integers(-8, 9) * 10.0 ** rng.choice([-3, 0, 0, 0, 3, 6, 9]))
    if kind == "small":
        return float(rng.normal()) * 1e-290
    return float(rng.normal() * 10.0 ** rng.choice([-300, -100, -20, -8, 0, 0, 8, 20, 100, 250]))


class Drawn:
    """A random graph, and its own account of what an assignment scores."""

    def __init__(self, rng: Rng, kind: str) -> None:
        self.graph = FactorGraph()
        self.states = [int(n) for n in rng.choice([1, 2, 2, 3], int(rng.integers(2, 6)))]
        self.scores = [[draw_score(rng, kind) for _ in range(n)] for n in self.states]
        self.variables = [self.graph.add_variable(scores) for scores in self.scores]
        self.tables: list[tuple[list[int], np.ndarray[tuple[int, ...], np.dtype[np.float64]]]] = []
        self.counts: list[tuple[list[tuple[int, int, bool]], int, int]] = []
        self.outputs: list[list[tuple[int, int, bool]]] = []
        for _ in range(int(rng.integers(1, 6))):
            self._add_factor(rng, kind)

    def _add_factor(self, rng: Rng, kind: str) -> None:
        if rng.random() < 0.5:
            chosen = [int(v) for v in rng.permutation(len(self.states))[: int(rng.integers(1, 4))]]
            table = np.array(
                [draw_score(rng, kind) for _ in range(math.prod(self.states[v] for v in chosen))]
            )
            table = table.reshape([self.states[v] for v in chosen])
            self.tables.append((chosen, table))
            self.graph.add_table([self.variables[v] for v in chosen], table)
            return
        cells = [(v, s) for v, count in enumerate(self.states) for s in range(count)]
        chosen_cells = [cells[int(i)] for i in rng.permutation(len(cells))[: int(rng.integers(2, 5))]]
        literals = [(v, s, bool(rng.random() < 0.3)) for v, s in chosen_cells]
        given = [self._make_literal(*literal) for literal in literals]
        if len(given) > 1 and rng.random() < 0.5:
            self.outputs.append(literals)
            self.graph.add_or_output(given[:-1], given[-1])
            return
        least = int(rng.integers(0, len(given) + 1))
        most = int(rng.integers(least, len(given) + 1))
        self.counts.append((literals, least, most))
        self.graph.add_count(given, least=least, most=most)

    def _make_literal(self, v: int, state: int, negated: bool) -> Literal:
        literal = self.variables[v][state]
        return ~literal if negated else literal

    def list_terms(self, states: Sequence[int]) -> Terms | None:
        """What an assignment adds up; None where it breaks a constraint."""

        def holds(literal: tuple[int, int, bool]) -> bool:
            v, state, negated = literal
            return (states[v] == state) != negated

        if any(not least <= sum(map(holds, given)) <= most for given, least, most in self.counts):
            return None
        if any(any(map(holds, given[:-1])) != holds(given[-1]) for given in self.outputs):
            return None
        own = [scores[state] for scores, state in zip(self.scores, states, strict=True)]
        return own + [float(table[tuple(states[v] for v in chosen)]) for chosen, table in self.tables]

    def find_best(self) -> Terms | None:
        every = (self.list_terms(states) for states in itertools.product(*map(range, self.states)))
        return max((terms for terms in every if terms is not None), key=math.fsum, default=None)


@pytest.mark.parametrize("kind", ["penalties", "decades", "small", "wild"])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_what_is_called_optimal_is_best_at_any_scale(optimizer: str, kind: str) -> None:
    rng = np.random.default_rng(7)
    proven = 0
    for number in range(PROBLEMS):
        drawn = Drawn(rng, kind)
        best = drawn.find_best()
        nodes = int(rng.integers(1, 6)) if number % 4 == 0 else None
        found = drawn.graph.solve(optimizer=optimizer, max_nodes=nodes, infeasible="return")
        if best is None:
            assert found.score == -math.inf
            assert not found.optimal
            continue
        assert found.status is not Status.INFEASIBLE
        optimum, size = math.fsum(best), math.fsum(map(abs, best))
        assert found.bound >= optimum - ROUNDING * size
        assert found.bound >= found.score
        if found.optimal:
            terms = drawn.list_terms(found.value.tolist())
            assert terms is not None
            size += math.fsum(map(abs, terms))
            assert math.fsum(terms) >= optimum - ROUNDING * size
            assert found.score == found.bound
            proven += 1
    assert proven > PROBLEMS // 2


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_an_answer_that_bounds_fix_is_taken(optimizer: str) -> None:
    """Bounds fix every variable before the parts were seen to agree."""
    graph = FactorGraph()
    a, b, c, d = (graph.add_variable(scores) for scores in ([0.75, 0], [0], [-4e6, -5e6], [1, 3]))
    graph.add_exactly_one([a[0], d[0]])
    graph.add_or_output([c[0], ~b[0]], d[1])
    found = graph.solve(optimizer=optimizer)
    assert found.optimal
    assert found.score == found.bound == 0.75 - 4e6 + 3


class DrawnParts:
    """Random constraints on cells that are on or off, and the scores of each."""

    def __init__(self, rng: Rng) -> None:
        self.cells = int(rng.integers(3, 7))
        self.parts: list[tuple[list[int], list[float], list[bool], bool]] = []
        for _ in range(int(rng.integers(2, 6))):
            cells = [int(c) for c in rng.permutation(self.cells)[: int(rng.integers(2, 5))]]
            scores = rng.integers(-5, 6, len(cells)) * 10.0 ** rng.choice([0, 0, 3, 6], len(cells))
            negated = (rng.random(len(cells)) < 0.3).tolist()
            self.parts.append((cells, scores.tolist(), negated, bool(rng.random() < 0.5)))

    def make_decomposition(self) -> Decomposition:
        whole = Decomposition()
        sides: dict[int, list[tuple[Handle, str, list[int]]]] = {}
        for cells, scores, negated, has_output in self.parts:
            handle = whole.add((OrOutput if has_output else Or)(scores, np.array(negated)))
            for place, cell in enumerate(cells):
                sides.setdefault(cell, []).append((handle, "cells", [place]))
        for shared in sides.values():
            if len(shared) > 1:
                whole.agree(*shared)
        return whole

    def find_optimum(self) -> float:
        best = -math.inf
        for on in itertools.product((False, True), repeat=self.cells):
            true = [[on[c] != n for c, n in zip(cells, neg, strict=True)] for cells, _, neg, _ in self.parts]
            held = [
                any(given[:-1]) == given[-1] if part[3] else any(given)
                for part, given in zip(self.parts, true, strict=True)
            ]
            if all(held):
                best = max(
                    best,
                    sum(
                        s
                        for cells, scores, *_ in self.parts
                        for c, s in zip(cells, scores, strict=True)
                        if on[c]
                    ),
                )
        return best


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_parts_that_bounds_make_agree_are_consistent(optimizer: str) -> None:
    rng = np.random.default_rng(4)
    for _ in range(4 * PROBLEMS):
        drawn = DrawnParts(rng)
        found = drawn.make_decomposition().solve(optimizer=optimizer, infeasible="return")
        optimum = drawn.find_optimum()
        assert found.status is (Status.OPTIMAL if optimum > -math.inf else Status.INFEASIBLE)
        assert found.score == found.bound == optimum
