"""Alignment the slow, obvious way: all pairs of choices, an integer program, and an HMM by enumeration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from certus.align import Agreement
from certus_bench.align_program import find_price, solve_program

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Problem:
    """Scores of choices, 0 for nothing: (I, J + 1) of source words and (J, I + 1) of target words."""

    source: Floats
    target: Floats
    source_steps: Floats | None
    target_steps: Floats | None
    agreement: Agreement


def score(problem: Problem, source: Sequence[int], target: Sequence[int]) -> float:
    """The score of choices, 0 for nothing and places from 1."""
    total = 0.0
    for own, other, choices, steps in (
        (source, target, problem.source, problem.source_steps),
        (target, source, problem.target, problem.target_steps),
    ):
        before = 0
        for word, value in enumerate(own):
            total += float(choices[word][value]) + (0.0 if steps is None else float(steps[before][value]))
            if value:
                total += find_price(problem.agreement, word + 1, other[value - 1])
            before = value
    return total


def brute(problem: Problem) -> float:
    """The best score of all pairs of choices."""
    (sources, values), (targets, others) = problem.source.shape, problem.target.shape
    return max(
        score(problem, a, b)
        for a in product(range(values), repeat=sources)
        for b in product(range(others), repeat=targets)
    )


def solve(problem: Problem) -> float:
    """The best score by integer programming."""
    steps = problem.source_steps, problem.target_steps
    found = solve_program(problem.source, problem.target, *steps, problem.agreement)
    assert found.proven
    assert found.score is not None
    return found.score


def enumerate_hmm(word: Floats, nothing: Floats, jumps: Floats, null: float) -> tuple[Floats, Floats, float]:
    """Posteriors of links and of no link, and the likelihood, from all paths of an HMM.

    Args:
        word: (generated, sources) probabilities of words.
        nothing: (generated,) from nothing.
        jumps: of distances from -40 to 40.
        null: the probability of no link.
    """
    generated, sources = word.shape

    def jump(before: int, after: int) -> float:
        weights = [jumps[max(-40, min(40, i + 1 - before)) + 40] for i in range(sources + 1)]
        return float(weights[after] / sum(weights))

    links, nulls, total = np.zeros((generated, sources)), np.zeros(generated), 0.0
    for path in product(range(sources + 1), repeat=generated):  # the last value is nothing
        at, p = 0, 1.0
        for g, value in enumerate(path):
            if value == sources:
                p *= null * nothing[g]
            else:
                p *= (1 - null) * jump(at, value) * word[g, value]
                at = value + 1
        p *= jump(at, sources)
        total += p
        for g, value in enumerate(path):
            if value == sources:
                nulls[g] += p
            else:
                links[g, value] += p
    return links / total, nulls / total, total
