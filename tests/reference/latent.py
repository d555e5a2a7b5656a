"""The slow, obvious version of latent chains: every latent path is written down, scored and weighed.

Weights are exact fractions wherever scores are logarithms of whole numbers, so that probabilities are, too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from itertools import product

Matrix = Sequence[Sequence[int]]


def probabilities(
    emissions: Matrix,
    transitions: Matrix,
    owner: Sequence[int],
    start: Sequence[int] | None = None,
    end: Sequence[int] | None = None,
    pairs: Sequence[Matrix] | None = None,
) -> dict[tuple[int, ...], Fraction]:
    """P(y | x) of every label sequence that has any; the arguments are weights, not their logarithms.

    Those of ``pairs`` are for the steps of this sentence alone, times the transitions.
    """
    mass: dict[tuple[int, ...], int] = defaultdict(int)
    for path in product(range(len(owner)), repeat=len(emissions)):
        weight = 1
        for t, h in enumerate(path):
            weight *= emissions[t][h]
            if t:
                weight *= transitions[path[t - 1]][h]
                weight *= 1 if pairs is None else pairs[t - 1][path[t - 1]][h]
        if start is not None:
            weight *= start[path[0]]
        if end is not None:
            weight *= end[path[-1]]
        if weight:
            mass[tuple(owner[h] for h in path)] += weight
    total = sum(mass.values())
    return {labels: Fraction(weight, total) for labels, weight in mass.items()}
