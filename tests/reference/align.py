"""Alignment the slow, obvious way: all pairs of choices, an integer program, and an HMM by enumeration."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np
from numpy.typing import NDArray

from certus.align import Agreement

Floats = NDArray[np.float64]
Row = tuple[float, float, list[int], Sequence[float]]  # limits, variables and their factors
Add = Callable[[float], int]  # makes a variable of a cost


@dataclass(frozen=True)
class Problem:
    """Scores of choices, 0 for nothing: (I, J + 1) of source words and (J, I + 1) of target words."""

    source: Floats
    target: Floats
    source_steps: Floats | None
    target_steps: Floats | None
    agreement: Agreement


def find_price(agreement: Agreement, place: int, back: int) -> float:
    if back == place:
        return 0.0
    if back == 0:
        return agreement.alone
    return agreement.adjacent if abs(back - place) == 1 else agreement.apart


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
    """The best score by integer programming, with a variable for each choice, step and pair of choices."""
    import highspy

    solver = highspy.Highs()
    solver.silent()
    inf = highspy.kHighsInf
    costs: list[float] = []
    rows: list[Row] = []

    def add(cost: float) -> int:
        costs.append(cost)
        return len(costs) - 1

    sides = (problem.source, problem.target)
    choice = [[[add(float(x)) if x > -inf else -1 for x in row] for row in side] for side in sides]
    for side in choice:
        for row in side:
            allowed = [x for x in row if x >= 0]
            rows.append((1, 1, allowed, [1] * len(allowed)))
    for side, steps in zip(choice, (problem.source_steps, problem.target_steps), strict=True):
        if steps is not None:
            _add_steps(side, steps, add, rows)
    for first, second in ((choice[0], choice[1]), (choice[1], choice[0])):
        _add_prices(problem.agreement, first, second, add, rows)
    for n, cost in enumerate(costs):
        solver.addVar(0, 1)
        solver.changeColCost(n, -cost)
        solver.changeColIntegrality(n, highspy.HighsVarType.kInteger)
    for low, high, index, value in rows:
        solver.addRow(low, high, len(index), np.array(index, np.int32), np.array(value, float))
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return -np.inf
    return -float(solver.getInfo().objective_function_value)


def _add_steps(side: list[list[int]], steps: Floats, add: Add, rows: list[Row]) -> None:
    """One variable per step from choice to choice; before the first word is nothing."""
    for value, variable in enumerate(side[0] if side else []):
        if variable >= 0 and steps[0][value] == -np.inf:
            rows.append((0, 0, [variable], [1]))
        elif variable >= 0:
            fixed = add(float(steps[0][value]))
            rows.append((0, 0, [fixed, variable], [1, -1]))
    for before, after in pairwise(side):
        made = {
            (a, b): add(float(steps[a][b]))
            for a in range(len(before))
            for b in range(len(after))
            if before[a] >= 0 and after[b] >= 0 and steps[a][b] > -np.inf
        }
        for a in range(len(before)):
            if before[a] >= 0:
                out = [x for (c, _), x in made.items() if c == a]
                rows.append((0, 0, [*out, before[a]], [1] * len(out) + [-1]))
        for b in range(len(after)):
            if after[b] >= 0:
                into = [x for (_, c), x in made.items() if c == b]
                rows.append((0, 0, [*into, after[b]], [1] * len(into) + [-1]))


def _add_prices(
    agreement: Agreement, own: list[list[int]], other: list[list[int]], add: Add, rows: list[Row]
) -> None:
    """A link pays the price of what the other direction chooses for its word."""
    for word, row in enumerate(own):
        for value, link in enumerate(row):
            if not value or link < 0:
                continue
            back = other[value - 1]
            paid = []
            for choice, variable in enumerate(back):
                price = find_price(agreement, word + 1, choice)
                if variable < 0 or price == -np.inf:
                    continue
                both = add(price)
                rows.append((-1, 0, [both, variable], [1, -1]))
                paid.append(both)
            rows.append((0, 0, [*paid, link], [1] * len(paid) + [-1]))


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
