"""Non-projective trees by dual decomposition, against enumeration."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import combinations

import numpy as np
import pytest

from certus._native import DualEnd
from tests.reference.dependency import Heads, TreeProblem, make_problem

PROBLEMS = int(os.environ.get("CERTUS_PROBLEMS", "2000")) // 20  # per case
MOST = int(os.environ.get("CERTUS_WORDS", "4"))  # words
CASES = pytest.mark.parametrize(
    ("order", "single"),
    [(order, single) for order in ("a", "s", "g", "t", "sgt") for single in (False, True)],
)


def draw_problems(order: str, single: bool) -> Iterator[tuple[TreeProblem, dict[Heads, float]]]:
    random = np.random.default_rng(11)
    for _ in range(PROBLEMS):
        words = int(random.integers(0, MOST + 1))
        problem = make_problem(random, words, order=order, share=float(random.choice([1.0, 0.7])))
        yield problem, {heads: score for score, heads in problem.score_all(False, single)}


@CASES
def test_best_tree_is_proven(order: str, single: bool) -> None:
    for problem, trees in draw_problems(order, single):
        arc_of = np.empty(problem.arcs.words, np.int32)
        result = problem.native.decode(single, np.inf, 1 << 40, 0, arc_of)
        assert result.end is DualEnd.PROVEN
        assert result.found == bool(trees)
        if trees:
            assert result.score == result.bound == max(trees.values())
            assert trees[problem.read_heads(arc_of)] == result.score


@CASES
def test_the_method_of_the_paper(order: str, single: bool) -> None:
    """Its certificates are true, and its bounds are bounds, also where it stops early."""
    for problem, trees in draw_problems(order, single):
        arc_of = np.empty(problem.arcs.words, np.int32)
        for iterations in (1, 50):
            result = problem.native.decode(single, np.inf, 1 << 40, iterations, arc_of)
            assert result.iterations <= iterations
            if not trees:
                assert not result.found
                continue
            assert result.bound >= max(trees.values()) - 1e-9
            if result.found:
                assert trees[problem.read_heads(arc_of)] == result.score
            if result.end is DualEnd.PROVEN:
                assert result.score == max(trees.values())


def score_pick(problem: TreeProblem, head: int, picked: set[int], parent: int) -> float:
    """Return what the automaton of a head scores for these modifiers and this parent."""
    heads = [head if m in picked else -1 for m in range(1, problem.arcs.words + 1)]
    if head:
        heads[head - 1] = parent
    arcs = sum(float(problem.arc_scores[problem.place[head, m]]) for m in picked)
    return arcs + sum(problem._score_side(tuple(heads), head, right) for right in (False, True))


def list_picks(problem: TreeProblem, head: int, with_parents: bool) -> Iterator[tuple[set[int], int]]:
    """Yield all that an automaton may pick: arcs without a rival always, its parent never."""
    modifiers = [m for h, m in problem.place if h == head]
    needed = {m for m in modifiers if len(problem.list_parents(m)) == 1}
    parents = problem.list_parents(head)
    for size in range(len(modifiers) + 1):
        for some in combinations(modifiers, size):
            if needed <= set(some):
                for parent in parents if with_parents else parents[:1]:
                    if not with_parents or parent not in some:
                        yield set(some), parent


@pytest.mark.parametrize("order", ["a", "s", "g", "t", "sgt"])
def test_automata_by_themselves(order: str) -> None:
    """Each picks what is best for it, and together they are no worse than any tree."""
    with_parents = "g" in order or "t" in order
    for problem, trees in draw_problems(order, False):
        words = problem.arcs.words
        if any(not problem.list_parents(m) for m in range(1, words + 1)):
            continue
        picked, parents = (np.empty(len(problem.arcs), np.uint8) for _ in range(2))
        found = problem.native.pick_freely(picked, parents)
        best = [
            max(
                (score_pick(problem, h, *pick) for pick in list_picks(problem, h, with_parents)),
                default=-np.inf,
            )
            for h in range(words + 1)
        ]
        if found is None:
            assert min(best) == -np.inf
            continue
        assert found == sum(best) >= max(trees.values(), default=-np.inf)
        for head in range(words + 1):
            chosen = {m for (h, m), arc in problem.place.items() if h == head and picked[arc]}
            above = [h for (h, m), arc in problem.place.items() if m == head and parents[arc]]
            assert len(above) == (with_parents and head > 0)
            assert score_pick(problem, head, chosen, (above or problem.list_parents(head))[0]) == best[head]


@pytest.mark.parametrize("order", ["s", "t"])
def test_limits(order: str) -> None:
    random = np.random.default_rng(1)
    problem = make_problem(random, 25, order=order, largest=100)
    arc_of = np.empty(25, np.int32)
    short = problem.native.decode(False, 0.02, 1 << 40, 0, arc_of)
    few = problem.native.decode(False, np.inf, 1, 0, arc_of)
    assert short.score <= short.bound
    assert few.score <= few.bound
    assert few.nodes <= 2
    assert problem.native.score(arc_of) == few.score
