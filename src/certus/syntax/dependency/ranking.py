"""The problem of one sentence, and its k best trees."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, replace
from itertools import count
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from certus import _native
from certus._native import DependencyArcs, DualEnd, TreeScores64
from certus.checks import Floats
from certus.solution import Status
from certus.syntax.dependency.layout import lay_out
from certus.syntax.dependency.solution import Heads, RankedTrees, TreeSolution

_ENDS = {
    DualEnd.PROVEN: Status.OPTIMAL,
    DualEnd.SECONDS: Status.SECONDS,
    DualEnd.NODES: Status.NODES,
    DualEnd.ITERATIONS: Status.ITERATIONS,
}
_NODES = 1 << 40


@dataclass(frozen=True, eq=False)
class TreeProblem:
    """The scores of a sentence, checked, as they were given and in the layout of the kernels."""

    arcs: Floats  # (n, n + 1)
    parts: tuple[Floats | None, Floats | None, Floats | None]  # siblings, grandparents, grandsiblings
    candidates: DependencyArcs
    scores: TreeScores64
    is_plain: bool  # whether there are scores of arcs only
    projective: bool
    single_root: bool
    seconds: float | None

    def find_best(self) -> TreeSolution | None:
        """Return the best tree, or None where there is none."""
        arc_of = np.empty(len(self.arcs), np.int32)
        if self.projective:
            if self.scores.decode_projective(self.single_root, arc_of) is None:
                return None
            score = self.scores.score(arc_of)
            return TreeSolution(self._read_heads(arc_of), score, score, Status.OPTIMAL)
        seconds = np.inf if self.seconds is None else self.seconds
        result = self.scores.decode(self.single_root, seconds, _NODES, 0, arc_of)
        if not result.found:
            return None if result.end is DualEnd.PROVEN else self._find_any(result)
        return TreeSolution(
            self._read_heads(arc_of), result.score, result.bound, _ENDS[result.end], _count(result)
        )

    def restrict(self, arcs: Floats, deadline: float | None) -> TreeProblem:
        """Return the same problem with other scores of arcs: more of them forbidden."""
        candidates, scores = lay_out(arcs, *self.parts)
        seconds = None if deadline is None else max(0.0, deadline - monotonic())
        return replace(self, arcs=arcs, candidates=candidates, scores=scores, seconds=seconds)

    def _find_any(self, result: _native.DualResult) -> TreeSolution | None:
        """Return the best tree by its arcs alone, where no better one was found in time."""
        words = len(self.arcs)
        heads = np.empty(words, np.int64)
        if not _native.spanning_tree(np.asarray(self.arcs, np.float64), self.single_root, heads):
            return None
        places = np.empty((words + 1, words + 1), np.int32)
        places[self.candidates.heads, self.candidates.modifiers] = np.arange(len(self.candidates))
        score = self.scores.score(places[heads, np.arange(1, words + 1)])
        return TreeSolution(heads, score, result.bound, _ENDS[result.end], _count(result))

    def _read_heads(self, arc_of: NDArray[np.int32]) -> Heads:
        return self.candidates.heads[arc_of].astype(np.int64)


def _count(result: _native.DualResult) -> dict[str, int]:
    names = ("iterations", "nodes", "fixed", "automata", "solved")
    return {name: getattr(result, name) for name in names}


def rank_trees(problem: TreeProblem, best: TreeSolution, k: int) -> RankedTrees:
    """Return the k best trees: projective ones from a forest, others by splitting the rest (Lawler 1972)."""
    if not problem.projective:
        return _split_trees(problem, best, k)
    ranked = problem.scores.rank_projective(problem.single_root, k)
    rows = ranked.arcs.reshape(len(ranked.scores), len(problem.arcs))
    heads = problem.candidates.heads[rows].astype(np.int64)
    trees = [
        TreeSolution(row, float(score), float(score), Status.OPTIMAL)
        for row, score in zip(heads, ranked.scores, strict=True)
    ]
    return RankedTrees(trees, exhausted=ranked.exhausted)


def _split_trees(problem: TreeProblem, best: TreeSolution, k: int) -> RankedTrees:
    """Take the best tree of all parts of the rest; what is left of its part differs at a first word."""
    deadline = None if problem.seconds is None else monotonic() + problem.seconds
    number = count()
    queue = [(-best.score, next(number), best, problem, 0)]
    found: list[TreeSolution] = []
    ceiling = np.inf
    while queue and len(found) < k and (deadline is None or not found or monotonic() < deadline):
        _, _, tree, part, fixed = heapq.heappop(queue)
        ceiling = min(ceiling, max([tree.bound, *(other.bound for _, _, other, _, _ in queue)]))
        tree.bound = max(tree.score, ceiling)
        if tree.bound > tree.score and tree.optimal:
            tree.status = Status.FEASIBLE
        found.append(tree)
        for word in range(fixed, len(problem.arcs)):
            if len(found) == k and queue:  # one more is enough to know that these are not all
                break
            rest = part.restrict(_exclude(part.arcs, tree, word), deadline)
            other = rest.find_best()
            if other is not None:
                heapq.heappush(queue, (-other.score, next(number), other, rest, word))
    return RankedTrees(found, exhausted=not queue)


def _exclude(arcs: Floats, tree: TreeSolution, word: int) -> Floats:
    """Return the scores of trees with the same heads before a word, and another head there."""
    left = np.array(arcs)
    before = np.arange(word)
    left[:word] = -np.inf
    left[before, tree.heads[:word]] = arcs[before, tree.heads[:word]]
    left[word, tree.heads[word]] = -np.inf
    return left
