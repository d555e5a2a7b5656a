"""Spanning trees and the bounds of their duals, against enumeration."""

from __future__ import annotations

import os
from collections import defaultdict

import numpy as np
import pytest
from numpy.typing import NDArray

from certus import _native
from tests.reference.dependency import Heads, list_trees

PROBLEMS = int(os.environ.get("CERTUS_PROBLEMS", "2000")) // 5  # per case; 10^5 and more by hand


def draw_scores(random: np.random.Generator, words: int) -> NDArray[np.float64]:
    scores = random.integers(-5, 6, (words, words + 1)).astype(np.float64)
    scores[random.random(scores.shape) < random.choice([0.0, 0.2, 0.5])] = -np.inf
    return scores


def enumerate_trees(scores: NDArray[np.float64], single: bool) -> dict[Heads, float]:
    words = np.arange(len(scores))
    trees = {heads: float(scores[words, heads].sum()) for heads in list_trees(len(scores), False, single)}
    return {heads: score for heads, score in trees.items() if score > -np.inf}


@pytest.mark.parametrize("single", [False, True])
def test_against_enumeration(single: bool) -> None:
    random = np.random.default_rng(3)
    for _ in range(PROBLEMS):
        words = int(random.integers(1, 5))
        scores = draw_scores(random, words)
        trees = enumerate_trees(scores, single)
        found, heads, bounds = np.empty(words, np.int64), np.empty(words, np.int64), np.empty_like(scores)
        assert _native.spanning_tree(scores, single, found) == bool(trees)
        assert _native.bound_trees(scores, single, heads, bounds) == bool(trees)
        if not trees:
            continue
        best = max(trees.values())
        assert trees[tuple(found.tolist())] == trees[tuple(heads.tolist())] == best
        with_arc: dict[tuple[int, int], float] = defaultdict(lambda: -np.inf)
        for tree, score in trees.items():
            for word, head in enumerate(tree):
                with_arc[word, head] = max(with_arc[word, head], score)
        assert all(bounds[arc] >= score for arc, score in with_arc.items())
        assert (bounds <= best).all()
        assert (bounds[np.arange(words), heads] == best).all()
        single_precision = np.empty_like(heads)
        assert _native.spanning_tree(scores.astype(np.float32), single, single_precision)
        assert (single_precision == found).all()


@pytest.mark.parametrize("single", [False, True])
def test_bounds_are_tight_enough_to_fix(single: bool) -> None:
    """Where one tree stands out, the bounds of all other arcs are below it."""
    random = np.random.default_rng(4)
    for words in (5, 20, 60):
        gold = np.array([0, *(int(random.integers(1, m)) for m in range(2, words + 1))])
        scores = random.random((words, words + 1))
        scores[np.arange(words), gold] += words
        heads, bounds = np.empty(words, np.int64), np.empty_like(scores)
        assert _native.bound_trees(scores, single, heads, bounds)
        assert (heads == gold).all()
        best = scores[np.arange(words), gold].sum()
        bounds[np.arange(words), gold] = -np.inf
        # One child of the root: the edge that would close the last cycle costs nothing, either.
        assert (bounds > best - words / 2).sum() <= (2 * words if single else 0)


def test_two_ways_to_one_child_of_the_root() -> None:
    """The tree by a price of the root that rises scores as much as the one by an infinite price."""
    random = np.random.default_rng(5)
    for _ in range(PROBLEMS):
        words = int(random.integers(2, 40))
        scores = random.integers(0, int(random.integers(2, 30)), (words, words + 1)).astype(float)
        scores[:, 0] += int(random.integers(0, 30))  # many want to hang on the root
        scores[random.random(scores.shape) < random.choice([0.0, 0.5, 0.9])] = -np.inf
        rising, infinite, bounds = np.empty(words, np.int64), np.empty(words, np.int64), np.empty_like(scores)
        possible = _native.bound_trees(scores, True, infinite, bounds)
        assert _native.spanning_tree(scores, True, rising) == possible
        if possible:
            rows = np.arange(words)
            assert (rising == 0).sum() == 1
            assert scores[rows, rising].sum() == scores[rows, infinite].sum()
