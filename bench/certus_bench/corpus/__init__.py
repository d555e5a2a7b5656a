"""Consistency across a corpus, measured: ``certus bench corpus``."""

from certus_bench.corpus.plan import Plan, Report
from certus_bench.corpus.run import run

__all__ = ["Plan", "Report", "run"]
