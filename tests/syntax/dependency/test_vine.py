"""Vine parsing, against enumeration of what it allows, and as a relaxation of projective trees."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from certus import _native
from certus._native import DependencyArcs
from tests.reference.dependency import list_trees

PROBLEMS = int(os.environ.get("CERTUS_PROBLEMS", "2000")) // 40
LEFT, RIGHT = "left", "right"  # heads that are outside


@dataclass
class VineProblem:
    """Short arcs up to ``longest`` words, arcs from the root, outer arcs."""

    arcs: DependencyArcs
    longest: int
    arc_scores: NDArray[np.float64]
    outer: NDArray[np.float64]

    def __post_init__(self) -> None:
        pairs = zip(self.arcs.heads.tolist(), self.arcs.modifiers.tolist(), strict=True)
        self.place = {pair: number for number, pair in enumerate(pairs)}

    def find_outer(self, word: int, kind: int) -> int | None:
        """Return the part of an outer arc (heads left and right, modifiers left and right), if it exists."""
        reach = (word - self.longest > 0, word + self.longest < self.arcs.words, word - self.longest > 1)
        return len(self.arcs) + 4 * (word - 1) + kind if (*reach, reach[1])[kind] else None

    def list_structures(self) -> Iterator[tuple[list[int], list[int]]]:
        """Yield the parts that a structure uses for its heads, and those that it may use besides."""
        words = range(1, self.arcs.words + 1)
        choices = [
            [h for h in range(self.arcs.words + 1) if (h, m) in self.place] + [LEFT, RIGHT] for m in words
        ]
        for heads in product(*choices):
            parts = [self._find_head(m, head) for m, head in enumerate(heads, 1)]
            if None not in parts and self._is_possible(heads):
                yield [part for part in parts if part is not None], self._list_options(heads)

    def _find_head(self, word: int, head: int | str) -> int | None:
        if isinstance(head, str):
            return self.find_outer(word, head == RIGHT)
        return self.place[head, word]

    def _list_short(self, heads: tuple[int | str, ...]) -> list[tuple[int, int]]:
        return [(h, m) for m, h in enumerate(heads, 1) if isinstance(h, int) and h > 0]

    def _is_possible(self, heads: tuple[int | str, ...]) -> bool:
        short = self._list_short(heads)
        spans = [sorted(arc) for arc in short]
        if any(a < c < b < d for a, b in spans for c, d in spans):
            return False
        tops = [m for m, h in enumerate(heads, 1) if not isinstance(h, int) or h == 0]
        if any(a < top < b for a, b in spans for top in tops):
            return False
        above = {m: h for h, m in short}
        for word in above:
            for _ in range(len(heads)):
                word = above.get(word, word)
            if word in above:
                return False
        return True

    def _list_options(self, heads: tuple[int | str, ...]) -> list[int]:
        short = self._list_short(heads)
        found: list[int | None] = (
            [4 * self.arcs.words + len(self.arcs)] if self.arcs.words > self.longest else []
        )
        for word, head in enumerate(heads, 1):
            if any(a < word < b for a, b in map(sorted, short)):
                continue
            below_left = isinstance(head, int) and 0 < head < word
            below_right = isinstance(head, int) and head > word
            if not below_left:
                found.append(self.find_outer(word, 2))
            if not below_right:
                found.append(self.find_outer(word, 3))
        return [part for part in found if part is not None]


def draw_problem(random: np.random.Generator) -> VineProblem:
    words, longest = int(random.integers(1, 5)), int(random.integers(1, 4))
    pairs = [
        (h, m)
        for h in range(words + 1)
        for m in range(1, words + 1)
        if h != m and (abs(h - m) <= longest or h == 0) and random.random() < 0.8
    ]
    heads, modifiers = (np.array([pair[i] for pair in pairs], np.int32) for i in (0, 1))
    arcs = DependencyArcs(words, heads, modifiers)
    scores = random.integers(-4, 5, len(arcs) + 4 * words + 1).astype(np.float64)
    scores[random.random(len(scores)) < 0.1] = -np.inf
    return VineProblem(arcs, longest, scores[: len(arcs)], scores[len(arcs) :])


def test_against_enumeration() -> None:
    random = np.random.default_rng(0)
    for _ in range(PROBLEMS):
        problem = draw_problem(random)
        scores = np.concatenate([problem.arc_scores, problem.outer])
        best, log_sums = np.full(len(scores), -np.inf), np.full(len(scores), -np.inf)
        total = -np.inf
        for parts, options in problem.list_structures():
            base = scores[parts].sum()
            if base == -np.inf:
                continue
            gains, sums = np.maximum(scores[options], 0), np.logaddexp(scores[options], 0)
            value, log_sum = base + gains.sum(), base + sums.sum()
            total = np.logaddexp(total, log_sum)
            best[parts] = np.maximum(best[parts], value)
            log_sums[parts] = np.logaddexp(log_sums[parts], log_sum)
            for i, option in enumerate(options):
                best[option] = max(best[option], value - gains[i] + scores[option])
                if scores[option] > -np.inf:
                    log_sums[option] = np.logaddexp(log_sums[option], log_sum - sums[i] + scores[option])
        kernel = (problem.arcs, problem.arc_scores, problem.outer, problem.longest)
        out = np.empty(len(scores))
        found = _native.vine_max_marginals(*kernel, out)
        if total == -np.inf:
            assert found is None
            continue
        assert found == best.max()
        assert out.tolist() == best.tolist()
        assert _native.vine_marginals(*kernel, out) == pytest.approx(total)
        assert out == pytest.approx(np.exp(log_sums - total), abs=1e-12)
        counts = np.empty(len(scores))
        assert _native.count_vine_max_marginal_trees(*kernel, counts) == found
        assert counts[counts > 0] @ scores[counts > 0] == best[best > -np.inf].sum()


def test_every_projective_tree_is_a_vine() -> None:
    """The long arcs of a tree become outer arcs, and what is left is a structure with all of its parts."""
    words, longest = 5, 2
    pairs = [
        (h, m) for h in range(words + 1) for m in range(1, words + 1) if h != m and abs(h - m) <= longest
    ]
    heads, modifiers = (np.array([pair[i] for pair in pairs], np.int32) for i in (0, 1))
    arcs = DependencyArcs(words, heads, modifiers)
    problem = VineProblem(arcs, longest, np.zeros(len(arcs)), np.zeros(4 * words + 1))
    for tree in list_trees(words, True, False):
        scores = np.full(len(arcs) + 4 * words + 1, -1000.0)
        for word, head in enumerate(tree, 1):
            if abs(head - word) <= longest:
                scores[problem.place[head, word]] = 1
                continue
            scores[problem.find_outer(word, int(head > word))] = 1
            scores[4 * words + len(arcs) if head == 0 else problem.find_outer(head, 3 - (head > word))] = 1
        out = np.empty(len(scores))
        found = _native.vine_max_marginals(arcs, scores[: len(arcs)], scores[len(arcs) :], longest, out)
        assert found == (scores == 1).sum()


def test_rejects_long_arcs() -> None:
    arcs = DependencyArcs.all(4)
    with pytest.raises(ValueError, match="longer than a short one"):
        _native.vine_max_marginals(arcs, np.zeros(16), np.zeros(17), 2, np.empty(33))
