"""What has to hold for every answer, and the methods, in all their variants, that it has to hold for."""

from __future__ import annotations

import math
from typing import Any

from certus import LabelSolution, Status
from certus.chain import (
    METHODS,
    AStar,
    Beam,
    IterativeViterbiAStar,
    KBestAStar,
    KBestLabels,
    Labels,
    Method,
    Staggered,
    Viterbi,
)
from tests.chain.lattices import Problem
from tests.reference.chain import Floats, dies_at, path_scores

VARIANTS: list[Method] = [method() for method in METHODS.values()] + [
    Viterbi(sparse=False),
    Staggered(columnwise=False),
    # Small lattices are given to Viterbi A* at once, unless it is told never to give up.
    IterativeViterbiAStar(patience=math.inf),
    IterativeViterbiAStar(patience=math.inf, ends=True),
    IterativeViterbiAStar(patience=math.inf, listed=2),
    IterativeViterbiAStar(patience=math.inf, first=False, ends=True, listed=1),
    IterativeViterbiAStar(patience=math.inf, first=False),
    IterativeViterbiAStar(first=False),
    *(AStar(heuristic=level) for level in ("naive", 0, 1, 3)),
    *(KBestAStar(heuristic=level) for level in ("naive", 0, 1, 3)),
    *(Beam(width=width) for width in (1, 2, 1000)),
]
EXACT = [method for method in VARIANTS if method.exact]
MANY = [method for method in VARIANTS if method.many]


def check(problem: Problem, method: Method, k: int, best: Floats) -> None:
    """Compare a method's answer with the best scores (at least k of them, or all there are)."""
    choice = method.name if method == METHODS[method.name]() else method
    result: Any = problem.chain.decode(problem.emissions, k=k, method=choice, infeasible="return")
    wrong = _wrong_one(problem, method, result, best) if k == 1 else _wrong_many(problem, result, k, best)
    assert not wrong, f"{wrong}\n{method!r}, k={k}: {result!r}\n{problem}"


def _wrong_one(problem: Problem, method: Method, found: LabelSolution[Labels], best: Floats) -> str:
    if not len(best):
        position = dies_at(problem.scores)
        dead = found.status is Status.INFEASIBLE and found.position == position
        return "" if dead else f"there is no path; the last one dies at {position}"
    optimum = float(best[0])
    if path_scores(problem.scores, found.labels[None])[0] != found.score:
        return "the score is not that of the labels"
    if method.exact and not found.optimal:
        return "an exact method did not prove its answer"
    if found.optimal != (found.bound == found.score):
        return "optimal must mean that the bound meets the score"
    if not found.score <= optimum <= found.bound:
        return f"the optimum {optimum} is not between score and bound"
    return ""


def _wrong_many(problem: Problem, found: KBestLabels, k: int, best: Floats) -> str:
    if found.scores.tolist() != best[:k].tolist():
        return f"the best scores are {best[:k].tolist()}"
    if path_scores(problem.scores, found.labels).tolist() != found.scores.tolist():
        return "the scores are not those of the labels"
    if len(set(map(tuple, found.labels.tolist()))) < len(found):
        return "a path is listed twice"
    if len(found) < k and not found.exhausted:
        return "fewer than k, but not said to be all"
    return ""
