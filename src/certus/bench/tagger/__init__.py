"""Trained taggers, measured: the papers' tables, and the figures of the documentation."""

from certus.bench.tagger.claims import claims
from certus.bench.tagger.plan import PARTS, Learning, Plan, Report, Startup, Trained
from certus.bench.tagger.run import run

__all__ = ["PARTS", "Learning", "Plan", "Report", "Startup", "Trained", "claims", "run"]
