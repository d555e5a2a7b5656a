"""Latent-dynamic CRFs on the tasks of Sun & Tsujii (2009): their tables and figures."""

from certus_bench.latent.claims import claims
from certus_bench.latent.plan import Plan, Point, Report, Row, TaskReport
from certus_bench.latent.run import run
from certus_bench.latent.tasks import TASKS

__all__ = ["TASKS", "Plan", "Point", "Report", "Row", "TaskReport", "claims", "run"]
