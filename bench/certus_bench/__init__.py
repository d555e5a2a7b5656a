"""Benchmarks that ship with the package, so that anyone can repeat the figures: ``certus bench``."""

from certus_bench.chain import run
from certus_bench.claims import Claim, claims
from certus_bench.plan import Plan, Report, Row, Whole

__all__ = ["Claim", "Plan", "Report", "Row", "Whole", "claims", "run"]
