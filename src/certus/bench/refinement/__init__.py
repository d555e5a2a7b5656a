"""Refinement HMMs, measured: consistency, accuracy over hidden states, ablation (Stratos et al. 2013)."""

from certus.bench.refinement import picture
from certus.bench.refinement.claims import claims
from certus.bench.refinement.plan import PARTS, Error, Plan, Report, Trained
from certus.bench.refinement.run import run

__all__ = ["PARTS", "Error", "Plan", "Report", "Trained", "claims", "picture", "run"]
