"""Projective trees of every order, against enumeration."""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np
import pytest

from tests.reference.dependency import Heads, TreeProblem, make_problem

PROBLEMS = int(os.environ.get("CERTUS_PROBLEMS", "2000")) // 20  # per case
ORDERS = ["a", "s", "g", "t", "sgt"]
CASES = pytest.mark.parametrize(
    ("order", "single"), [(order, single) for order in ORDERS for single in (False, True)]
)
Trees = dict[Heads, float]


def draw_problems(order: str, single: bool, most: int = 4) -> Iterator[tuple[TreeProblem, Trees]]:
    random = np.random.default_rng(7)
    for _ in range(PROBLEMS):
        words = int(random.integers(0, most + 1))
        problem = make_problem(random, words, order=order, share=float(random.choice([1.0, 0.7])))
        yield problem, {heads: score for score, heads in problem.score_all(True, single)}


@CASES
def test_best_tree(order: str, single: bool) -> None:
    for problem, trees in draw_problems(order, single):
        arc_of = np.empty(problem.arcs.words, np.int32)
        score = problem.native.decode_projective(single, arc_of)
        assert score == max(trees.values(), default=None)
        assert problem.native_single.decode_projective(single, np.empty_like(arc_of)) == score
        if score is not None:
            assert trees[problem.read_heads(arc_of)] == score


@CASES
def test_max_marginals(order: str, single: bool) -> None:
    for problem, trees in draw_problems(order, single):
        out = np.empty(len(problem.arcs))
        found = problem.native.projective_max_marginals(single, out)
        assert (found is not None) == bool(trees)
        for (head, word), place in problem.place.items() if trees else ():
            with_arc = [score for heads, score in trees.items() if heads[word - 1] == head]
            assert out[place] == max(with_arc, default=-np.inf)


@CASES
def test_probabilities(order: str, single: bool) -> None:
    for problem, trees in draw_problems(order, single):
        out = np.empty(len(problem.arcs))
        found = problem.native.projective_marginals(single, out)
        assert (found is not None) == bool(trees)
        if found is None:
            continue
        total = np.logaddexp.reduce(list(trees.values()))
        assert found == pytest.approx(total, abs=1e-9)
        for (head, word), place in problem.place.items():
            share = sum(np.exp(score - total) for heads, score in trees.items() if heads[word - 1] == head)
            assert out[place] == pytest.approx(share, abs=1e-12)


@CASES
def test_ranked_trees(order: str, single: bool) -> None:
    for problem, trees in draw_problems(order, single):
        ranked = problem.native.rank(True, single, 10, np.inf)
        expected = sorted(trees.values(), reverse=True)
        assert ranked.scores.tolist() == expected[:10]
        assert ranked.exhausted == (len(trees) <= 10)
        rows = ranked.arcs.reshape(len(ranked.scores), problem.arcs.words)
        found = [problem.read_heads(row) for row in rows]
        assert [trees[heads] for heads in found] == ranked.scores.tolist()
        assert len(set(found)) == len(found)


@CASES
def test_best_trees_with_each_arc(order: str, single: bool) -> None:
    """The best trees with an arc, one for each arc, together score what the max-marginals add up to."""
    for problem, trees in draw_problems(order, single):
        arcs, siblings = np.empty(len(problem.arcs)), np.zeros(int(problem.arcs.sibling_offsets[-1]))
        best = np.empty(len(problem.arcs))
        problem.native.projective_max_marginals(single, best)
        if not problem.native.count_max_marginal_trees(single, arcs, siblings):
            assert not trees
            continue
        possible = best > -np.inf
        assert arcs.sum() == possible.sum() * problem.arcs.words
        if order in ("a", "s"):
            parts = siblings if problem.siblings is not None else siblings[:0]
            weights = problem.siblings if problem.siblings is not None else parts
            total = arcs[arcs > 0] @ problem.arc_scores[arcs > 0] + parts[parts > 0] @ weights[parts > 0]
            assert total == best[possible].sum()


def test_long_pruned_sentence() -> None:
    """A thousand words with a few heads each fit: nothing is built from arcs that are no candidates."""
    random = np.random.default_rng(5)
    words = 1000
    pairs = {(m - 1, m) for m in range(1, words + 1)} | {
        (h, m)
        for m in range(1, words + 1)
        for h in random.integers(max(0, m - 9), min(words, m + 9), 3)
        if h != m
    }
    problem = make_problem(random, 0, order="a")
    heads, modifiers = (np.array([pair[i] for pair in sorted(pairs)], np.int32) for i in (0, 1))
    arcs = type(problem.arcs)(words, heads, modifiers)
    long = TreeProblem(arcs, np.where(heads == modifiers - 1, 1.0, 0.5))
    arc_of = np.empty(words, np.int32)
    assert long.native.decode_projective(False, arc_of) == words
    assert long.read_heads(arc_of) == tuple(range(words))
