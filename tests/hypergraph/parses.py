"""Forests of the shape that parsers make: spans, labels, splits."""

from __future__ import annotations

import numpy as np

from certus.hypergraph import Builder, Hypergraph


def parse_forest(rng: np.random.Generator, words: int, labels: int, rules: int) -> Hypergraph:
    """Every binary bracketing of some words, with labels from random rules A -> B C."""
    grammar = {tuple(rng.integers(labels, size=3).tolist()) for _ in range(rules)}
    grammar |= {(0, 0, 0)}
    builder = Builder()
    for begin in range(words):
        for label in range(labels):
            builder.add((begin, begin + 1, label))
    for width in range(2, words + 1):
        for begin in range(words - width + 1):
            end = begin + width
            for a, b, c in sorted(grammar):
                for split in range(begin + 1, end):
                    builder.add((begin, end, a), [(begin, split, b), (split, end, c)], label=(a, b, c))
    return builder.build((0, words, 0))
