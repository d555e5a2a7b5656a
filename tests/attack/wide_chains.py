"""Chains of hundreds of labels, which other code answers than small ones, against all sums at once."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

from certus.chain import METHODS, Chain, SparseTransitions
from tests.attack.attack import Exact, Question, Truth, choose_infeasible, pick

MOST = 101  # sequences that are listed


@dataclass(frozen=True)
class WideProblem:
    """Whole numbers from a seed, as problems of this size are too large to print."""

    labels: int
    length: int  # 1, 2 or 3
    most: int  # of the magnitudes of scores
    forbidden: float  # share of scores
    sparse: bool
    single: bool
    ends: bool
    seed: int

    def make(self) -> tuple[Any, Any, Any, Any]:
        """Return emissions, transitions, start and end scores."""
        rng = np.random.default_rng(self.seed)
        kind = np.float32 if self.single else np.float64

        def draw(*shape: int, usual: float = 0.0) -> Any:
            scores = rng.integers(-self.most, self.most + 1, shape).astype(kind)
            scores[rng.random(shape) < self.forbidden] = -np.inf
            if usual:
                scores[rng.random(shape) < usual] = 1
            return scores

        steps = draw(self.labels, self.labels, usual=0.95 if self.sparse else 0.0)
        ends = (draw(self.labels), draw(self.labels)) if self.ends else (None, None)
        return draw(self.length, self.labels), steps, *ends


@dataclass(frozen=True)
class TensorTruth(Truth):
    """The scores of all label sequences as one array with an axis per position, and the best of them."""

    scores: Any = None
    best: tuple[Exact, ...] = ()

    def find(self, structure: Hashable) -> Exact | None:
        """Return an element of the array."""
        assert isinstance(structure, tuple)
        score = float(self.scores[structure])
        return None if score == -math.inf else Exact(score, 0.0)

    def list_best(self, k: int) -> list[Exact]:
        """Return the largest elements."""
        return list(self.best[:k])


class WideChains:
    """The best sequences of one to three labels out of hundreds."""

    name = "wide-chains"

    def draw(self, rng: Random) -> WideProblem:
        """Return a sentence of few words and many labels."""
        length = rng.choice([1, 2, 2, 2, 3])
        most = 80 if length == 3 else rng.choice([400, 1100])
        labels = rng.randint(20, most)
        return WideProblem(
            labels,
            length,
            rng.choice([1, 3, 100, 10_000]),
            rng.choice([0.0, 0.0, 0.1, 0.9]),
            rng.random() < 0.4,
            rng.random() < 0.4,
            rng.random() < 0.3,
            rng.getrandbits(32),
        )

    def enumerate(self, problem: WideProblem) -> Truth:
        """Add up all sequences by broadcasting."""
        emissions, steps, start, end = (None if x is None else x.astype(np.float64) for x in problem.make())
        assert emissions is not None
        total = emissions[0] if start is None else emissions[0] + start
        for row in emissions[1:]:
            total = total[..., None] + steps + row
        total = total if end is None else total + end
        flat = total.reshape(-1)
        best = np.partition(flat, max(len(flat) - MOST, 0))[-MOST:]
        return TensorTruth(total, 0.0, tuple(Exact(x, 0.0) for x in -np.sort(-best[best > -np.inf])))

    def ask(self, problem: WideProblem) -> Iterator[Question]:
        """Ask some methods, on a chain that is new to each."""
        rng = Random(problem.seed)
        emissions, steps, start, end = problem.make()
        if problem.sparse:
            origin, target = np.nonzero(steps != 1)
            steps = SparseTransitions(problem.labels, origin, target, steps[origin, target], default=1.0)
        for method in ("auto", *pick(rng, list(METHODS), 4)):
            kind = METHODS[method]
            k = rng.choice([1, 2, 10, 100]) if kind.many else 1
            infeasible = choose_infeasible(rng)

            def ask(method: str = method, k: int = k, infeasible: Any = infeasible) -> Any:
                return Chain(steps, start, end).decode(emissions, k=k, method=method, infeasible=infeasible)

            name = method if k == 1 else f"{method} k"
            yield Question(name, ask, k=k, exact=kind.exact, infeasible=infeasible)
