"""The slow, obvious version of the pruned CRF: all label sequences are written down, none is pruned.

A sequence scores the weights of (feature, unit) for all units its labels are made of, and at every
position, the end included, for every order m up to the model's, the weights of the m + 1 labels that end
there (fewer where the sentence begins), and the same of their coarse tags.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np

Labels = tuple[int, ...]
Name = tuple[str | int, ...]
"""A weight's: ("row", feature, unit), ("full", label, label, ...) or ("coarse", tag, tag, ...)."""

MASK = (1 << 64) - 1


def mix(a: int, b: int) -> int:
    wide = (a ^ 0x9E3779B97F4A7C15) * (b ^ 0xD6E8FEB86659FD93)
    return (wide & MASK) ^ (wide >> 64)


def ngram_key(name: Name) -> int:
    """The key under which the native code keeps the weight of a sequence."""
    key = 1 if name[0] == "full" else 2
    for part in name[1:]:
        key = mix(key, int(part))
    return key


@dataclass
class Crf:
    """Labels by their units, the coarse tag first; the sentence's features are numbers."""

    parts: list[list[int]]
    groups: int
    order: int
    weights: dict[Name, float] = field(default_factory=dict)

    @property
    def labels(self) -> int:
        return len(self.parts)

    def tag(self, label: int) -> int:
        return self.groups if label == self.labels else self.parts[label][0]

    def ngrams(self, labels: Sequence[int], order: int) -> Iterator[Name]:
        """The names of the sequences of one order, by position."""
        bounded = [self.labels, *labels, self.labels]
        for t in range(1, len(bounded)):
            ending = bounded[max(0, t - order) : t + 1]
            yield ("full", *ending)
            yield ("coarse", *map(self.tag, ending))

    def counts(self, sentence: Sequence[Sequence[int]], labels: Sequence[int]) -> Counter[Name]:
        """How often each weight is part of the score."""
        rows = [
            ("row", f, u)
            for features, y in zip(sentence, labels, strict=True)
            for f in features
            for u in self.parts[y]
        ]
        sequences = [name for m in range(1, self.order + 1) for name in self.ngrams(labels, m)]
        return Counter([*rows, *sequences])

    def score(self, sentence: Sequence[Sequence[int]], labels: Sequence[int]) -> float:
        if not labels:
            return 0.0
        return sum(n * self.weights.get(name, 0.0) for name, n in self.counts(sentence, labels).items())

    def all_scores(self, sentence: Sequence[Sequence[int]]) -> dict[Labels, float]:
        """Of every label sequence what `score` says; what ends at a position is added up once."""
        if not sentence:
            return {(): 0.0}
        known: dict[Labels, float] = {}

        def add_ending(labels: Labels) -> float:
            ending = labels[max(0, len(labels) - 1 - self.order) :]
            if ending not in known:
                tags = tuple(map(self.tag, ending))
                known[ending] = sum(
                    self.weights.get((kind, *numbers[max(0, len(numbers) - 1 - m) :]), 0.0)
                    for m in range(1, self.order + 1)
                    for kind, numbers in (("full", ending), ("coarse", tags))
                )
            return known[ending]

        scores: dict[Labels, float] = {(self.labels,): 0.0}
        for features in sentence:
            rows = [
                sum(self.weights.get(("row", f, u), 0.0) for f in features for u in units)
                for units in self.parts
            ]
            scores = {
                (*before, y): score + row + add_ending((*before, y))
                for before, score in scores.items()
                for y, row in enumerate(rows)
            }
        return {labels[1:]: score + add_ending((*labels, self.labels)) for labels, score in scores.items()}

    def gradient(self, sentence: Sequence[Sequence[int]], gold: Sequence[int]) -> dict[Name, float]:
        """Of the log-likelihood: what there is, less what the model expects."""
        gradient: dict[Name, float] = defaultdict(float)
        for name, n in self.counts(sentence, gold).items():
            gradient[name] += n
        for labels, p in probabilities(self.all_scores(sentence)).items():
            for name, n in self.counts(sentence, labels).items():
                gradient[name] -= p * n
        return gradient

    def local_gradient(
        self, sentence: Sequence[Sequence[int]], gold: Sequence[int], parts: list[list[int]]
    ) -> dict[Name, float]:
        """As if each token were alone, and one of `parts` were to be chosen: coarse tags, or labels."""
        gradient: dict[Name, float] = defaultdict(float)
        for features, right in zip(sentence, gold, strict=True):
            scores = [
                sum(self.weights.get(("row", f, u), 0.0) for f in features for u in units) for units in parts
            ]
            p = np.exp(scores - np.logaddexp.reduce(scores))
            for choice, units in enumerate(parts):
                for f, u in product(features, units):
                    gradient["row", f, u] += (choice == right) - float(p[choice])
        return gradient


def log_partition(scores: dict[Labels, float]) -> float:
    return float(np.logaddexp.reduce(list(scores.values())))


def probabilities(scores: dict[Labels, float]) -> dict[Labels, float]:
    total = log_partition(scores)
    return {labels: float(np.exp(score - total)) for labels, score in scores.items()}


def posterior(scores: dict[Labels, float], position: int, label: int) -> float:
    return sum(p for labels, p in probabilities(scores).items() if labels[position] == label)


@dataclass
class CumulativePenalty:
    """Tsuruoka, Tsujii and Ananiadou (2009), figure 2, applied whenever a weight changes."""

    weights: dict[Name, float]
    received: dict[Name, float] = field(default_factory=lambda: defaultdict(float))
    due: float = 0.0

    def change(self, name: Name, step: float) -> None:
        before = self.weights.get(name, 0.0) + step
        after = before
        if before > 0:
            after = max(0.0, before - (self.due + self.received[name]))
        elif before < 0:
            after = min(0.0, before + (self.due - self.received[name]))
        self.received[name] += after - before
        self.weights[name] = after
