"""The benchmarks of Certus, so that anyone can repeat the figures: ``certus bench``.

``harness`` holds what all benchmarks share; each of them is a module of its own with a ``BENCHMARK``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from certus_bench.harness.benchmark import Benchmark

NAMES = (
    "chain",
    "kbest",
    "tagger",
    "hypergraph",
    "constraints",
    "relax",
    "trees",
    "parse",
    "dependency",
    "vine",
    "joint",
    "align",
    "lm",
    "translate",
    "hiero",
    "corpus",
    "latent",
    "refinement",
)


def load_benchmark(name: str) -> Benchmark[Any, Any]:
    """Return one of the benchmarks in ``NAMES``; only its own module is imported."""
    benchmark: Benchmark[Any, Any] = import_module(f"certus_bench.{name}").BENCHMARK
    return benchmark
