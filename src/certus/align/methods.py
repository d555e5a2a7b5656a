"""How the best agreement is looked for: each method takes a problem and returns an Alignment."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from certus import _native
from certus.align.problem import AgreementProblem
from certus.align.solution import Alignment, AlignmentTrace, Link
from certus.align.symmetrize import SYMMETRIZATIONS, symmetrize
from certus.checks import check_count
from certus.errors import InvalidInput
from certus.solution import Status


class AlignMethod(Protocol):
    """Finds the best agreement, or a good one and a bound."""

    def solve(self, problem: AgreementProblem, seconds: float) -> Alignment:
        """Return the best found within so many seconds."""


@dataclass(frozen=True, kw_only=True)
class Exact:
    """A bound by dual ascent over both chains, pruning, and branching until the answer is proven.

    Attributes:
        max_iterations: of each ascent of the bound.
        max_nodes: of branching.
    """

    max_iterations: int = 100
    max_nodes: int = 1_000_000

    def __post_init__(self) -> None:
        """Refuse what counts nothing."""
        check_count("max_iterations", self.max_iterations)
        check_count("max_nodes", self.max_nodes, least=0)

    def solve(self, problem: AgreementProblem, seconds: float) -> Alignment:
        """Return the best found within so many seconds."""
        prices = problem.agreement
        found = _native.align_matrices(
            *_list_scores(problem),
            prices.adjacent,
            prices.apart,
            prices.alone,
            self.max_iterations,
            self.max_nodes,
            seconds,
        )
        return _make_alignment(found, {"nodes": found.nodes})


@dataclass(frozen=True, kw_only=True)
class ViterbiRelaxation:
    """LR and CONS of Chang et al. (2014), for full and adjacent agreement.

    LR relaxes the chain of the target words' links and moves multipliers by subgradient steps of 0.95 to the
    power of how often the bound did not fall, with greedy answers every ten iterations and pruning by
    max-marginals (figures 3 and 5, lemma 1, §6.2). CONS goes on with constraints put back, the five that were
    violated most every 25 iterations (figure 6), and with steps that begin anew.

    Attributes:
        max_iterations: of LR.
        constrained_iterations: of CONS after that; 0 for LR alone.
        start: where multipliers begin: "chain", with the scores of the target words' own best paths, which
            closes many more gaps; or "zero", as in the paper.
        step: the first step; 1 in the paper. What is right depends on the scale of the scores.
    """

    max_iterations: int = 400
    constrained_iterations: int = 400
    start: str = "chain"
    step: float = 1.0

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        check_count("max_iterations", self.max_iterations)
        check_count("constrained_iterations", self.constrained_iterations, least=0)
        if self.start not in ("chain", "zero"):
            raise InvalidInput(f"there is no start {self.start!r}; there are chain and zero")
        if not 0 < self.step <= 1e6:
            raise InvalidInput(f"step is {self.step}; a number above 0, up to a million, is needed")

    def solve(self, problem: AgreementProblem, seconds: float) -> Alignment:
        """Return the best found within so many seconds."""
        _check_strict(problem, "lr and cons know")
        found = _native.align_matrices_relaxed(
            *_list_scores(problem),
            problem.agreement.adjacent,
            self.max_iterations,
            self.constrained_iterations,
            self.start == "chain",
            self.step,
            seconds,
        )
        trace = AlignmentTrace(found.dual, found.primal, found.intersection, found.space)
        return _make_alignment(found, {"constraints": found.constraints}, trace)


@dataclass(frozen=True, kw_only=True)
class DualDecomposition:
    """The dual decomposition of DeNero & Macherey (2011), for full and adjacent agreement.

    Both chains choose all links, and multipliers ask them to choose the same, by steps of 1/t. Where they
    come to, the answer is proven; else ``merge`` makes links of what both chose last, which need not be an
    answer of the model: their score is NaN.

    Attributes:
        max_iterations: steps.
        merge: a rule of certus.align.symmetrize: "intersection", "union", "grow-diag", ...
    """

    max_iterations: int = 250
    merge: str = "intersection"

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        check_count("max_iterations", self.max_iterations)
        if self.merge not in SYMMETRIZATIONS:
            raise InvalidInput(f"there is no rule {self.merge!r}; there are {', '.join(SYMMETRIZATIONS)}")

    def solve(self, problem: AgreementProblem, seconds: float) -> Alignment:
        """Return the best found within so many seconds."""
        _check_strict(problem, "dual decomposition knows")
        found = _native.align_matrices_decomposed(
            *_list_scores(problem), problem.agreement.adjacent, self.max_iterations, seconds
        )
        if found.score > -math.inf or Status.of_native(found.status) is Status.INFEASIBLE:
            return _make_alignment(found, {})
        shape = len(problem.source), len(problem.target)
        forward, backward = (_list_links(cells.reshape(shape)) for cells in (found.forward, found.backward))
        links = symmetrize(forward, backward, self.merge)
        counters = {"iterations": found.iterations}
        trace = AlignmentTrace(found.dual, found.primal)
        return Alignment(links, math.nan, found.bound, Status.FEASIBLE, counters, trace=trace)


METHODS: dict[str, AlignMethod] = {
    "exact": Exact(),
    "lr": ViterbiRelaxation(constrained_iterations=0),
    "cons": ViterbiRelaxation(),
    "decomposition": DualDecomposition(),
}


def choose_method(method: AlignMethod | str, **given: Any) -> AlignMethod:
    """Return a method by its name, or as it is, with the fields that are given in place of its own."""
    if isinstance(method, str):
        if method not in METHODS:
            raise InvalidInput(f"there is no method {method!r}; there are {', '.join(METHODS)}")
        method = METHODS[method]
    given = {name: value for name, value in given.items() if value is not None}
    for name in given:
        if not hasattr(method, name):
            raise InvalidInput(f"{type(method).__name__} has no {name}; leave it out")
    return replace(method, **given) if given else method  # type: ignore[type-var]


def _list_scores(
    problem: AgreementProblem,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64] | None, NDArray[np.float64] | None]:
    return problem.source, problem.target, problem.source_steps, problem.target_steps


def _check_strict(problem: AgreementProblem, who: str) -> None:
    if math.isfinite(problem.agreement.apart) or math.isfinite(problem.agreement.alone):
        raise InvalidInput(
            f'{who} "full" and "adjacent" agreement only; method="exact" finds the best of soft agreement'
        )


def _list_links(cells: NDArray[np.uint8]) -> list[Link]:
    return [(int(i), int(j)) for i, j in zip(*np.nonzero(cells), strict=True)]


def _make_alignment(
    found: _native.AgreedAlignment, counters: dict[str, int], trace: AlignmentTrace | None = None
) -> Alignment:
    links = {(i, j - 1) for i, j in enumerate(found.source.tolist()) if j}
    links |= {(i - 1, j) for j, i in enumerate(found.target.tolist()) if i}
    return Alignment(
        tuple(sorted(links)),
        found.score,
        found.bound,
        Status.of_native(found.status),
        {"iterations": found.iterations, **counters, "pruned": found.pruned},
        trace=trace or AlignmentTrace(found.dual, found.primal),
    )
