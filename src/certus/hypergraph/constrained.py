"""Constraints A x = b on how often a derivation uses edges: the best that satisfies them, with proof.

Every method answers with ``score <= optimum <= bound``. Lagrangian relaxation moves the constraints into
the scores, with a multiplier each; every choice of multipliers gives a bound. The methods differ in how they
close the gap that the relaxation leaves, and in whether they insist on closing it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certus import _native
from certus.checks import check_count, check_infeasible, read_seconds
from certus.errors import InvalidInput
from certus.hypergraph import inputs
from certus.hypergraph.conflicts import explain_conflict
from certus.hypergraph.errors import NoDerivation
from certus.hypergraph.forest import Derivation, Forest
from certus.hypergraph.integer_program import solve_program
from certus.hypergraph.methods import FIRST_BEAM, METHODS, Limits, Method, run_search, start_search
from certus.hypergraph.rows import Rows, read_constraints
from certus.ragged import Ragged
from certus.solution import KBest, OnInfeasible, Solution, Status, conclude

_SMALL = 2.0**-200  # multiplied with itself and with shares of it, less than this may underflow


@dataclass(frozen=True)
class Trace:
    """What a search knew after each unit of work: a pass over the forest, a beam, or 256 states of A*.

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
        constraints: A and b, as arrays.
    """

    def __init__(self, graph: Forest, rows: Rows, targets: ArrayLike) -> None:
        self.graph = graph
        self.constraints = read_constraints(rows, targets, graph.edges)

    @overload
    def decode(
        self,
        scores: ArrayLike,
        *,
        k: Literal[1] = 1,
        method: Method = "auto",
        beam: int | None = None,
        max_iterations: int | None = None,
        max_nodes: int | None = None,
        seconds: float | None = None,
        infeasible: OnInfeasible = "raise",
    ) -> ConstrainedSolution: ...
    @overload
    def decode(
        self,
        scores: ArrayLike,
        *,
        k: int,
        seconds: float | None = None,
        infeasible: OnInfeasible = "raise",
    ) -> KBest[ConstrainedSolution]: ...
    def decode(
        self,
        scores: ArrayLike,
        *,
        k: int = 1,
        method: Method = "auto",
        beam: int | None = None,
        max_iterations: int | None = None,
        max_nodes: int | None = None,
        seconds: float | None = None,
        infeasible: OnInfeasible = "raise",
    ) -> ConstrainedSolution | KBest[ConstrainedSolution]:
        """Find the best derivation that satisfies the constraints, or the k best.

        Without limits, the answer is proven: status OPTIMAL. Where a limit ends the search, the status says
        which, ``value`` is the best derivation so far (empty if there is none) and ``bound`` holds. The
        methods ``beam`` and ``lagrangian`` end without a proof where they find none: status FEASIBLE, or
        ITERATIONS where they found no derivation either.

        Each of the k best is proven to be of its rank unless ``seconds`` ends the search; then ``bound`` says
        how good a derivation of its rank can be. ``exhausted`` tells whether there are no others.

        Args:
            scores: (E,) a score for each edge; ``-inf`` forbids it.
            k: how many derivations; 1 returns a ConstrainedSolution, more a KBest of them, for which there
                is one method.

        Other args:
            method: how to search. ``optimal-beam`` takes rounds of relaxation and beams in turn, wider and
                wider; ``staged-beam`` all of the relaxation first; ``beam`` is one beam without relaxation;
                ``lagrangian`` the relaxation alone; ``tightening`` puts constraints back into the forest
                where it stalls; ``branching`` intersects, fixes and splits; ``astar`` searches the
                intersection best first; ``ilp`` asks HiGHS, whose word the bound then is. ``auto`` takes
                what is quickest as a rule.
            beam: for ``beam``: how many states each node keeps; 1,000 if nothing is said.
            max_iterations: how many units of work to do at most: passes over the forest, beams.
            max_nodes: for ``branching``: how many subproblems to open at most.
            seconds: the most time to search; None for no limit, 0 for the first answer with its bound.
            infeasible: whether constraints that no derivation satisfies raise NoDerivation, which names
                them, or return a solution with status INFEASIBLE (for k > 1, an empty KBest).
        """
        check_count("k", k)
        check_infeasible(infeasible)
        _check_options(method, beam, max_iterations, max_nodes)
        limit = read_seconds(seconds)
        array = inputs.as_scores(scores, self.graph.edges)
        if k > 1:
            if method != "auto" or max_iterations is not None:
                raise InvalidInput("method= and max_iterations= are of the best derivation: k must be 1")
            return self._decode_several(array, k, limit, infeasible)
        free = self.graph.decode(array, infeasible=infeasible)  # without constraints; also checks the scores
        if free.status is Status.INFEASIBLE:
            nothing = Trace(np.empty(0), np.empty(0))
            return ConstrainedSolution(free.value, -np.inf, -np.inf, free.status, nothing, _count_work(None))
        if method == "ilp":
            found = self._solve_program(array, limit, free.score)
        else:
            limits = Limits(max_iterations, max_nodes, limit)
            found = self._search(array, method, beam, limits, free.score)
        if found.status is Status.INFEASIBLE and infeasible == "raise":
            raise self._explain(array)
        return found

    def _decode_several(
        self, array: NDArray[np.generic], k: int, seconds: float, infeasible: OnInfeasible
    ) -> KBest[ConstrainedSolution]:
        """Find the k best derivations that satisfy the constraints, best first; fewer when fewer exist."""
        if self.graph.decode(array, infeasible=infeasible).status is Status.INFEASIBLE:
            return KBest([], exhausted=True)
        search = _native.ForestKBestSearch(self.graph.native, array, *self.constraints.arrays, FIRST_BEAM, k)
        limit = run_search(search, Limits(seconds=seconds))
        listed, rest = search.list, search.rest
        if limit is None and not len(listed.scores) and infeasible == "raise":
            raise self._explain(array)
        trace, work = Trace(search.dual, search.primal), _count_work(search)
        solutions = []
        for edges, score in zip(Ragged(listed.edges, listed.offsets), listed.scores.tolist(), strict=True):
            status, bound = conclude(score, rest, limit or Status.FEASIBLE)
            solutions.append(ConstrainedSolution(edges, score, bound, status, trace, work))
        return KBest(solutions, exhausted=len(solutions) < k and rest == -np.inf)

    def is_satisfied(self, derivation: ArrayLike) -> bool:
        """Whether a derivation satisfies every constraint, to the precision of float64."""
        counts = np.bincount(inputs.as_indices("derivation", derivation), minlength=self.graph.edges)
        sums = self.constraints.sum_rows(counts)
        return bool(np.allclose(sums, self.constraints.targets, rtol=1e-9, atol=1e-9))

    def __repr__(self) -> str:
        return f"Constrained({self.graph!r}, {self.constraints.count} constraints)"

    def _search(
        self, scores: NDArray[np.generic], method: Method, beam: int | None, limits: Limits, most: float
    ) -> ConstrainedSolution:
        """Search; ``most``, the score of the best derivation without constraints, bounds the answer."""
        power = _find_power(scores)
        search = start_search(
            self.graph, np.ldexp(scores, power) if power else scores, self.constraints, method, beam
        )
        limit = run_search(search, limits)
        score, top = math.ldexp(search.score, -power), math.ldexp(search.bound, -power)
        missing = Status.FEASIBLE if score > -np.inf else Status.ITERATIONS
        status, bound = conclude(score, min(top, most), limit or missing)
        trace = Trace(np.ldexp(search.dual, -power), np.ldexp(search.primal, -power))
        return ConstrainedSolution(search.edges, score, bound, status, trace, _count_work(search))

    def _solve_program(self, scores: NDArray[np.generic], seconds: float, most: float) -> ConstrainedSolution:
        answer = solve_program(self.graph, scores, self.constraints, seconds)
        edges, score = np.empty(0, np.int64), -np.inf
        if answer.edges is not None and self.is_satisfied(answer.edges):
            edges, score = answer.edges, self.graph.score(scores, answer.edges)
        limit = Status.FEASIBLE if answer.over else Status.SECONDS
        near = 1e-6 * max(1.0, abs(score)) if answer.over and score > -np.inf else 0.0
        status, bound = conclude(score, min(answer.bound, most), limit, allowance=near)
        trace = Trace(np.array([bound]), np.array([score]))
        return ConstrainedSolution(edges, score, bound, status, trace, _count_work(None))

    def _explain(self, scores: NDArray[np.generic]) -> NoDerivation:
        why = explain_conflict(self.graph, scores, self.constraints)
        return NoDerivation(
            f"no derivation satisfies the constraints: proven. {why}; "
            'infeasible="return" gives a solution with status INFEASIBLE instead of this error'
        )


def _check_options(
    method: Method, beam: int | None, max_iterations: int | None, max_nodes: int | None
) -> None:
    if method not in METHODS:
        raise InvalidInput(f"there is no method {method!r}; there are {', '.join(METHODS)}")
    if beam is not None:
        check_count("beam", beam)
        if method != "beam":
            raise InvalidInput(f'beam= is for method="beam"; {method!r} has none to set')
    if max_nodes is not None and method != "branching":
        raise InvalidInput(f'max_nodes= is for method="branching"; {method!r} does not split problems')
    if max_iterations is not None and method == "ilp":
        raise InvalidInput('max_iterations= does not reach into HiGHS: limit method="ilp" by seconds=')


def _find_power(scores: NDArray[np.generic]) -> int:
    """Return the power of 2 that scores are multiplied by, exactly, for squares of them not to underflow."""
    sizes = np.abs(scores[np.isfinite(scores)], dtype=np.float64)
    largest = float(sizes.max(initial=0.0))
    return -math.frexp(largest)[1] if 0 < largest < _SMALL else 0


def _count_work(search: _native.ForestSearch | None) -> dict[str, int]:
    if search is None:
        return {"iterations": 0, "nodes": 0, "expanded": 0, "pruned": 0}
    return {
        "iterations": search.iterations,
        "nodes": search.subproblems,
        "expanded": search.states,
        "pruned": search.fixed,
    }
