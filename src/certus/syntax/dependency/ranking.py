"""The problem of one sentence, and its k best trees."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from certus import _native
from certus._native import DependencyArcs, DualEnd, TreeScores64
from certus.checks import Floats
from certus.errors import InvalidInput
from certus.solution import Status, conclude
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
    candidates: DependencyArcs
    scores: TreeScores64
    is_plain: bool  # whether there are scores of arcs only
    projective: bool
    single_root: bool
    seconds: float

    def find_best(self) -> TreeSolution | None:
        """Return the best tree, or None where there is none."""
        arc_of = np.empty(len(self.arcs), np.int32)
        with _explain_size():
            result = (
                self.scores.find_projective(self.single_root, self.seconds, arc_of)
                if self.projective
                else self.scores.decode(self.single_root, self.seconds, _NODES, 0, arc_of)
            )
        if not result.found:
            return None
        work = None if self.projective else _count(result)
        return TreeSolution(self._read_heads(arc_of), result.score, result.bound, _ENDS[result.end], work)

    def rank(self, k: int) -> RankedTrees:
        """Return the k best trees: projective ones from a forest, others by splitting (Lawler 1972)."""
        with _explain_size():
            ranked = self.scores.rank(self.projective, self.single_root, k, self.seconds)
        rows = ranked.arcs.reshape(len(ranked.scores), len(self.arcs))
        heads = self.candidates.heads[rows].astype(np.int64)
        trees = []
        for row, score, bound in zip(heads, ranked.scores.tolist(), ranked.bounds.tolist(), strict=True):
            status, proven = conclude(score, bound, Status.SECONDS)
            trees.append(TreeSolution(row, score, proven, status))
        return RankedTrees(trees, exhausted=ranked.exhausted)

    def _read_heads(self, arc_of: NDArray[np.int32]) -> Heads:
        return self.candidates.heads[arc_of].astype(np.int64)


def _count(result: _native.DualResult) -> dict[str, int]:
    names = ("iterations", "nodes", "fixed", "automata", "solved")
    return {name: getattr(result, name) for name in names}


@contextmanager
def _explain_size() -> Iterator[None]:
    """Raise InvalidInput where kernels say that a sentence is too long for memory."""
    try:
        yield
    except ValueError as error:
        raise InvalidInput(str(error)) from None
