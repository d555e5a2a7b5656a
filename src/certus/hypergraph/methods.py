"""The methods of constrained search, and how the native ones are run."""

from __future__ import annotations

import math
from dataclasses import dataclass
from time import perf_counter
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from certus import _native
from certus.hypergraph.errors import explain_too_large
from certus.hypergraph.forest import Forest
from certus.hypergraph.rows import Constraints
from certus.solution import Status

Method: TypeAlias = Literal[
    "auto", "optimal-beam", "staged-beam", "beam", "lagrangian", "tightening", "branching", "astar", "ilp"
]
METHODS: tuple[Method, ...] = get_args(Method)

_NATIVE = {
    "auto": _native.ForestMethod.AUTOMATIC,
    "optimal-beam": _native.ForestMethod.OPTIMAL_BEAM,
    "staged-beam": _native.ForestMethod.STAGED_BEAM,
    "beam": _native.ForestMethod.BEAM,
    "lagrangian": _native.ForestMethod.LAGRANGIAN,
    "tightening": _native.ForestMethod.TIGHTENING,
    "branching": _native.ForestMethod.BRANCHING,
    "astar": _native.ForestMethod.ASTAR,
}
_UNITS = 16  # of work between looks at the clock and at Ctrl-C
_STATES = 4096  # of the intersection before branching splits
_BEAM = 1000  # states per node
FIRST_BEAM = 16  # of a beam that is widened


@dataclass(frozen=True)
class Limits:
    """How long a search may take; None is no limit."""

    iterations: int | None = None
    nodes: int | None = None
    seconds: float = math.inf


def start_search(
    graph: Forest, scores: NDArray[np.generic], constraints: Constraints, method: Method, beam: int | None
) -> _native.ForestSearch:
    """Begin a native search for the best derivation."""
    native = _NATIVE[method]
    if native is _native.ForestMethod.BRANCHING:
        size = _STATES
    elif native is _native.ForestMethod.BEAM:
        size = beam or _BEAM
    else:
        size = FIRST_BEAM
    return _native.search_forest(graph.native, scores, *constraints.arrays, native, size)


def run_search(search: _native.ForestSearch, limits: Limits) -> Status | None:
    """Search until the end, or until a limit, which is returned. Ctrl-C works in between."""
    begin = perf_counter()
    while True:
        left = _UNITS if limits.iterations is None else min(_UNITS, limits.iterations - search.iterations)
        if left <= 0:
            return Status.ITERATIONS
        if search.run(left, limits.seconds - (perf_counter() - begin)):
            return None
        if search.too_large:
            raise explain_too_large("constraints are checked on derivations")
        if limits.nodes is not None and search.subproblems > limits.nodes:
            return Status.NODES
        if perf_counter() - begin > limits.seconds:
            return Status.SECONDS
