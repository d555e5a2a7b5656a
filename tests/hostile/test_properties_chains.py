"""Chains over the whole range of floats: every answer is held against exact sums of all label sequences."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import certus
from certus import InvalidInput, LabelSolution, Status
from certus.chain import KBestLabels, Labels, Method
from tests.chain.checks import MANY, VARIANTS
from tests.hostile.exact import Exact, describe_terms, sum_exactly
from tests.hostile.strategies import DTYPES, Array, Draw, draw_scores, draw_values


@dataclass(frozen=True)
class Problem:
    """A chain, the scores of a sentence, and all of its label sequences with their exact scores."""

    emissions: Array
    transitions: Array
    start: Array | None
    end: Array | None

    def __str__(self) -> str:
        parts = (self.emissions, self.transitions, self.start, self.end)
        return f"{self.emissions.dtype}: " + ", ".join(
            "None" if x is None else f"{x.tolist()}" for x in parts
        )

    def link(self, t: int) -> Array:
        return self.transitions if self.transitions.ndim == 2 else self.transitions[t]

    def list_terms(self, path: tuple[int, ...]) -> list[float]:
        """The scores that a label sequence adds up."""
        terms = [self.emissions[t, y] for t, y in enumerate(path)]
        terms += [self.link(t)[a, b] for t, (a, b) in enumerate(pairwise(path))]
        terms += [] if self.start is None else [self.start[path[0]]]
        terms += [] if self.end is None else [self.end[path[-1]]]
        return [float(term) for term in terms]

    def solve_exactly(self) -> Exact:
        length, labels = self.emissions.shape
        links = [self.link(t) for t in range(length - 1)]
        terms = describe_terms([*self.emissions, *links, self.start, self.end])
        paths = product(range(labels), repeat=length)
        sums = {path: sum_exactly(self.list_terms(path)) for path in paths}
        # The check at the door takes every score for as large as the largest of its kind.
        ends = np.concatenate([np.zeros(1), *(x for x in (self.start, self.end) if x is not None)])
        each = [*[self.emissions] * length, *[self.transitions] * (length - 1), ends, ends]
        seen = describe_terms(each).magnitude
        return Exact(sums, terms, 4 * length + 4, self.emissions.dtype, seen=seen)


@st.composite
def draw_problem(draw: Draw, longest: int = 4, most: int = 4) -> Problem:
    dtype = draw(st.sampled_from(DTYPES))
    length, labels = draw(st.integers(1, longest)), draw(st.integers(1, most))
    forbidden = draw(st.booleans())

    def scores(*shape: int) -> Array:
        return draw(draw_scores(draw(draw_values(dtype)), shape, dtype, forbidden))

    several = length > 1 and draw(st.booleans())
    transitions = scores(length - 1, labels, labels) if several else scores(labels, labels)
    start, end = (scores(labels) if draw(st.booleans()) else None for _ in range(2))
    return Problem(scores(length, labels), transitions, start, end)


def check_best(found: LabelSolution[Labels], method: Method, exact: Exact) -> str:
    """Say what is wrong with an answer."""
    if not exact.ranked:
        return "" if found.status is Status.INFEASIBLE else "there is no path"
    if found.status is Status.INFEASIBLE:
        return "there is a path"
    path = tuple(found.labels.tolist())
    if path not in exact.ranked:
        return "this path is forbidden, or none at all"
    if not found.score <= found.bound:
        return "the bound is below the score"
    if found.optimal != (found.bound == found.score) or (method.exact and not found.optimal):
        return "the status does not fit the bound"
    if not exact.is_sum(path, found.score):
        return "the score is not that of the path"
    if found.optimal and not exact.is_rank(path, 0):
        return f"better is {exact.best}"
    return "" if exact.is_bound(found.bound) else "the bound is below the optimum"


def check_list(found: KBestLabels, k: int, exact: Exact) -> str:
    """Say what is wrong with a list of the k best."""
    paths = [tuple(labels) for labels in found.labels.tolist()]
    if len(paths) != min(k, len(exact.ranked)) or len(set(paths)) < len(paths):
        return f"there are {len(exact.ranked)} paths"
    if found.exhausted < (len(paths) < k):
        return "fewer than k, but not said to be all"
    if found.scores.tolist() != sorted(found.scores.tolist(), reverse=True):
        return "the scores are not in order"
    for rank, (path, score) in enumerate(zip(paths, found.scores.tolist(), strict=True)):
        if path not in exact.ranked or not exact.is_sum(path, score):
            return f"{path} is forbidden, or does not score {score}"
        if not exact.is_rank(path, rank):
            return f"{path} is not of rank {rank}"
    return ""


def check_methods(problem: Problem, compared: dict[str, int]) -> None:
    """Ask every method for the best path, and those that can for several."""
    exact = problem.solve_exactly()
    compared["examples"] += 1
    for method, k in [*((m, 1) for m in VARIANTS), *((m, k) for m in MANY for k in (2, 7))]:
        try:
            chain = certus.Chain(problem.transitions, problem.start, problem.end)
            found = chain.decode(problem.emissions, k=k, method=method, infeasible="return")
        except InvalidInput as error:
            exact.check_refusal(error, problem)
            compared["refused"] += 1
            continue
        if isinstance(found, LabelSolution):
            wrong = check_best(found, method, exact)
            compared["proven"] += found.optimal
        else:
            wrong = check_list(found, k, exact)
            compared["proven"] += len(found) > 0
        assert not wrong, f"{wrong}\n{method!r}, k={k}: {found!r}\n{problem}"
        compared["infeasible"] += not exact.ranked
        compared["answers"] += 1


def test_every_method_over_all_floats(compared: dict[str, int]) -> None:
    @given(draw_problem())
    def check(problem: Problem) -> None:
        check_methods(problem, compared)

    check()


def test_batches_answer_as_one_by_one(compared: dict[str, int]) -> None:
    @given(draw_problem(), st.integers(1, 2))
    def check(problem: Problem, threads: int) -> None:
        exact = problem.solve_exactly()
        try:
            chain = certus.Chain(problem.transitions, problem.start, problem.end)
            found = chain.decode_batch([problem.emissions] * 3, threads=threads, infeasible="return")
        except InvalidInput as error:
            exact.check_refusal(error, problem)
            return
        for one in found:
            assert not check_best(one, VARIANTS[0], exact), f"{one!r}\n{problem}"
            compared["answers"] += 1

    check()


def test_marginals_are_probabilities(compared: dict[str, int]) -> None:
    @given(draw_problem())
    def check(problem: Problem) -> None:
        exact = problem.solve_exactly()
        try:
            chain = certus.Chain(problem.transitions, problem.start, problem.end)
            found = chain.marginals(problem.emissions)
        except InvalidInput as error:
            exact.check_refusal(error, problem)
            return
        except certus.Infeasible:
            assert not exact.ranked, f"{problem}"
            return
        assert exact.ranked
        assert (found.probabilities >= 0).all(), f"{found}\n{problem}"
        assert np.abs(found.probabilities.sum(axis=1) - 1).max() < 1e-9, f"{found}\n{problem}"
        assert exact.is_log_sum(found.log_partition), f"{found}\n{problem}"
        compared["answers"] += 1

    check()
