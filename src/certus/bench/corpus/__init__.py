"""Consistency across a corpus, measured: ``certus bench corpus``."""

from certus.bench.corpus.plan import Plan, Report
from certus.bench.corpus.run import run

__all__ = ["Plan", "Report", "run"]
