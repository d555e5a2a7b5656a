"""Constraints A x = b on how often a derivation uses edges: the best that satisfies them, with proof.

Lagrangian relaxation moves the constraints into the scores, with a multiplier each; every choice of
multipliers gives a bound. A derivation that satisfies the constraints and is best under the changed scores
is the optimum. Where the relaxation leaves a gap, max-marginals remove edges, the forest is intersected
with the constraints, best first, and what is still open after a while is split in two; so the answer is
proven in the end, unless a limit is hit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certus import _native
from certus.errors import InvalidInput
from certus.hypergraph import inputs
from certus.hypergraph.errors import NoDerivation, explain_too_large
from certus.hypergraph.forest import Derivation, Forest
from certus.solution import OnInfeasible, Solution, Status

Rows: TypeAlias = "Sequence[Mapping[int, float]] | tuple[ArrayLike, ArrayLike, ArrayLike]"

_UNITS = 16  # of work between looks at the clock and at Ctrl-C


@dataclass(frozen=True)
class Trace:
    """What a search knew after each unit of work: a pass over the forest, or 256 states of the intersection.

    Attributes:
        dual: the bound on the optimum; never rises.
        primal: the score of the best answer so far, -inf before there is one; never falls.
    """

    dual: NDArray[np.float64]
    primal: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.dual)


class ConstrainedSolution(Solution[Derivation]):
    """The best derivation under constraints: ``score <= optimum <= bound``.

    Attributes:
        value: the derivation; empty while none was found.
        trace: bound and score as the search went on.
        stats: what the search did: ``iterations`` of work; ``nodes`` of branch and bound, the root included;
            states of the intersection ``expanded``; edges ``pruned`` by max-marginals.
    """

    __slots__ = ("trace",)

    def __init__(
        self,
        value: Derivation,
        score: float,
        bound: float,
        status: Status,
        trace: Trace,
        work: dict[str, int],
    ) -> None:
        super().__init__(value, score, bound, status, work)
        self.trace = trace


class Constrained:
    """A forest with linear constraints; made by ``Hypergraph.with_constraints``.

    Attributes:
        graph: the forest.
        offsets, edges, coefficients: the rows of A, one after the other.
        targets: b.
    """

    def __init__(self, graph: Forest, rows: Rows, targets: ArrayLike) -> None:
        self.graph = graph
        self.offsets, self.edges, self.coefficients = _as_rows(rows)
        self.targets = _as_numbers("targets", targets)
        count = len(self.offsets) - 1
        if len(self.targets) != count:
            raise InvalidInput(f"there are {count} constraints, but {len(self.targets)} targets")
        bad = np.flatnonzero((self.edges < 0) | (self.edges >= graph.edges))
        if bad.size:
            row = int(np.searchsorted(self.offsets, bad[0], "right")) - 1
            raise InvalidInput(
                f"constraint {row} names edge {self.edges[bad[0]]}, but edges go from 0 to {graph.edges - 1}"
            )

    def viterbi(
        self,
        scores: ArrayLike,
        *,
        max_iterations: int | None = None,
        max_nodes: int | None = None,
        seconds: float | None = None,
        infeasible: OnInfeasible = "raise",
    ) -> ConstrainedSolution:
        """Find the best derivation that satisfies the constraints.

        Without limits, the answer is proven: status OPTIMAL. Where a limit ends the search, the status says
        which, ``value`` is the best derivation so far (empty if there is none) and ``bound`` holds.

        Args:
            scores: (E,) a score for each edge; ``-inf`` forbids it.

        Other args:
            max_iterations: how many passes over the forest to make at most.
            max_nodes: how many subproblems to open at most.
            seconds: how long to search at most.
            infeasible: whether constraints that no derivation satisfies raise NoDerivation, or return a
                solution with status INFEASIBLE.
        """
        array = inputs.as_scores(scores, self.graph.edges)
        free = self.graph.viterbi(array, infeasible=infeasible)  # without constraints; also checks the scores
        if free.status is Status.INFEASIBLE:
            nothing = Trace(np.empty(0), np.empty(0))
            return ConstrainedSolution(free.value, -np.inf, -np.inf, free.status, nothing, _count_work(None))
        search = _native.ForestConstrained(
            self.graph.native, array, self.offsets, self.edges, self.coefficients, self.targets
        )
        limit = _run(search, max_iterations, max_nodes, seconds)
        if limit is None and not search.found and infeasible == "raise":
            raise NoDerivation(
                "no derivation satisfies the constraints: proven. Derivations exist without them; "
                'infeasible="return" gives a solution with status INFEASIBLE instead of this error'
            )
        status = limit or (Status.OPTIMAL if search.found else Status.INFEASIBLE)
        trace = Trace(search.dual, search.primal)
        return ConstrainedSolution(
            search.edges, search.score, search.bound, status, trace, _count_work(search)
        )

    def is_satisfied(self, derivation: ArrayLike) -> bool:
        """Whether a derivation satisfies every constraint, to the precision of float64."""
        counts = np.bincount(inputs.as_indices("derivation", derivation), minlength=self.graph.edges)
        rows = np.repeat(np.arange(len(self.targets)), np.diff(self.offsets))
        sums = np.bincount(rows, self.coefficients * counts[self.edges], len(self.targets))
        return bool(np.allclose(sums, self.targets, rtol=1e-9, atol=1e-9))

    def __repr__(self) -> str:
        return f"Constrained({self.graph!r}, {len(self.targets)} constraints)"


def _run(
    search: _native.ForestConstrained, iterations: int | None, nodes: int | None, seconds: float | None
) -> Status | None:
    """Search until the end, or until a limit, which is returned. Ctrl-C works in between."""
    begin = perf_counter()
    while True:
        left = _UNITS if iterations is None else min(_UNITS, iterations - search.iterations)
        if left <= 0:
            return Status.ITERATIONS
        if search.run(left):
            return None
        if search.too_large:
            raise explain_too_large("constraints are checked on derivations")
        if nodes is not None and search.subproblems > nodes:
            return Status.NODES
        if seconds is not None and perf_counter() - begin > seconds:
            return Status.SECONDS


def _count_work(search: _native.ForestConstrained | None) -> dict[str, int]:
    if search is None:
        return {"iterations": 0, "nodes": 0, "expanded": 0, "pruned": 0}
    return {
        "iterations": search.iterations,
        "nodes": search.subproblems,
        "expanded": search.states,
        "pruned": search.fixed,
    }


def _as_rows(rows: Rows) -> tuple[inputs.Ints, inputs.Ints, NDArray[np.float64]]:
    if isinstance(rows, tuple) and len(rows) == 3 and not any(isinstance(row, Mapping) for row in rows):
        offsets, edges = inputs.as_indices("offsets", rows[0]), inputs.as_indices("edges", rows[1])
        coefficients = _as_numbers("coefficients", cast(ArrayLike, rows[2]))
        if len(edges) != len(coefficients):
            raise InvalidInput(f"there are {len(edges)} edges, but {len(coefficients)} coefficients")
        if offsets.size == 0 or offsets[0] != 0 or offsets[-1] != len(edges) or (np.diff(offsets) < 0).any():
            raise InvalidInput(
                f"offsets must start at 0, never fall and end at {len(edges)}, the number of edges"
            )
        return offsets, edges, coefficients
    listed = []
    for number, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise InvalidInput(f"constraint {number} must be a mapping {{edge: coefficient}}, not {row!r}")
        listed.append(row)
    offsets = np.cumsum([0, *map(len, listed)]).astype(np.int64)
    edges = inputs.as_indices("the edges of constraints", [edge for row in listed for edge in row])
    return offsets, edges, _as_numbers("coefficients", [x for row in listed for x in row.values()])


def _as_numbers(name: str, value: ArrayLike) -> NDArray[np.float64]:
    try:
        array = np.array(value, np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"{name} must be numbers: {error}") from None
    if array.ndim != 1:
        raise InvalidInput(f"{name} must be one-dimensional, not of shape {array.shape}")
    bad = np.flatnonzero(~np.isfinite(array))
    if bad.size:
        raise InvalidInput(f"{name}[{bad[0]}] is {array[bad[0]]}; it must be finite")
    return array
