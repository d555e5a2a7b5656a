"""Benchmarks that ship with the package, so that anyone can repeat the figures: ``certus bench``."""

from certus.bench.chain import run
from certus.bench.claims import Claim, claims
from certus.bench.plan import Plan, Report, Row, Whole

__all__ = ["Claim", "Plan", "Report", "Row", "Whole", "claims", "run"]
