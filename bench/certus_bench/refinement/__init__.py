"""Refinement HMMs, measured: consistency, accuracy over hidden states, ablation (Stratos et al. 2013)."""

from certus_bench.refinement import picture
from certus_bench.refinement.claims import claims
from certus_bench.refinement.plan import PARTS, Error, Plan, Report, Trained
from certus_bench.refinement.run import run

__all__ = ["PARTS", "Error", "Plan", "Report", "Trained", "claims", "picture", "run"]
