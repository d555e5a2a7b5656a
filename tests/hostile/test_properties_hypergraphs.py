"""Forests over the whole range of floats: every answer is held against exact sums of all derivations."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from certus import InvalidInput, Status
from certus.hypergraph import Hypergraph
from tests.hostile.exact import Exact, Terms, describe_terms, sum_exactly
from tests.hostile.strategies import DTYPES, Array, Draw, draw_scores, draw_values
from tests.reference.hypergraph import Derivation, Forest, derivations

MOST = 400  # derivations of a problem


@dataclass(frozen=True)
class Problem:
    """A forest and its scores."""

    forest: Forest
    scores: Array

    def make_graph(self) -> Hypergraph:
        heads, offsets, tails = self.forest.arrays()
        return Hypergraph(heads, offsets, tails, self.forest.goals, nodes=self.forest.nodes)

    def solve_exactly(self) -> Exact:
        """Enumerate; a derivation has as many terms as the largest of any node can have."""
        every: list[Derivation] = [
            d for goal in self.forest.goals for d in derivations(self.forest, goal, [True] * len(self.scores))
        ]
        sums = {d: sum_exactly([float(self.scores[edge]) for edge in d]) for d in every}
        largest, terms = find_largest(self.forest), describe_terms([self.scores])
        return Exact(sums, Terms(largest * terms.magnitude, terms.grain), 2 * largest + 2)


def find_largest(forest: Forest) -> int:
    """Return how many edges a derivation of any node has at most; nodes are numbered from the leaves up."""
    size = [0] * forest.nodes
    for node in range(forest.nodes):
        for head, tails in forest.edges:
            if head == node and all(size[tail] for tail in tails):
                size[node] = max(size[node], 1 + sum(size[tail] for tail in tails))
    return max(1, *size)


@st.composite
def draw_problem(draw: Draw) -> Problem:
    nodes = draw(st.integers(1, 5))

    def draw_edge() -> tuple[int, tuple[int, ...]]:
        head = draw(st.integers(0, nodes - 1))
        below = st.lists(st.integers(0, head - 1), max_size=3) if head else st.just([])
        return head, tuple(draw(below))

    edges = [draw_edge() for _ in range(draw(st.integers(1, 10)))] + [(0, ())]
    goals = draw(st.lists(st.integers(0, nodes - 1), min_size=1, max_size=2, unique=True))
    dtype = draw(st.sampled_from(DTYPES))
    values = draw(draw_values(dtype))
    scores = draw(draw_scores(values, (len(edges),), dtype, draw(st.booleans())))
    return Problem(Forest(nodes, edges, goals), scores)


def check_answers(problem: Problem, compared: dict[str, int]) -> None:
    graph = problem.make_graph()
    if graph.count() > MOST:
        return
    exact = problem.solve_exactly()
    compared["examples"] += 1
    try:
        best = graph.decode(problem.scores, infeasible="return")
        several = graph.decode(problem.scores, k=7, infeasible="return")
    except InvalidInput as error:
        exact.check_refusal(error, problem)
        compared["refused"] += 1
        return
    compared["answers"] += 2
    if not exact.ranked:
        assert best.status is Status.INFEASIBLE, f"{best!r}\n{problem}"
        assert len(several) == 0
        compared["infeasible"] += 2
        return
    chosen = tuple(best.value.tolist())
    assert best.optimal, f"{best!r}\n{problem}"
    assert best.score == best.bound
    assert chosen in exact.ranked, f"{best!r}\n{problem}"
    assert exact.is_sum(chosen, best.score), f"{best!r}\n{problem}"
    assert exact.is_rank(chosen, 0), f"{best!r}\n{problem}"
    listed = [tuple(one.tolist()) for one in several.values]
    assert len(set(listed)) == len(listed) == min(7, len(exact.ranked)), f"{several!r}\n{problem}"
    assert several.scores.tolist() == sorted(several.scores.tolist(), reverse=True)
    for rank, (one, score) in enumerate(zip(listed, several.scores.tolist(), strict=True)):
        assert one in exact.ranked, f"{one} {several!r}\n{problem}"
        assert exact.is_sum(one, score), f"{one} {score} {several!r}\n{problem}"
        assert exact.is_rank(one, rank), f"{one} {rank} {several!r}\n{problem}"
    compared["proven"] += 2


def test_derivations_over_all_floats(compared: dict[str, int]) -> None:
    @given(draw_problem())
    def check(problem: Problem) -> None:
        check_answers(problem, compared)

    check()


def test_sums_and_bounds_over_all_floats(compared: dict[str, int]) -> None:
    @given(draw_problem())
    def check(problem: Problem) -> None:
        graph = problem.make_graph()
        if graph.count() > MOST:
            return
        exact = problem.solve_exactly()
        try:
            if not exact.ranked:
                assert graph.log_partition(problem.scores) == -np.inf, f"{problem}"
                return
            most = graph.max_marginals(problem.scores)
            marginals = graph.marginals(problem.scores)
            first = list(islice(graph.iterate(problem.scores), 3))
        except InvalidInput as error:
            exact.check_refusal(error, problem)
            return
        assert exact.is_bound(most.score), f"{most}\n{problem}"
        assert exact.is_log_sum(marginals.log_partition), f"{marginals}\n{problem}"
        assert (marginals.edges >= 0).all(), f"{marginals}\n{problem}"
        assert abs(marginals.nodes[problem.forest.goals].sum() - 1) < 1e-9 or len(exact.ranked) > 1
        for rank, one in enumerate(first):
            assert exact.is_rank(tuple(one.value.tolist()), rank), f"{first}\n{problem}"
        compared["answers"] += 3 + len(first)

    check()
