"""Latent-dynamic CRFs on the tasks of Sun & Tsujii (2009): their tables and figures."""

from certus.bench.latent.claims import claims
from certus.bench.latent.plan import Plan, Point, Report, Row, TaskReport
from certus.bench.latent.run import run
from certus.bench.latent.tasks import TASKS

__all__ = ["TASKS", "Plan", "Point", "Report", "Row", "TaskReport", "claims", "run"]
