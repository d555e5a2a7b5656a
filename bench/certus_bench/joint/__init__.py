"""Joint parsing and tagging, measured: the tables of Rush et al. (2010)."""

from certus_bench.joint.claims import claims
from certus_bench.joint.plan import Plan, Report
from certus_bench.joint.run import run

__all__ = ["Plan", "Report", "claims", "run"]
