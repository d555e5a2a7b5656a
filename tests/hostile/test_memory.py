"""The memory of a search does not grow with the square of the labels, nor with a k that nothing fills."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import certus
from certus.chain import METHODS

SPARSE = """
import resource, sys
import numpy as np, certus
rng = np.random.default_rng(1)
L, T = 100_000, 5
origin, target = rng.integers(0, L, (2, 300_000))
pairs = np.unique(origin * L + target)
scores = rng.normal(size=len(pairs)).astype(np.float32)
chain = certus.Chain(certus.SparseTransitions(L, pairs // L, pairs % L, scores))
emissions = rng.normal(size=(T, L)).astype(np.float32)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
found = [chain.decode(emissions, k=k, method=m) for k, m in ((1, "auto"), (3, "auto"), (1, "viterbi"))]
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
print(*(found[0].score, found[1].scores[0], found[2].score))
"""


def test_many_labels_take_little_memory() -> None:
    run = subprocess.run([sys.executable, "-c", SPARSE], capture_output=True, text=True, check=True)
    kibibytes, scores = run.stdout.splitlines()
    assert int(kibibytes) < 300_000
    assert len(set(map(float, scores.split()))) == 1


@pytest.mark.parametrize("default", [0.0, -3.0, -np.inf])
def test_many_labels_that_all_matter_are_stepped_from_together(default: float) -> None:
    """More labels stay per position than are written out one by one, from the left and from the right."""
    rng = np.random.default_rng(2)
    for labels in (300, 2000):
        origin, target = rng.integers(0, labels, (2, 6 * labels))
        pairs = np.unique(origin * labels + target)
        scores = rng.integers(-3, 4, len(pairs)).astype(np.float64)
        sparse = certus.SparseTransitions(labels, pairs // labels, pairs % labels, scores, default=default)
        emissions = rng.integers(-2, 3, (8, labels)).astype(np.float64)
        emissions[:, ::7] += rng.integers(0, 3)
        for k in (1, 4):
            found: Any = certus.Chain(sparse).decode(emissions, k=k)
            wanted: Any = certus.Chain(sparse.to_dense()).decode(
                emissions, k=k, method="viterbi" if k == 1 else "viterbi-astar"
            )
            assert np.array_equal(
                found.score if k == 1 else found.scores, wanted.score if k == 1 else wanted.scores
            )


MANY = [name for name, method in METHODS.items() if method.many]


@pytest.mark.parametrize("method", MANY)
def test_a_list_is_as_long_as_there_are_paths(method: str) -> None:
    transitions = np.full((20, 20), -np.inf)
    transitions[0, :2] = transitions[1, :2] = 0
    start = np.where(np.arange(20) < 2, 0, -np.inf)
    chain: Any = certus.Chain(transitions, start=start)
    found = chain.decode(np.random.default_rng(1).normal(size=(10, 20)), k=10**9, method=method)
    assert (len(found), found.exhausted) == (2**10, True)
    batch = chain.decode_batch([np.zeros((4, 20)), np.zeros((2, 20))], k=10**9, method=method)
    assert [len(one) for one in batch] == [16, 4]


@pytest.mark.parametrize("method", MANY)
def test_a_list_that_would_not_fit_is_refused(method: str) -> None:
    chain: Any = certus.Chain(np.zeros((20, 20)))
    with pytest.raises(certus.InvalidInput, match=r"k = 1000000000 .* need about [\d,]+ GiB"):
        chain.decode(np.zeros((23, 20)), k=10**9, method=method)
    with pytest.raises(certus.InvalidInput, match="k = 1000000000"):
        chain.decode_batch([np.zeros((23, 20))] * 2, k=10**9, method=method)
