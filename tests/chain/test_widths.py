"""Answers do not depend on how wide the machine's registers are."""

from __future__ import annotations

import os
import subprocess
import sys

PROGRAM = """
import numpy as np, certus
rng = np.random.default_rng(7)
for dtype in (np.float32, np.float64):
    for labels in (1, 3, 17, 45, 64, 161, 200, 319, 443, 1100):
        transitions = rng.normal(size=(labels, labels)).astype(dtype)
        transitions[rng.random((labels, labels)) < 0.1] = -np.inf
        chain = certus.Chain(transitions)
        for scale in (1, 20):
            emissions = [(scale * rng.normal(size=(9, labels))).astype(dtype) for _ in range(3)]
            for method in ("auto", "viterbi"):
                for answer in chain.decode_batch(emissions, method=method, infeasible="return"):
                    print(method, answer.optimal and answer.labels.tolist(), answer.score.hex(), answer.stats)
"""


def answers(width: int) -> str:
    environment = {**os.environ, "CERTUS_VECTOR_BYTES": str(width)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_widths() -> None:
    widest = answers(64)
    assert widest.count("\n") == 2 * 10 * 2 * 2 * 3
    assert answers(32) == widest
    assert answers(16) == widest
