"""Why no derivation satisfies the constraints: as few of them as a short search finds."""

from __future__ import annotations

from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from certus.hypergraph.forest import Forest
from certus.hypergraph.methods import Limits, run_search, start_search
from certus.hypergraph.rows import Constraints

_SECONDS = 2.0
_SHOWN = 12


def explain_conflict(graph: Forest, scores: NDArray[np.generic], constraints: Constraints) -> str:
    """Name one constraint that nothing satisfies, or several that contradict each other."""
    begin = perf_counter()
    kept = list(range(constraints.count))
    for row in range(constraints.count):
        if _is_infeasible(graph, scores, constraints.select([row])):
            return _explain_row(graph, scores, constraints, row)
    for row in range(constraints.count):
        if perf_counter() - begin > _SECONDS:
            break
        fewer = [other for other in kept if other != row]
        if _is_infeasible(graph, scores, constraints.select(fewer)):
            kept = fewer
    shown = ", ".join(map(str, kept[:_SHOWN]))
    more = f" and {len(kept) - _SHOWN} more" if len(kept) > _SHOWN else ""
    return f"Each constraint can be satisfied, but not these together: {shown}{more}"


def _is_infeasible(graph: Forest, scores: NDArray[np.generic], constraints: Constraints) -> bool:
    search = start_search(graph, scores, constraints, "auto", None)
    limit = run_search(search, Limits(seconds=_SECONDS / 4))
    return limit is None and not search.found


def _explain_row(graph: Forest, scores: NDArray[np.generic], constraints: Constraints, row: int) -> str:
    """Say which sums of a constraint that cannot be satisfied there are."""
    one = constraints.select([row])
    values = np.where(np.isfinite(scores), 0.0, -np.inf)
    np.add.at(values, one.edges, one.coefficients)
    most = graph.decode(values).score
    least = 0.0 - graph.decode(np.where(np.isfinite(values), -values, -np.inf)).score
    what = f"has to add up to {one.targets[0]:g}, but derivations add up to"
    if least <= one.targets[0] <= most:
        return f"Constraint {row} {what} other numbers between {least:g} and {most:g}"
    return f"Constraint {row} {what} {least:g} to {most:g}"
