"""Random problems of agreement with small whole numbers as scores: sums are exact, and ties are common."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, permutations
from random import Random
from typing import Any

import numpy as np

import certus
from certus.align import ADJACENT, FULL, SOFT, Agreement, Alignment
from tests.reference.align import Problem

AGREEMENTS = [
    FULL,
    ADJACENT,
    SOFT,
    Agreement(adjacent=-1, apart=-1, alone=-1),
    Agreement(adjacent=0, apart=-2),
    Agreement(adjacent=0, apart=0, alone=0),
]


def make_problem(rng: Random, sources: int, targets: int) -> Problem:
    """A problem; some have transitions, and some forbidden choices."""
    share = rng.choice([0.0, 0.0, 0.2])

    def draw(rows: int, columns: int) -> Any:
        def number() -> float:
            return -np.inf if rng.random() < share else float(rng.randint(-4, 4))

        return np.array([[number() for _ in range(columns)] for _ in range(rows)], float).reshape(
            rows, columns
        )

    return Problem(
        draw(sources, targets + 1),
        draw(targets, sources + 1),
        draw(targets + 1, targets + 1) if rng.random() < 0.6 else None,
        draw(sources + 1, sources + 1) if rng.random() < 0.6 else None,
        rng.choice(AGREEMENTS),
    )


def make_strict(rng: Random, sources: int, targets: int) -> Problem:
    """A problem of full or adjacent agreement, which the methods of papers know."""
    strict = [FULL, Agreement(adjacent=0), ADJACENT, Agreement(adjacent=-3)]
    return replace(make_problem(rng, sources, targets), agreement=rng.choice(strict))


def make_tour(rng: Random, cities: int) -> tuple[Problem, float]:
    """A travelling salesman as a problem of alignment (Chang et al. 2014, appendix A), and his shortest path.

    No word may go without a link, and a step of target words is the distance between two cities; the path
    begins at place 0 and may end anywhere.
    """
    distances = np.array([[rng.randint(1, 20) for _ in range(cities + 1)] for _ in range(cities + 1)], float)
    free = np.concatenate([np.full((cities, 1), -np.inf), np.zeros((cities, cities))], 1)
    shortest = min(
        sum(distances[a, b] for a, b in pairwise((0, *tour))) for tour in permutations(range(1, cities + 1))
    )
    return Problem(free, free, None, -distances, FULL), float(shortest)


def align(problem: Problem, **options: Any) -> Alignment:
    """Solve a problem through the public door."""
    return certus.align.align_matrix(
        problem.target[:, 1:].T,
        problem.source[:, 1:],
        null=(problem.target[:, 0], problem.source[:, 0]),
        agreement=problem.agreement,
        forward_steps=problem.target_steps,
        backward_steps=problem.source_steps,
        infeasible="return",
        **options,
    )
