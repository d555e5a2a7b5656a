"""Dual decomposition: state the parts and where they agree, get the best whole, with its proof."""

from __future__ import annotations

from certus.part import Adjustments, Choice, Forbidden, Part
from certus.relax.decomposition import Decomposition, Side
from certus.relax.errors import Inconsistent, Interrupted, NoAgreement, PartFailed
from certus.relax.factor_graph import FactorGraph
from certus.relax.files import read_factor_graphs
from certus.relax.optimizers import OPTIMIZERS, Admm, Auto, Bundle, Descent, Optimizer, Subgradient
from certus.relax.progress import Progress
from certus.relax.solution import Handle, JointSolution
from certus.relax.trace import Trace
from certus.relax.variables import Assignment, Literal, Variable

__all__ = [
    "OPTIMIZERS",
    "Adjustments",
    "Admm",
    "Assignment",
    "Auto",
    "Bundle",
    "Choice",
    "Decomposition",
    "Descent",
    "FactorGraph",
    "Forbidden",
    "Handle",
    "Inconsistent",
    "Interrupted",
    "JointSolution",
    "Literal",
    "NoAgreement",
    "Optimizer",
    "Part",
    "PartFailed",
    "Progress",
    "Side",
    "Subgradient",
    "Trace",
    "Variable",
    "read_factor_graphs",
]
