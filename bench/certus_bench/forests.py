"""Forests of the shape that parsers make, in any size, straight as arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class ParseForest:
    """What ``Hypergraph`` takes, tails below heads and edges sorted by head."""

    heads: Ints
    offsets: Ints
    tails: Ints
    goal: int
    nodes: int

    def shuffled(self, seed: int) -> ParseForest:
        """Return the same forest with its nodes and edges numbered at random."""
        rng = np.random.default_rng(seed)
        number, order = rng.permutation(self.nodes), rng.permutation(len(self.heads))
        lengths = np.diff(self.offsets)[order]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        tails = self.tails[np.repeat(self.offsets[order] - offsets[:-1], lengths) + np.arange(offsets[-1])]
        return ParseForest(
            number[self.heads[order]], offsets, number[tails], int(number[self.goal]), self.nodes
        )


def parse_forest(edges: int, *, words: int = 60, labels: int = 20, seed: int = 0) -> ParseForest:
    """Every bracketing of some words under random rules A -> B C: about so many edges, nearly all binary.

    A node is a label over a span; spans come by length, so that tails come before heads.
    """
    splits = words * (words * words - 1) // 6
    rules = max(1, round((edges - words * labels) / splits))
    rng = np.random.default_rng(seed)
    above, left, right = rng.integers(0, labels, (3, rules))
    above = np.sort(above)
    above[0] = left[0] = right[0] = 0  # so that there is a derivation
    begin, length = np.array([(i, n) for n in range(1, words + 1) for i in range(words - n + 1)]).T
    span = np.zeros((words + 1, words + 1), np.int64)  # [begin, length]
    span[begin, length] = np.arange(len(begin))
    heads, tails = [np.arange(words * labels)], []
    for number in range(words, len(begin)):
        first, whole = begin[number], length[number]
        part = np.arange(1, whole)
        heads.append(np.repeat(number * labels + above, whole - 1))
        lefts = span[first, part] * labels + left[:, None]
        rights = span[first + part, whole - part] * labels + right[:, None]
        tails.append(np.stack([lefts, rights], axis=-1).reshape(-1))
    head = np.concatenate(heads)
    tail = np.concatenate(tails)
    leaves = np.zeros(words * labels, np.int64)
    goal = (len(begin) - 1) * labels
    return ParseForest(
        head, np.concatenate([leaves, np.arange(0, len(tail) + 1, 2)]), tail, goal, len(begin) * labels
    )
