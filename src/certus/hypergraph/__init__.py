"""Packed forests: acyclic hypergraphs whose derivations are scored, counted, pruned and constrained."""

from certus.hypergraph.builder import Builder
from certus.hypergraph.constrained import Constrained, ConstrainedSolution, Trace
from certus.hypergraph.errors import Cyclic, NoDerivation
from certus.hypergraph.graph import Hypergraph, Pruned, Saved, load
from certus.hypergraph.methods import METHODS
from certus.hypergraph.results import Marginals, MaxMarginals

__all__ = [
    "METHODS",
    "Builder",
    "Constrained",
    "ConstrainedSolution",
    "Cyclic",
    "Hypergraph",
    "Marginals",
    "MaxMarginals",
    "NoDerivation",
    "Pruned",
    "Saved",
    "Trace",
    "load",
]
