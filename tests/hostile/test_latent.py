"""Bounds of latent chains are numbers, whatever the scores."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import certus
from certus.latent import LDI, MBR, LatentChain

INFERENCES: list[Any] = ["ldi", "bhp", "bmp", "mbr", LDI(steps=1), LDI(steps=2, bound="mass"), MBR(best=2)]


def draw(rng: np.random.Generator, size: float, *shape: int) -> NDArray[Any]:
    scores = rng.uniform(-3, 3, shape) * rng.choice([1, size], shape)
    return np.where(rng.random(shape) < rng.choice([0, 0.2, 0.5]), -np.inf, scores)


def test_bounds_are_numbers_between_the_score_and_certainty() -> None:
    rng = np.random.default_rng(1)
    answers = refused = 0
    for _ in range(200):
        size = float(rng.choice([1, 100, 1e4, 1e10, 1e100, 1e290, 1e307, 4e307]))
        labels, latent, length = (int(n) for n in rng.integers(1, 4, 3))
        states = labels * latent
        chain: Any = LatentChain(draw(rng, size, states, states), latent, start=draw(rng, size, states))
        emissions, pairs = draw(rng, size, length, states), draw(rng, size, length - 1, states, states)
        for inference in INFERENCES:
            for own in (None, pairs):
                try:
                    found = chain.decode(emissions, pairs=own, inference=inference, infeasible="return")
                except certus.InvalidInput:
                    refused += 1
                    continue
                if found.status is certus.Status.INFEASIBLE:
                    continue
                answers += 1
                assert math.isfinite(found.bound)
                assert found.score <= found.bound <= max(0, found.score)
                assert 0 <= found.remaining <= 1
    assert answers > refused > 0


def test_the_bound_of_scores_beyond_the_range_is_refused() -> None:
    chain: Any = LatentChain(np.zeros((2, 2)), 1)
    for inference in INFERENCES:
        with pytest.raises(certus.InvalidInput, match="beyond the range of float64"):
            chain.decode([[1.7e308, -1.7e308], [-1.7e308, 1.7e308]], inference=inference)
