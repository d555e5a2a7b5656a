"""Trained taggers, measured: the papers' tables, and the figures of the documentation."""

from certus_bench.tagger.claims import claims
from certus_bench.tagger.plan import PARTS, Learning, Plan, Report, Startup, Trained
from certus_bench.tagger.run import run

__all__ = ["PARTS", "Learning", "Plan", "Report", "Startup", "Trained", "claims", "run"]
