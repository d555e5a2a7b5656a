"""A sentence under a grammar as a part of a decomposition: the best tree when tags are adjusted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from certus import _native
from certus.errors import InvalidInput
from certus.part import Adjustments, Choice, Forbidden
from certus.syntax.constituency.forest import build_tree
from certus.syntax.constituency.memory import bounded_memory

NAME = "tags"


class TreePart:
    """The trees of one sentence, to be maximised again and again under adjustments of the tags.

    The first call parses the sentence and keeps the derivations near the best in a packed forest; later calls
    maximise over that alone, as long as it is certain that nothing outside of it is better, and parse anew
    when it is not (native/syntax/constituency/parses.hpp). Answers are those of parsing from scratch.

    Not to be used by two threads at once.

    Args:
        parses: the kernel's state.
        words: of the sentence.
        tags: how many there are.
        labels: the names of the labels of trees.

    Attributes:
        spaces: {"tags": (words, tags)}: which tag each word has.
        parses: how often the sentence was parsed so far.
        edges: in the forest that answered last.
    """

    def __init__(
        self, parses: _native.Parses, words: Sequence[str], *, tags: int, labels: Sequence[str]
    ) -> None:
        self._parses = parses
        self._words = words
        self._labels = labels
        self._shape = (len(words), tags)
        self._zero = np.zeros(self._shape)

    @property
    def spaces(self) -> Mapping[str, tuple[int, ...]]:
        """The shape of the indicators of tags."""
        return {NAME: self._shape}

    @property
    def parses(self) -> int:
        """How often the sentence was parsed so far."""
        return self._parses.parsed

    @property
    def edges(self) -> int:
        """How many edges the forest has that answered last."""
        return self._parses.edges

    def maximize(self, adjust: Adjustments) -> Choice:
        """Return the best tree under the adjustments; its score is without them.

        Raises:
            Forbidden: no tree is left (or the sentence has none at all).
        """
        added = self._adjustments(adjust)
        with bounded_memory([self._words]):
            best_score = self._parses.maximize(added)
        if best_score == -np.inf:
            raise Forbidden(
                "the sentence has no tree with tags that are allowed: "
                + " ".join(self._words[:8])
                + (" ..." if len(self._words) > 8 else "")
            )
        return self.read_structure(self._parses.write_best())

    def find_best_score(self) -> float:
        """Return the score of the best tree without adjustments; -inf where there is none.

        Trees near the best are kept: asked for before adjustments are, few of those need another parse.
        """
        with bounded_memory([self._words]):
            return self._parses.maximize_unadjusted()

    def make_native(
        self, base: NDArray[np.float64] | None = None, cells: NDArray[np.int64] | None = None
    ) -> _native.RelaxPart:
        """Return the trees for the kernels; they and this part share what was parsed so far.

        Other args:
            base: (words, tags) 0, or -inf for tags that are never allowed.
            cells: into the flattened space, rising: those that are shared; all by default.
        """
        given = self._zero if base is None else base
        shared = np.arange(given.size) if cells is None else cells
        return self._parses.make_part(self._shape[1], given.reshape(-1), shared)

    def read_structure(self, structure: _native.WrittenTree) -> Choice:
        """Return the tree that the kernels found, as a choice."""
        used = np.zeros(self._shape, np.int8)
        used[np.arange(len(structure.tags)), structure.tags] = 1
        tree = build_tree(structure, self._labels, self._words)
        return Choice(tree, structure.score, {NAME: used})

    def max_marginals(self, adjust: Adjustments, *, exact: bool = False) -> dict[str, NDArray[np.float64]]:
        """Return for each tag of each word the best score plus adjustments of a tree that uses it.

        Tags that only trees far below the best use are not in the forest; their cells hold a bound that no
        tree with them exceeds (never less than the truth, and at most what the forest leaves open). Cells
        that no tree can use are -inf.

        Args:
            adjust: the adjustments.
            exact: whether those cells shall be exact as well, which takes a wider forest: slow, for short
                sentences.
        """
        out = np.empty(self._shape)
        added = self._adjustments(adjust)
        with bounded_memory([self._words]):
            self._parses.max_marginals(added, out, exact)
        return {NAME: out}

    def _adjustments(self, adjust: Adjustments) -> NDArray[np.float64]:
        given = adjust.get(NAME)
        if given is None:
            return self._zero
        array = np.ascontiguousarray(given, np.float64)
        if array.shape != self._shape:
            raise InvalidInput(f"adjust[{NAME!r}] has the shape {array.shape}, not {self._shape}")
        allowed = (np.abs(array) <= 1e30) | (array == -np.inf)
        if not allowed.all():
            row, column = np.argwhere(~allowed)[0]
            raise InvalidInput(
                f"adjust[{NAME!r}][{row}, {column}] is {array[row, column]}; it must be a number up to "
                "1e30, or -inf"
            )
        return array
