"""The Markov random field of consensus nodes by itself, as a part of a decomposition.

``certus.corpus.tag`` has it inside its kernels. Here it stands alone, for other sentence models: in parsing,
the candidates of a word are its possible heads, and their labels the heads' tags (Rush et al. 2012, §4).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from certus import _native
from certus.corpus.agreement import Agreement, number_groups
from certus.errors import InvalidInput
from certus.part import Adjustments, Choice, Forbidden

MOST_NODES = 1 << 24  # each has a label in every solution: numbers with large gaps would need all memory


class Mrf:
    """Consensus nodes, each joined to its words (naive Bayes), maximised exactly.

    A solution gives each word one of its candidates and each node one of the labels, or none; it scores the
    sum of what the words' labels and their nodes' score together.

    Args:
        agreement: the weights.
        nodes: for each word the number of its node, from 0 to 16,777,215, without large gaps.
        candidates: for each word the labels of its candidates, as numbers from 0.
        labels: how many labels there are.
        groups: for each label what it is close to: labels of equal groups are; by default none are.
        observed: words whose labels are known: (node, label) or (node, label, count).

    Attributes:
        spaces: ``candidates``, of all candidates of all words, one after the other.
        first: (words + 1,) where the candidates of each word begin.
    """

    papers: ClassVar[tuple[str, ...]] = ("rush2012",)

    def __init__(
        self,
        agreement: Agreement,
        nodes: Sequence[int],
        candidates: Sequence[Sequence[int]],
        labels: int,
        *,
        groups: Sequence[Hashable] | None = None,
        observed: Sequence[tuple[int, int] | tuple[int, int, float]] = (),
    ) -> None:
        if len(nodes) != len(candidates):
            raise InvalidInput(
                f"there are nodes for {len(nodes)} words, and candidates for {len(candidates)}"
            )
        close = np.arange(labels, dtype=np.int32) if groups is None else number_groups(groups)
        if len(close) != labels:
            raise InvalidInput(f"groups has {len(close)} items for {labels} labels")
        self.first = np.concatenate(
            [[0], np.cumsum([len(several) for several in candidates], dtype=np.int64)]
        )
        flat = np.fromiter(
            (label for several in candidates for label in several), np.int32, int(self.first[-1])
        )
        seen = [(*one, 1.0)[:3] for one in observed]
        seen_nodes = np.array([one[0] for one in seen], np.int64)
        seen_labels = np.array([one[1] for one in seen], np.int32)
        _check(np.asarray(nodes, np.int64), self.first, flat, seen_nodes, seen_labels, labels)
        self.spaces: Mapping[str, tuple[int, ...]] = {"candidates": (len(flat),)}
        self._count = 1 + max([*(int(node) for node in nodes), *seen_nodes.tolist()], default=-1)
        self._native = _native.Mrf(
            close,
            agreement.same,
            agreement.close,
            agreement.null,
            self._count,
            np.asarray(nodes, np.int64),
            self.first,
            flat,
            seen_nodes,
            seen_labels,
            np.array([one[2] for one in seen], np.float64),
        )

    def maximize(self, adjust: Adjustments) -> Choice:
        """Return the best solution under adjusted scores of candidates.

        Its value is a pair: the candidate of each word, and the label of each node (the number of labels for
        a node that is turned off).
        """
        added = adjust.get("candidates")
        size = self.spaces["candidates"][0]
        u = np.zeros(size) if added is None else np.ascontiguousarray(added, np.float64)
        if u.shape != (size,) or np.isnan(u).any() or (u == np.inf).any():
            raise InvalidInput(f"adjustments must be {size} numbers, finite or -inf")
        which = np.arange(self._count, dtype=np.int64)
        best = self._native.maximize(which, u)
        if not np.isfinite(best.scores).all():
            node = np.argmin(best.scores)
            raise Forbidden(f"the adjustments forbid all candidates of a word of node {node}")
        picked = self.first[:-1] + best.candidates
        indicators = np.zeros(size, np.int8)
        indicators[picked] = 1
        value = best.candidates, best.labels
        return Choice(value, float(best.scores.sum() - u[picked].sum()), {"candidates": indicators})


def _check(
    nodes: NDArray[np.int64],
    first: NDArray[np.int64],
    flat: NDArray[np.int32],
    seen_nodes: NDArray[np.int64],
    seen_labels: NDArray[np.int32],
    labels: int,
) -> None:
    """Refuse numbers that stand for nothing."""
    empty = np.flatnonzero(np.diff(first) == 0)
    if len(empty):
        raise InvalidInput(f"word {empty[0]} has no candidate")
    for name, values, most in (
        ("node", np.concatenate([nodes, seen_nodes]), MOST_NODES),
        ("label", np.concatenate([flat, seen_labels]), labels),
    ):
        wrong = values[(values < 0) | (values >= most)]
        if len(wrong):
            raise InvalidInput(f"{name} {wrong[0]} does not exist; numbers are from 0 to {most - 1}")
