"""The slow averaged perceptron (Collins 2002): dictionaries of whole numbers, updated as the paper says."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float32]
Decode: TypeAlias = Callable[[Floats, Floats, Floats, Floats], list[int]]


class Perceptron:
    """Weights by (feature, unit) and by (label, label), the boundary being the label after the last.

    If asked for, every feature also has weights by (feature, label, label).
    """

    def __init__(self, parts: list[list[int]], decode: Decode, with_pairs: bool = False) -> None:
        self.parts = parts
        self.decode = decode
        self.with_pairs = with_pairs
        self.steps_of: dict[tuple[int, int], int] = defaultdict(int)  # by feature, and pair as one number
        self.rows: dict[tuple[int, int], int] = defaultdict(int)
        self.pairs: dict[tuple[int, int], int] = defaultdict(int)
        self.sums: dict[tuple[str, int, int], int] = defaultdict(int)
        self.steps = 0

    def train(self, sentence: Sequence[Sequence[int]], gold: Sequence[int]) -> int:
        """One step; how many tokens were wrong before it."""
        found = self.decode(*self.scores(sentence)) if sentence else []
        for labels, amount in ((gold, 1), (found, -1)):
            self._add(sentence, labels, amount)
        self.steps += 1
        for pair, weight in self.rows.items():
            self.sums[("row", *pair)] += weight
        for pair, weight in self.pairs.items():
            self.sums[("pair", *pair)] += weight
        for pair, weight in self.steps_of.items():
            self.sums[("step", *pair)] += weight
        return sum(a != b for a, b in zip(found, gold, strict=True))

    def _add(self, sentence: Sequence[Sequence[int]], labels: Sequence[int], amount: int) -> None:
        edge = len(self.parts)
        for features, y in zip(sentence, labels, strict=True):
            for f in features:
                for u in self.parts[y]:
                    self.rows[f, u] += amount
        for a, b in pairwise([edge, *labels, edge]) if labels else ():
            self.pairs[a, b] += amount
        for features, (a, b) in zip(sentence[1:] if self.with_pairs else [], pairwise(labels), strict=False):
            for f in features:
                self.steps_of[f, a * edge + b] += amount

    def scores(self, sentence: Sequence[Sequence[int]]) -> tuple[Floats, Floats, Floats, Floats]:
        """Emissions, transitions, start and end."""
        L = len(self.parts)
        emissions = [
            [sum(self.rows[f, u] for f in fs for u in units) for units in self.parts] for fs in sentence
        ]
        pairs = np.array([[self.pairs[a, b] for b in range(L + 1)] for a in range(L + 1)], np.float32)
        transitions = pairs[:L, :L].copy()
        if self.with_pairs and len(sentence) > 1:
            added = [
                [[sum(self.steps_of[f, a * L + b] for f in fs) for b in range(L)] for a in range(L)]
                for fs in sentence[1:]
            ]
            transitions = transitions + np.array(added, np.float32)
        return np.array(emissions, np.float32), transitions, pairs[L, :L].copy(), pairs[:L, L].copy()

    def average(self, kind: str, a: int, b: int) -> float:
        return self.sums[kind, a, b] / self.steps
