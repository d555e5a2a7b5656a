"""The slow, obvious version of a corpus problem: all labels of all consensus nodes are tried.

Given these, sentences fall apart, and all label sequences of each are written down. The kernels try neither.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Problem:
    """Sentences of a chain and consensus nodes.

    Attributes:
        first: (sentences + 1,) where the tokens of each begin.
        emissions: (tokens, labels)
        transitions: (labels, labels)
        nodes: (tokens,) the node of each, -1 for none, -2 - c for a word that node c takes as observed.
        count: of nodes.
        delta: the weights same, close and null.
        groups: (labels,) labels of a group are close.
    """

    first: NDArray[np.int64]
    emissions: NDArray[np.float32]
    transitions: NDArray[np.float64]
    nodes: NDArray[np.int64]
    count: int
    delta: tuple[float, float, float]
    groups: NDArray[np.int32]

    @property
    def labels(self) -> int:
        return int(self.emissions.shape[1])

    def agreement(self, word: int, consensus: int) -> float:
        """What a word's label and a node's score together; the number of labels stands for none."""
        same, close, null = self.delta
        if consensus == self.labels:
            return null
        if word == consensus:
            return same
        return close if self.groups[word] == self.groups[consensus] else 0.0

    def sequences(self, sentence: int) -> list[tuple[tuple[int, ...], float]]:
        """All label sequences of a sentence that are possible, with their scores."""
        begin, end = int(self.first[sentence]), int(self.first[sentence + 1])
        found = []
        for labels in product(range(self.labels), repeat=end - begin):
            score = sum(float(self.emissions[begin + t, y]) for t, y in enumerate(labels))
            score += sum(float(self.transitions[a, b]) for a, b in pairwise(labels))
            if score > -np.inf:
                found.append((labels, score))
        return found

    def score(self, labels: NDArray[np.int32], alone: NDArray[np.int32]) -> float:
        """Score the labels of all tokens, with the best labels of the nodes; ``alone``: of observed words."""
        total = 0.0
        for begin, end in pairwise(self.first.tolist()):
            total += sum(float(self.emissions[t, labels[t]]) for t in range(begin, end))
            total += sum(float(self.transitions[labels[t - 1], labels[t]]) for t in range(begin + 1, end))
        for node in range(self.count):
            words = [int(labels[t]) for t in np.flatnonzero(self.nodes == node)]
            words += [int(alone[t]) for t in np.flatnonzero(self.nodes == -2 - node)]
            total += max(sum(self.agreement(y, z) for y in words) for z in range(self.labels + 1))
        return total

    def best(self, alone: NDArray[np.int32]) -> float:
        """The best score; ``alone``: the labels of observed words."""
        sentences = [self.sequences(n) for n in range(len(self.first) - 1)]
        most = -np.inf
        for z in product(range(self.labels + 1), repeat=self.count):
            seen = np.flatnonzero(self.nodes < -1)
            total = sum(self.agreement(int(alone[t]), z[-2 - self.nodes[t]]) for t in seen)
            for begin, sequences in zip(self.first.tolist(), sentences, strict=False):
                total += max(
                    score + sum(self.agreement(y, z[self.nodes[begin + t]])
                                for t, y in enumerate(labels) if self.nodes[begin + t] >= 0)
                    for labels, score in sequences
                )  # fmt: skip
            most = max(most, total)
        return most
