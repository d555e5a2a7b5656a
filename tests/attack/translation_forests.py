"""Translation forests under a language model, by every method."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

from certus.hypergraph import Hypergraph
from certus.translate import (
    FOREST_METHODS,
    CoarseToFine,
    CubePruning,
    Exhaustive,
    ForestBeam,
    ForestLagrangian,
    ForestMethod,
    ForestProgram,
    ForestTightening,
    TranslationForest,
)
from tests.attack.attack import Question, Truth, add_terms, choose_infeasible, pick
from tests.attack.ngrams import WORDS, Ngram, draw_ngrams, make_model
from tests.attack.scores import REAL, draw_regime

MOST = 400  # derivations
SHARE = 2e-9  # of the scores of a derivation: the methods take 1e-9 for rounding
PROGRAM_SLACK = 1e-5
LONGEST = {ForestLagrangian: 3, ForestTightening: 3, ForestProgram: 2}  # n-grams that relaxations know
LIMITED: tuple[ForestMethod, ...] = (
    CubePruning(width=1),
    CubePruning(width=3),
    ForestLagrangian(rounds=2),
    ForestLagrangian(paths=False, rounds=20),
    ForestTightening(rounds=2),
    ForestTightening(prune=False),
    CoarseToFine(items=5),
    ForestBeam(items=5),
)
Derived = tuple[tuple[int, ...], tuple[str, ...]]


@dataclass(frozen=True)
class TargetProblem:
    """A forest whose edges have target sides: words, and numbers of tails."""

    nodes: int
    heads: tuple[int, ...]
    tails: tuple[tuple[int, ...], ...]
    targets: tuple[tuple[str | int, ...], ...]
    scores: Any
    ngrams: tuple[tuple[Ngram, float, float], ...]
    weight: float
    seed: int


class TranslationForests:
    """The best derivations of translation forests."""

    name = "translation-forests"

    def draw(self, rng: Random) -> TargetProblem:
        """Return a forest of few derivations."""
        regime = draw_regime(rng, names=("ties", "small", "small", *REAL), largest=6)
        ngrams = draw_ngrams(rng)
        while True:
            nodes, heads, tails, targets = rng.randint(1, 4), [], [], []
            for node in range(nodes):
                for _ in range(rng.choice([1, 2, 2, 3])):
                    below = tuple(rng.choices(range(node), k=rng.choice([0, 1, 1, 2]) if node else 0))
                    words = rng.choices((*WORDS, "new"), k=rng.choice([0, 1, 1, 2, 3]))
                    side: list[str | int] = [*words, *range(len(below))]
                    rng.shuffle(side)
                    heads.append(node)
                    tails.append(below)
                    targets.append(tuple(side))
            problem = TargetProblem(
                nodes,
                tuple(heads),
                tuple(tails),
                tuple(targets),
                regime.draw_array(rng, (len(heads),), share=min(regime.share, 0.1)),
                ngrams,
                rng.choice([0.0, 1.0, 1.0, 2.0]),
                rng.getrandbits(32),
            )
            if len(list(itertools.islice(list_derivations(problem), MOST + 1))) <= MOST:
                return problem

    def enumerate(self, problem: TargetProblem) -> Truth:
        """Score all derivations."""
        model, found = make_model(problem.ngrams), {}
        for edges, words in list_derivations(problem):
            terms = [float(problem.scores[edge]) for edge in edges]
            fluency = problem.weight * model.score(list(words))
            exact = add_terms([*terms, fluency], integral=False, share=SHARE)
            if exact is not None:
                found[edges] = exact
        return Truth(found)

    def ask(self, problem: TargetProblem) -> Iterator[Question]:
        """Ask every method, with few rounds as well."""
        rng = Random(problem.seed)
        offsets = list(itertools.accumulate(map(len, problem.tails), initial=0))
        flat = np.array(list(itertools.chain.from_iterable(problem.tails)), np.int64)
        graph = Hypergraph(list(problem.heads), offsets, flat, problem.nodes - 1, nodes=problem.nodes)
        model = make_model(problem.ngrams)
        forest = TranslationForest(
            graph, problem.scores, [list(side) for side in problem.targets], model, weight=problem.weight
        )
        truth = self.enumerate(problem)
        programmed = Truth(truth.scores, truth.slack + PROGRAM_SLACK)
        order = max(len(ngram) for ngram, _, _ in problem.ngrams)
        # Relaxations refuse forests in which a node derives no words, and longer n-grams than they know.
        silent = any(
            not words for node in range(problem.nodes) for _, words in list_derivations(problem, node)
        )

        def make_call(**options: Any) -> Callable[[], Any]:
            return lambda: forest.decode(**options)

        methods: list[str | ForestMethod] = ["auto", *FOREST_METHODS, *pick(rng, LIMITED, 3)]
        for method in methods:
            kind = FOREST_METHODS.get(method, CoarseToFine) if isinstance(method, str) else type(method)
            if kind in LONGEST and (order > LONGEST[kind] or silent):
                continue
            infeasible = choose_infeasible(rng)
            for k in [1, rng.choice([2, 5])] if kind.many else [1]:
                name = method if isinstance(method, str) else f"{kind.name} limited"
                yield Question(
                    name + (" k" if k > 1 else ""),
                    make_call(method=method, k=k, infeasible=infeasible),
                    k=k,
                    exact=isinstance(method, str) and kind in (CoarseToFine, ForestBeam, Exhaustive),
                    settles=isinstance(method, str),
                    may_refuse="has a node twice" if kind is ForestProgram else "",
                    infeasible=infeasible,
                    truth=programmed if kind is ForestProgram else truth,
                )
        yield Question("auto seconds", make_call(seconds=1e-6, infeasible="return"), infeasible="return")


def list_derivations(problem: TargetProblem, goal: int | None = None) -> Iterator[Derived]:
    """Yield the edges of all derivations, in the order of the target sides, and what they spell."""

    def derive(node: int) -> Iterator[Derived]:
        for edge, head in enumerate(problem.heads):
            if head != node:
                continue
            side, tails = problem.targets[edge], problem.tails[edge]
            places = [symbol for symbol in side if isinstance(symbol, int)]
            for below in itertools.product(*(list(derive(tails[place])) for place in places)):
                spelled = dict(zip(places, (words for _, words in below), strict=True))
                words = [(s,) if isinstance(s, str) else spelled[s] for s in side]
                edges = itertools.chain.from_iterable(own for own, _ in below)
                yield (edge, *edges), tuple(itertools.chain.from_iterable(words))

    return derive(problem.nodes - 1 if goal is None else goal)
