"""Latent chains: the most probable labels, whose probability is that of all their latent paths together."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

import certus
from certus.latent import BHP, BMP, LDI, MBR, LatentChain
from tests.attack.attack import Exact, Question, Truth, choose_infeasible

MOST = 1200  # latent paths
ROUNDING = 1e-12  # relative to the sums of magnitudes along paths
SCALES = (0.0, 1.0, 1.0, 3.0, 30.0, 1e4)


@dataclass(frozen=True)
class LatentProblem:
    """A sentence; ``owner`` is the label of each state."""

    emissions: Any  # (T, H)
    transitions: Any  # (H, H)
    owner: tuple[int, ...]
    start: Any
    end: Any
    pairs: Any  # (T - 1, H, H) or (T - 1, L, L) or None
    allowed: Any  # (T, L) or None
    seed: int


class LatentChains:
    """The most probable label sequences."""

    name = "latent"

    def draw(self, rng: Random) -> LatentProblem:
        """Return a sentence of few latent paths."""
        while True:
            counts = [rng.randint(1, 3) for _ in range(rng.randint(1, 3))]
            states, length = sum(counts), rng.randint(1, 5)
            if states**length <= MOST:
                break
        owner = [label for label, count in enumerate(counts) for _ in range(count)]
        rng.shuffle(owner)
        scale, share = rng.choice(SCALES), rng.choice([0.0, 0.0, 0.1, 0.3])

        def draw(*shape: int) -> Any:
            values = [
                -math.inf if rng.random() < share else scale * rng.gauss(0, 1)
                for _ in range(math.prod(shape))
            ]
            return np.array(values).reshape(shape)

        size = rng.choice([states, len(counts)])
        return LatentProblem(
            draw(length, states),
            draw(states, states),
            tuple(owner),
            draw(states) if rng.random() < 0.3 else None,
            draw(states) if rng.random() < 0.3 else None,
            draw(length - 1, size, size) if rng.random() < 0.3 else None,
            np.array([rng.random() < 0.8 for _ in range(length * len(counts))]).reshape(length, -1)
            if rng.random() < 0.2
            else None,
            rng.getrandbits(32),
        )

    def enumerate(self, problem: LatentProblem) -> Truth:
        """Add up the latent paths of every label sequence."""
        length, states = problem.emissions.shape
        found: dict[tuple[int, ...], list[float]] = {}
        largest = 1.0
        for path in itertools.product(range(states), repeat=length):
            labels = tuple(problem.owner[state] for state in path)
            if problem.allowed is not None and not all(problem.allowed[t, y] for t, y in enumerate(labels)):
                continue
            terms = _list_terms(problem, path)
            if -math.inf not in terms:
                found.setdefault(labels, []).append(math.fsum(terms))
                largest = max(largest, math.fsum(map(abs, terms)))
        if not found:
            return Truth({})
        total = _add_logs([score for scores in found.values() for score in scores])
        rounding = ROUNDING * largest * (length + 1)
        return Truth({labels: Exact(_add_logs(scores) - total, rounding) for labels, scores in found.items()})

    def ask(self, problem: LatentProblem) -> Iterator[Question]:
        """Ask every inference, with few latent paths as well."""
        rng = Random(problem.seed)
        chain = LatentChain(problem.transitions, problem.owner, problem.start, problem.end)

        def make_call(**options: Any) -> Callable[[], Any]:
            return lambda: chain.decode(
                problem.emissions, pairs=problem.pairs, allowed=problem.allowed, **options
            )

        for name, inference, k in (
            ("ldi", LDI(), 1),
            ("ldi k", LDI(), rng.choice([2, 5, 300])),
            ("ldi mass", LDI(bound="mass"), 1),
            ("ldi limited", LDI(steps=rng.choice([1, 2, 5])), 1),
            ("ldi limited k", LDI(steps=rng.choice([1, 3])), 3),
            ("ldi share", LDI(share=0.5), 1),
            ("bhp", BHP(), 1),
            ("bmp", BMP(), 1),
            ("mbr", MBR(steps=rng.choice([1, 5, 30])), 1),
            ("mbr best", MBR(best=rng.choice([1, 3])), 1),
        ):
            infeasible = choose_infeasible(rng)
            yield Question(
                name,
                make_call(inference=inference, k=k, infeasible=infeasible),
                k=k,
                exact=name in ("ldi", "ldi k", "ldi mass"),
                settles=True,
                infeasible=infeasible,
            )
        if problem.allowed is None:
            yield Question("log probability", lambda: self._check_probabilities(problem, chain))

    def _check_probabilities(self, problem: LatentProblem, chain: LatentChain) -> list[str]:
        wrong = []
        truth = self.enumerate(problem)
        for labels, exact in itertools.islice(truth.scores.items(), 5):
            found = chain.log_probability(problem.emissions, list(labels), pairs=problem.pairs)
            if not abs(found - exact.score) <= exact.rounding:
                wrong.append(f"log P of {labels} is {found!r}, not {exact.score!r}")
        try:
            marginals = chain.marginals(problem.emissions, pairs=problem.pairs).probabilities
        except certus.Infeasible:
            return wrong + (["marginals raise Infeasible, but there are labels"] if truth.scores else [])
        expected = np.zeros(marginals.shape)
        for labels, exact in truth.scores.items():
            expected[np.arange(len(labels)), list(labels)] += math.exp(exact.score)
        if not np.allclose(marginals, expected, atol=1e-9):
            wrong.append(f"marginals are {marginals!r}, not {expected!r}")
        return wrong


def _list_terms(problem: LatentProblem, path: Sequence[int]) -> list[float]:
    terms = [float(problem.emissions[t, state]) for t, state in enumerate(path)]
    for t, (a, b) in enumerate(itertools.pairwise(path)):
        terms.append(float(problem.transitions[a, b]))
        if problem.pairs is not None:
            own = problem.pairs.shape[1] == len(problem.owner)
            place = (a, b) if own else (problem.owner[a], problem.owner[b])
            terms.append(float(problem.pairs[t][place]))
    for ends, state in ((problem.start, path[0]), (problem.end, path[-1])):
        if ends is not None:
            terms.append(float(ends[state]))
    return terms


def _add_logs(scores: Sequence[float]) -> float:
    top = max(scores)
    return top + math.log(math.fsum(math.exp(score - top) for score in scores))
