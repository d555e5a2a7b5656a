"""Packed forests: the best derivations, lists, sums, and the best under linear constraints by all methods."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

from certus import KBest
from certus.hypergraph import METHODS, Hypergraph
from tests.attack.attack import Exact, Question, Truth, add_terms, choose_infeasible
from tests.attack.scores import draw_regime

MOST = 800  # derivations
SHARE = 1e-10  # of the scores of a derivation that counts as rounding, for searches with multipliers
PROGRAM_SLACK = 1e-5  # of integer programs
EXACT = ("auto", "optimal-beam", "staged-beam", "tightening", "branching", "astar", "ilp")
Derivation = tuple[int, ...]


@dataclass(frozen=True)
class ForestProblem:
    """A forest with scores; constraints are (coefficients by edge, target)."""

    nodes: int
    heads: tuple[int, ...]
    tails: tuple[tuple[int, ...], ...]
    goals: tuple[int, ...]
    scores: Any
    constraints: tuple[tuple[dict[int, int], int], ...]
    regime: str
    integral: bool
    seed: int


class Forests:
    """The best derivations."""

    name = "forests"

    def draw(self, rng: Random) -> ForestProblem:
        """Return a forest of few derivations."""
        regime = draw_regime(rng, largest=290, shares=(0.0, 0.0, 0.1, 0.3))
        while True:
            nodes = rng.randint(1, 6)
            heads, tails = [], []
            for node in range(nodes):
                for _ in range(rng.choice([1, 1, 2, 3]) if node else rng.randint(1, 2)):
                    heads.append(node)
                    tails.append(tuple(rng.choices(range(node), k=rng.choice([0, 1, 1, 2]) if node else 0)))
            goals = (nodes - 1,) if rng.random() < 0.8 else tuple(rng.sample(range(nodes), min(2, nodes)))
            problem = ForestProblem(
                nodes,
                tuple(heads),
                tuple(tails),
                goals,
                regime.draw_array(rng, (len(heads),)),
                (),
                regime.name,
                regime.integral,
                rng.getrandbits(32),
            )
            found = list(itertools.islice(list_derivations(problem), MOST + 1))
            if len(found) <= MOST:
                break
        rows = []
        for _ in range(rng.choice([1, 1, 2, 3])):
            edges = rng.sample(range(len(heads)), rng.randint(1, min(4, len(heads))))
            row = {edge: rng.choice([1, 1, 1, 2, -1]) for edge in edges}
            like = rng.choice(found)
            target = sum(row.get(edge, 0) for edge in like) if rng.random() < 0.85 else rng.randint(-1, 3)
            rows.append((row, target))
        return ForestProblem(**{**vars(problem), "constraints": tuple(rows)})

    def enumerate(self, problem: ForestProblem) -> Truth:
        """Score all derivations."""
        found = {}
        for derivation in list_derivations(problem):
            exact = _add_scores(problem, derivation)
            if exact is not None:
                found[derivation] = exact
        return Truth(found)

    def ask(self, problem: ForestProblem) -> Iterator[Question]:
        """Ask with and without constraints."""
        rng = Random(problem.seed)
        graph = make_graph(problem)
        for k in (1, rng.choice([2, 5, 1000])):
            infeasible = choose_infeasible(rng)
            yield Question(
                "decode" + (" k" if k > 1 else ""),
                _make_call(graph, problem.scores, k=k, infeasible=infeasible),
                k=k,
                exact=True,
                infeasible=infeasible,
            )
        truth = self.enumerate(problem)
        if truth.scores:
            yield Question("iterate", lambda: _list_derivations(graph, problem.scores, 30), k=30, exact=True)
            yield Question("count", lambda: _check_count(graph, problem, truth))
        yield from self._ask_constrained(problem, graph, truth, rng)

    def _ask_constrained(
        self, problem: ForestProblem, graph: Hypergraph, truth: Truth, rng: Random
    ) -> Iterator[Question]:
        kept = {
            derivation: _add_scores(problem, derivation, SHARE) or exact
            for derivation, exact in truth.scores.items()
            if all(
                sum(row.get(edge, 0) for edge in derivation) == target for row, target in problem.constraints
            )
        }
        magnitude = max((abs(s) for s in problem.scores.tolist() if s > -math.inf), default=0.0)
        rows, targets = [row for row, _ in problem.constraints], [target for _, target in problem.constraints]
        constrained = graph.with_constraints(rows, targets)
        for method in METHODS:
            infeasible = choose_infeasible(rng)
            limits: list[dict[str, Any]] = [{}]
            if method == "ilp":
                if problem.regime in ("mixed", "forbidding", "tiny"):  # beyond the tolerances of HiGHS
                    continue
            else:
                limits += [{"max_iterations": rng.choice([1, 2, 5])}, {"seconds": 1e-6}]
            limits += [{"beam": rng.choice([1, 2])}] if method == "beam" else []
            limits += [{"max_nodes": rng.choice([1, 2, 5])}] if method == "branching" else []
            for limit in limits:
                yield Question(
                    f"{method} limited" if limit else method,
                    _make_call(constrained, problem.scores, method=method, infeasible=infeasible, **limit),
                    exact=method in EXACT and not limit,
                    infeasible=infeasible,
                    truth=Truth(kept, PROGRAM_SLACK * max(1.0, magnitude) * (method == "ilp")),
                )
        k, infeasible = rng.choice([2, 4, 1000]), choose_infeasible(rng)
        for seconds in (None, 1e-6):
            yield Question(
                "constrained k" + ("" if seconds is None else " limited"),
                _make_call(constrained, problem.scores, k=k, seconds=seconds, infeasible=infeasible),
                k=k,
                exact=seconds is None,
                infeasible=infeasible,
                truth=Truth(kept),
            )


def _add_scores(problem: ForestProblem, derivation: Derivation, share: float = 0.0) -> Exact | None:
    terms = [float(problem.scores[edge]) for edge in derivation]
    return add_terms(terms, integral=problem.integral, share=share)


def list_derivations(problem: ForestProblem) -> Iterator[Derivation]:
    """Yield the edges of all derivations, from the goal down, those on the left first."""

    def derive(node: int) -> Iterator[Derivation]:
        for edge, head in enumerate(problem.heads):
            if head == node:
                for below in itertools.product(*(list(derive(tail)) for tail in problem.tails[edge])):
                    yield edge, *itertools.chain.from_iterable(below)

    for goal in problem.goals:
        yield from derive(goal)


def make_graph(problem: ForestProblem) -> Hypergraph:
    """Return the forest of a problem."""
    offsets = list(itertools.accumulate(map(len, problem.tails), initial=0))
    flat = list(itertools.chain.from_iterable(problem.tails))
    goal: Any = list(problem.goals) if len(problem.goals) > 1 else problem.goals[0]
    return Hypergraph(list(problem.heads), offsets, np.array(flat, np.int64), goal, nodes=problem.nodes)


def _make_call(graph: Any, scores: Any, **options: Any) -> Callable[[], Any]:
    return lambda: graph.decode(scores, **options)


def _list_derivations(graph: Hypergraph, scores: Any, k: int) -> Any:
    found = list(itertools.islice(graph.iterate(scores), k))
    return KBest(found, exhausted=len(found) < k)


def _check_count(graph: Hypergraph, problem: ForestProblem, truth: Truth) -> list[str]:
    """Compare what sums over all derivations say."""
    wrong = []
    if graph.count(problem.scores) != len(truth.scores):
        wrong.append(f"count is {graph.count(problem.scores)}, not {len(truth.scores)}")
    if problem.regime in ("ties", "small", "normal"):
        top = truth.list_best(1)[0].score
        expected = top + math.log(math.fsum(math.exp(e.score - top) for e in truth.scores.values()))
        found = graph.log_partition(problem.scores)
        if not math.isclose(found, expected, rel_tol=1e-9, abs_tol=1e-9):
            wrong.append(f"log Z is {found!r}, not {expected!r}")
    return wrong
