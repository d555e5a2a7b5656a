"""Scores far apart, with states that nothing leads to, that lead nowhere, or that are not allowed."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from certus.latent import LatentChain

Floats = NDArray[np.float64]


def log_sum(values: Floats) -> Floats:
    """The log of the sum of exponentials over the first axis."""
    top = values.max(axis=0)
    safe = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        total: Floats = np.log(np.exp(values - safe).sum(axis=0)) + safe
    return total


def sum_paths(transitions: Floats, emissions: Floats) -> float:
    """The log of the mass of all paths, in logarithms throughout."""
    ahead = emissions[0]
    for row in emissions[1:]:
        ahead = log_sum(ahead[:, None] + transitions) + row
    return float(log_sum(ahead))


@pytest.mark.parametrize("seed", range(20))
def test_masses_are_those_of_logarithms(seed: int) -> None:
    rng = np.random.default_rng(seed)
    states, length = 6, int(rng.integers(2, 30))
    transitions = rng.uniform(-140, 0, (states, states))
    if seed % 4:
        transitions[:, 0] = -np.inf  # nothing leads there
        transitions[5] = -np.inf  # and this leads nowhere
    if seed % 4 == 3:
        transitions[2, 3] = -np.inf  # states lead to different ones
    emissions = rng.uniform(-140, 0, (length, states))
    emissions[rng.random(emissions.shape) < 0.2] = -np.inf
    emissions[:, 1] = rng.uniform(-140, 0, length)  # so that something is possible
    chain = LatentChain(transitions, 2)
    total = sum_paths(transitions, emissions)
    found = chain.marginals(emissions)
    assert found.log_partition == pytest.approx(total, rel=1e-12)
    labels = chain.decode(emissions).labels
    mask = chain.owner[None, :] == np.asarray(labels)[:, None]
    own = sum_paths(transitions, np.where(mask, emissions, -np.inf))
    assert chain.log_probability(emissions, labels) == pytest.approx(own - total, abs=1e-9)
    for t in (0, length // 2, length - 1):
        for label in range(chain.labels):
            limited = emissions.copy()
            limited[t, chain.owner != label] = -np.inf
            share = np.exp(sum_paths(transitions, limited) - total)
            assert found.probabilities[t, label] == pytest.approx(share, abs=1e-9)
