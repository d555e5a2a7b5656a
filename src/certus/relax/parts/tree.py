"""A spanning tree as a part: non-projective dependency trees."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certus import _native
from certus.checks import check_magnitudes
from certus.errors import InvalidInput
from certus.part import LARGEST, Adjustments, Choice, Forbidden, check_adjustments


class TreePart:
    """The directed spanning trees over n words and a root: space ``heads`` of shape (n, n + 1).

    Row i is word i; column 0 is the root, column j + 1 is word j. The best tree is found by the algorithm of
    Chu & Liu and Edmonds in O(n^2) (native).

    Args:
        scores: (n, n + 1) of each head for each word; -inf forbids. A word's own column is never used.
        single_root: whether the root has exactly one child.
    """

    def __init__(self, scores: ArrayLike, *, single_root: bool = False) -> None:
        self.scores: NDArray[np.float64] = np.array(scores, np.float64, order="C")
        shape = self.scores.shape
        if self.scores.ndim != 2 or shape[1] != shape[0] + 1:
            raise InvalidInput(f"scores of heads need the shape (n, n + 1), the root first; got {shape}")
        bad = np.isnan(self.scores) | (self.scores == np.inf)
        bad[np.arange(shape[0]), np.arange(1, shape[0] + 1)] = False
        if bad.any():
            i, h = (int(k) for k in np.argwhere(bad)[0])
            raise InvalidInput(
                f"the score of head {h} for word {i} is {self.scores[i, h]}: not a number to add"
            )
        self.single_root = single_root
        self._rows = np.arange(shape[0])
        self.scores[self._rows, self._rows + 1] = -np.inf
        check_magnitudes("scores of heads", self.scores, LARGEST)

    @property
    def spaces(self) -> dict[str, tuple[int, ...]]:
        """One cell for each head of each word."""
        return {"heads": self.scores.shape}

    def maximize(self, adjust: Adjustments) -> Choice:
        """Return the best tree: ``value`` is the array of heads, 0 for the root and j + 1 for word j."""
        heads = np.empty(len(self.scores), np.int64)
        if not _native.spanning_tree(self._adjust_scores(adjust), self.single_root, heads):
            raise Forbidden("no spanning tree is left")
        return self._make_choice(heads)

    def make_native(self) -> _native.RelaxPart:
        """Return the trees for the kernels."""
        return _native.make_tree_part(self.scores.reshape(-1), len(self.scores), self.single_root)

    def state_part(self) -> dict[str, Any]:
        """Return the trees as plain data, for certificates."""
        return {"kind": "trees", "arcs": self.scores, "single_root": int(self.single_root)}

    def make_choice(self, cells: NDArray[np.int64], native: _native.RelaxPart) -> Choice:
        """Return the tree of these cells."""
        return self._make_choice(cells - self._rows * self.scores.shape[1])

    def complete(self, indicators: Mapping[str, NDArray[Any]]) -> Choice | None:
        """Score the tree that the indicators spell, if they spell one."""
        chosen = np.asarray(indicators["heads"])
        if (chosen.sum(axis=1) != 1).any():
            return None
        try:
            return self.maximize({"heads": np.where(chosen > 0, 0.0, -np.inf)})
        except Forbidden:
            return None

    def max_marginals(self, adjust: Adjustments) -> dict[str, NDArray[np.float64]]:
        """Return the best value of a tree with each head of each word, by a tree search each: O(n^4)."""
        best = np.empty_like(self.scores)
        _native.tree_max_marginals(self._adjust_scores(adjust), self.single_root, best)
        return {"heads": best}

    def _make_choice(self, heads: NDArray[np.int64]) -> Choice:
        used = np.zeros(self.scores.shape, np.int8)
        used[self._rows, heads] = 1
        return Choice(heads, float(self.scores[self._rows, heads].sum()), {"heads": used})

    def _adjust_scores(self, adjust: Adjustments) -> NDArray[np.float64]:
        check_adjustments(self.spaces, adjust)
        return self.scores + adjust["heads"] if "heads" in adjust else self.scores
