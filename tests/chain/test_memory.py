"""Decoding needs memory linear in T·L beyond its inputs."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.patience import SANITIZED

LENGTH, LABELS = 2000, 2602
MEBIBYTE = 2**20
BUDGET = 6 * LENGTH * LABELS * 4 + 64 * MEBIBYTE  # a dense (T, L, L) or a table of k·T·L would need gigabytes

# Runs by itself, so that the peak is its own. The short sentence prepares the transitions.
PROGRAM = """
import sys
import numpy as np
import certus

def kilobytes(field):  # not getrusage, whose peak a process takes over from the one that started it
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(field))

method, k, length, labels = sys.argv[1], *map(int, sys.argv[2:])
rng = np.random.default_rng(1)
transitions = rng.standard_normal((labels, labels), dtype=np.float32)
emissions = rng.standard_normal((length, labels), dtype=np.float32)
emissions[np.arange(length), rng.integers(labels, size=length)] += 40
chain = certus.Chain(transitions)
chain.decode(emissions[:3], k=k, method=method)
before = kilobytes("VmRSS")
found = chain.decode(emissions, k=k, method=method)
assert found.optimal if k == 1 else len(found) == k
print((kilobytes("VmHWM") - before) * 1024)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads the memory of a process from /proc")
@pytest.mark.skipif(SANITIZED, reason="the sanitizer keeps memory of its own")
@pytest.mark.parametrize(("method", "k"), [("auto", 1), ("viterbi", 1), ("auto", 5), ("viterbi-astar", 5)])
def test_memory_is_linear(method: str, k: int) -> None:
    command = [sys.executable, "-c", PROGRAM, method, str(k), str(LENGTH), str(LABELS)]
    grown = int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert grown < BUDGET, f"{grown / MEBIBYTE:.0f} MiB; the budget is {BUDGET / MEBIBYTE:.0f} MiB"
