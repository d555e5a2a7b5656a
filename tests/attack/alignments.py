"""Alignments of two directions that agree, by every method."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import certus
from certus import Solution
from certus.align import Agreement
from tests.attack.attack import Exact, Question, Truth, add_terms, choose_infeasible
from tests.attack.scores import draw_regime

SHARE = 2e-10  # of the scores of an alignment that counts as rounding: base/rounding.hpp
METHODS = ("exact", "lr", "cons", "decomposition")
AGREEMENTS = (
    {"adjacent": -math.inf, "apart": -math.inf, "alone": -math.inf},
    {"adjacent": 0.0, "apart": -math.inf, "alone": -math.inf},
    {"adjacent": -1.0, "apart": -math.inf, "alone": -math.inf},
    {"adjacent": -1.0, "apart": -1.0, "alone": -1.0},
    {"adjacent": 0.0, "apart": -2.0, "alone": -math.inf},
    {"adjacent": 0.0, "apart": 0.0, "alone": 0.0},
    {"adjacent": -3.0, "apart": -5.0, "alone": -4.0},
)
Links = frozenset[tuple[int, int]]


@dataclass(frozen=True)
class AlignmentProblem:
    """Scores as ``align_matrix`` takes them; steps may be None."""

    forward: Any  # (I, J)
    backward: Any
    null: tuple[Any, Any]  # (J,), (I,)
    forward_steps: Any  # (I + 1, I + 1)
    backward_steps: Any  # (J + 1, J + 1)
    agreement: int
    integral: bool
    seed: int


class Alignments:
    """The best pair of alignments that agree."""

    name = "alignments"

    def draw(self, rng: Random) -> AlignmentProblem:
        """Return a pair of short sentences."""
        regime = draw_regime(rng, largest=11, shares=(0.0, 0.0, 0.2))
        sources, targets = rng.choice(
            [(1, 1), (1, 2), (2, 1), (2, 2), (2, 2), (2, 3), (3, 2), (3, 3), (1, 4)]
        )
        steps = rng.random() < 0.6
        return AlignmentProblem(
            regime.draw_array(rng, (sources, targets)),
            regime.draw_array(rng, (sources, targets)),
            (regime.draw_array(rng, (targets,)), regime.draw_array(rng, (sources,))),
            regime.draw_array(rng, (sources + 1, sources + 1)) if steps and rng.random() < 0.8 else None,
            regime.draw_array(rng, (targets + 1, targets + 1)) if steps and rng.random() < 0.8 else None,
            rng.randrange(len(AGREEMENTS)),
            regime.integral,
            rng.getrandbits(32),
        )

    def enumerate(self, problem: AlignmentProblem) -> Truth:
        """Score all pairs of choices.

        An answer tells only the links of both together, so that a structure is these with one of the scores
        of the choices that have them.
        """
        sources, targets = problem.forward.shape
        found: dict[tuple[Links, float], Exact] = {}
        for ours in itertools.product(range(targets + 1), repeat=sources):
            for theirs in itertools.product(range(sources + 1), repeat=targets):
                terms = _list_terms(problem, ours, theirs)
                exact = None if terms is None else add_terms(terms, integral=problem.integral, share=SHARE)
                if exact is None:
                    continue
                links = frozenset((i, j - 1) for i, j in enumerate(ours) if j) | frozenset(
                    (i - 1, j) for j, i in enumerate(theirs) if i
                )
                found[links, exact.score] = exact
        return Truth(found)

    def ask(self, problem: AlignmentProblem) -> Iterator[Question]:
        """Ask all methods; those of papers know two kinds of agreement only."""
        rng = Random(problem.seed)
        costs = AGREEMENTS[problem.agreement]
        strict = costs["apart"] == costs["alone"] == -math.inf

        scores: dict[Links, list[float]] = {}
        for links, score in self.enumerate(problem).scores:
            scores.setdefault(links, []).append(score)

        def align(options: dict[str, Any]) -> Any:
            found = certus.align.align_matrix(
                problem.forward,
                problem.backward,
                null=problem.null,
                agreement=Agreement(**costs),
                forward_steps=problem.forward_steps,
                backward_steps=problem.backward_steps,
                **options,
            )
            links = frozenset(found.value)
            score = min(scores.get(links, []), key=lambda known: abs(known - found.score), default=math.nan)
            return Solution((links, score), found.score, found.bound, found.status)

        def make_call(**options: Any) -> Callable[[], Any]:
            return lambda: align(options)

        for method in METHODS if strict else METHODS[:1]:
            infeasible = choose_infeasible(rng)
            limits: list[dict[str, Any]] = [{}, {"max_iterations": rng.choice([1, 2, 5])}, {"seconds": 1e-6}]
            if method == "exact":
                limits += [{"max_nodes": 1}, {"max_nodes": 3, "max_iterations": 1}]
            for limit in limits:
                yield Question(
                    f"{method} limited" if limit else method,
                    make_call(method=method, infeasible=infeasible, **limit),
                    exact=method == "exact" and not limit,
                    infeasible=infeasible,
                    read=tuple,
                )


def _list_terms(problem: AlignmentProblem, ours: Sequence[int], theirs: Sequence[int]) -> list[float] | None:
    """Return the terms of the score of a choice per source word and per target word; 0 is nothing."""
    costs = AGREEMENTS[problem.agreement]
    terms: list[float] = []
    for own, other, scores, null, steps in (
        (ours, theirs, problem.backward, problem.null[1], problem.backward_steps),
        (theirs, ours, problem.forward.T, problem.null[0], problem.forward_steps),
    ):
        before = 0
        for word, choice in enumerate(own):
            terms.append(float(scores[word, choice - 1] if choice else null[word]))
            if steps is not None:
                terms.append(float(steps[before, choice]))
            before = choice
            if choice:
                distance = None if not other[choice - 1] else abs(other[choice - 1] - (word + 1))
                terms.append(_find_cost(costs, distance))
    return None if -math.inf in terms else terms


def _find_cost(costs: dict[str, float], distance: int | None) -> float:
    """Return what a choice costs whose word chooses nothing (None), it, a neighbour, or another one."""
    if distance is None:
        return costs["alone"]
    return 0.0 if distance == 0 else costs["adjacent"] if distance == 1 else costs["apart"]
