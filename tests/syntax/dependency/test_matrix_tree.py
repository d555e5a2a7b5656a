"""Probabilities of arcs in non-projective trees, against enumeration."""

from __future__ import annotations

import os

import numpy as np
import pytest

from tests.reference.dependency import TreeProblem, make_problem

PROBLEMS = int(os.environ.get("CERTUS_PROBLEMS", "2000")) // 10


@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("scale", [1.0, 300.0])  # sums beyond the range of doubles are taken as logarithms
def test_against_enumeration(single: bool, scale: float) -> None:
    random = np.random.default_rng(2)
    for _ in range(PROBLEMS):
        words = int(random.integers(0, 5))
        problem = make_problem(random, words, order="a", share=float(random.choice([1.0, 0.6])))
        problem.arc_scores *= scale
        trees = {heads: score for score, heads in problem.score_all(False, single)}
        out = np.empty(len(problem.arcs))
        found = problem.native.marginals(single, out)
        assert (found is not None) == bool(trees)
        if found is None:
            continue
        total = np.logaddexp.reduce(list(trees.values()))
        assert found == pytest.approx(total, abs=1e-9)
        for (head, word), place in problem.place.items():
            share = sum(np.exp(score - total) for heads, score in trees.items() if heads[word - 1] == head)
            assert out[place] == pytest.approx(share, abs=1e-9)


@pytest.mark.parametrize("single", [False, True])
def test_long_sentences(single: bool) -> None:
    random = np.random.default_rng(9)
    problem = make_problem(random, 60, order="a", share=0.9)
    problem.arc_scores[:] = random.normal(scale=5, size=len(problem.arcs))
    out = np.empty(len(problem.arcs))
    assert problem.native.marginals(single, out) is not None
    into = np.bincount(problem.arcs.modifiers, out, 61)[1:]
    assert into == pytest.approx(np.ones(60), abs=1e-9)
    if single:
        assert out[problem.arcs.heads == 0].sum() == pytest.approx(1, abs=1e-9)
    assert isinstance(problem, TreeProblem)
