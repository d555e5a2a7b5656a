"""Random factor graphs of the kinds that people solve with AD3, HiGHS and CP-SAT."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from certus.relax import FactorGraph

Array = NDArray[np.float64]
Rng = np.random.Generator
Literals = list[tuple[int, bool]]  # of binary variables; True negates


@dataclass
class GraphProblem:
    """A factor graph, stated once for all solvers.

    Attributes:
        states: by variable, the scores of its states.
        tables: pairs of variables and the scores of their states together.
        binaries: scores of variables that are on or off.
        counts: literals of binaries, and how many of them are true at least and at most.
        outputs: binaries, and the one that is on exactly where one of them is.
    """

    states: list[Array] = field(default_factory=list)
    tables: list[tuple[int, int, Array]] = field(default_factory=list)
    binaries: list[float] = field(default_factory=list)
    counts: list[tuple[Literals, int, int]] = field(default_factory=list)
    outputs: list[tuple[list[int], int]] = field(default_factory=list)

    def make_graph(self) -> FactorGraph:
        """Return it as Certus takes it."""
        graph = FactorGraph()
        states = [graph.add_variable(scores) for scores in self.states]
        binaries = [graph.add_binary(score) for score in self.binaries]
        for a, b, scores in self.tables:
            graph.add_table([states[a], states[b]], scores)
        for literals, least, most in self.counts:
            given = [~binaries[i] if negated else binaries[i] for i, negated in literals]
            graph.add_count(given, least=least, most=most)
        for inputs, output in self.outputs:
            graph.add_or_output([binaries[i] for i in inputs], binaries[output])
        return graph


def draw_grid(
    side: int, states: int, draw_table: Callable[[Rng], Array], rng: Rng, spread: float
) -> GraphProblem:
    """Neighbours on a square grid share a table."""
    problem = GraphProblem([spread * rng.uniform(size=states) for _ in range(side * side)])
    for i, j in itertools.product(range(side), repeat=2):
        for a, b in ((i + 1, j), (i, j + 1)):
            if a < side and b < side:
                problem.tables.append((i * side + j, a * side + b, draw_table(rng)))
    return problem


def draw_potts(rng: Rng) -> GraphProblem:
    """20 × 20 nodes of 5 labels; neighbours gain 0.5 where they are equal, labels up to 1."""
    return draw_grid(20, 5, lambda _: 0.5 * np.eye(5), rng, 1.0)


def draw_small_grid(rng: Rng) -> GraphProblem:
    """4 × 4 binary nodes with random tables."""
    return draw_grid(4, 2, lambda own: own.normal(size=(2, 2)), rng, 1.0)


def draw_wide_grid(rng: Rng) -> GraphProblem:
    """14 × 14 nodes of 3 states with Gaussian tables alone: too wide for dynamic programming."""
    return draw_grid(14, 3, lambda own: own.normal(size=(3, 3)), rng, 0.0)


def draw_spin_glass(rng: Rng) -> GraphProblem:
    """10 × 10 spins; neighbours are pulled together or apart by Gaussian couplings, without a field."""
    return draw_grid(10, 2, lambda own: own.normal() * np.array([[1.0, -1.0], [-1.0, 1.0]]), rng, 0.0)


def draw_roles(rng: Rng) -> GraphProblem:
    """Semantic roles: 20 arguments have one of 10 roles each, all but the first role at most once."""
    arguments, roles = 20, 10
    problem = GraphProblem(binaries=rng.normal(size=arguments * roles).tolist())
    for a in range(arguments):
        problem.counts.append(([(a * roles + r, False) for r in range(roles)], 1, 1))
    for r in range(1, roles):
        problem.counts.append(([(a * roles + r, False) for a in range(arguments)], 0, 1))
    for r in range(1, roles // 2):
        problem.binaries.append(float(rng.normal()))
        inputs = [a * roles + r for a in range(arguments)]
        problem.outputs.append((inputs, len(problem.binaries) - 1))
    return problem


def draw_coreference(rng: Rng) -> GraphProblem:
    """10 mentions, a score of each pair; what is the same as the same is the same: 360 clauses."""
    pairs = {pair: n for n, pair in enumerate(itertools.combinations(range(10), 2))}
    problem = GraphProblem(binaries=rng.normal(size=len(pairs)).tolist())
    for a, b, c in itertools.combinations(range(10), 3):
        sides = [pairs[a, b], pairs[b, c], pairs[a, c]]
        for apart in range(3):
            problem.counts.append(([(side, n != apart) for n, side in enumerate(sides)], 1, 3))
    return problem


GRAPHS: dict[str, Callable[[Rng], GraphProblem]] = {
    "Potts grid, 20 × 20 × 5": draw_potts,
    "semantic roles": draw_roles,
    "grid, 4 × 4": draw_small_grid,
    "coreference, 10 mentions": draw_coreference,
    "spin glass, 10 × 10": draw_spin_glass,
    "Gaussian grid, 14 × 14 × 3": draw_wide_grid,
}
