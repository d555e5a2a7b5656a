"""Chains: dense, sparse and per-position transitions, masks, automata, every method, lists and batches."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

import certus
from certus.chain import METHODS, Beam, Chain, SparseTransitions, Staggered
from tests.attack.attack import Question, Truth, add_terms, choose_infeasible, pick
from tests.attack.scores import draw_regime

MOST = 1500  # label sequences


@dataclass(frozen=True)
class ChainProblem:
    """A sentence; transitions are "dense", "sparse" or of "positions", ``legal`` those of an automaton."""

    emissions: Any  # (T, L)
    transitions: Any  # (L, L) or (T - 1, L, L)
    start: Any
    end: Any
    form: str
    allowed: Any  # (T, L) booleans or None
    legal: Any  # (L, L) booleans or None
    integral: bool
    epsilon: float
    seed: int


class Chains:
    """The best label sequences."""

    name = "chains"

    def draw(self, rng: Random) -> ChainProblem:
        """Return a sentence of few words."""
        regime = draw_regime(rng, single=rng.random() < 0.3, largest=300)
        labels = rng.randint(1, 6)
        longest = 6 if labels == 1 else int(math.log(MOST, labels))
        length = rng.randint(0 if rng.random() < 0.1 else 1, min(longest, 8))
        form = rng.choice(["dense", "dense", "sparse", "positions"])
        steps = (max(length - 1, 0), labels, labels) if form == "positions" else (labels, labels)
        mask = rng.random()
        share = 0.3 if regime.share else 0.1
        return ChainProblem(
            regime.draw_array(rng, (length, labels)),
            regime.draw_array(rng, steps),
            regime.draw_array(rng, (labels,)) if rng.random() < 0.4 else None,
            regime.draw_array(rng, (labels,)) if rng.random() < 0.4 else None,
            form,
            _draw_mask(rng, (length, labels), share) if mask < 0.2 else None,
            _draw_mask(rng, (labels, labels), share) if mask > 0.8 else None,
            regime.integral,
            regime.epsilon,
            rng.getrandbits(32),
        )

    def enumerate(self, problem: ChainProblem) -> Truth:
        """Score every label sequence."""
        length, labels = problem.emissions.shape
        found = {}
        for path in itertools.product(range(labels), repeat=length):
            if problem.allowed is not None and not all(problem.allowed[t, y] for t, y in enumerate(path)):
                continue
            if problem.legal is not None and not all(
                problem.legal[a, b] for a, b in itertools.pairwise(path)
            ):
                continue
            exact = add_terms(_list_terms(problem, path), integral=problem.integral, epsilon=problem.epsilon)
            if exact is not None:
                found[path] = exact
        return Truth(found)

    def ask(self, problem: ChainProblem) -> Iterator[Question]:
        """Ask every method for the best sequence, for lists, in batches, and step by step."""
        rng = Random(problem.seed)
        chain, allowed = make_chain(problem), make_allowed(problem)
        infeasible = choose_infeasible(rng)
        options: dict[str, Any] = {"allowed": allowed, "infeasible": infeasible}
        methods: list[Any] = [*METHODS, Beam(width=1), Beam(width=2), Staggered(columnwise=False)]
        for method in methods:
            name = method if isinstance(method, str) else repr(method)
            kind = METHODS[method] if isinstance(method, str) else type(method)
            ks = [1, rng.choice([2, 3, 7, 20, 2000])] if kind.many else [1]
            for k in ks:
                yield Question(
                    name if k == 1 else f"{name} k",
                    _make_call(chain, problem.emissions, k=k, method=method, **options),
                    k=k,
                    exact=kind.exact,
                    infeasible=infeasible,
                )
        for method in pick(rng, list(METHODS), 3):
            yield Question(
                f"{method} batch",
                _make_batch_call(chain, problem.emissions, allowed, method, infeasible),
                exact=METHODS[method].exact,
                infeasible=infeasible,
            )
        if allowed is None:
            yield Question("iterate", lambda: _list_paths(chain, problem.emissions, 50), k=50, exact=True)


def make_chain(problem: ChainProblem) -> Chain:
    """Return the chain of a problem."""
    transitions = problem.transitions
    if problem.form == "sparse":
        default = float(transitions.flat[0])
        origin, target = np.nonzero(transitions != default)
        listed = transitions[origin, target]
        transitions = SparseTransitions(len(transitions), origin, target, listed, default=default)
    return Chain(transitions, problem.start, problem.end)


def make_allowed(problem: ChainProblem) -> Any:
    """Return the mask or the automaton of a problem."""
    if problem.legal is None:
        return problem.allowed
    return certus.Automaton([str(n) for n in range(len(problem.legal))], problem.legal)


def _is_allowed(problem: ChainProblem, path: tuple[int, ...]) -> bool:
    if problem.allowed is not None and not all(problem.allowed[t, y] for t, y in enumerate(path)):
        return False
    return problem.legal is None or all(problem.legal[a, b] for a, b in itertools.pairwise(path))


def _draw_mask(rng: Random, shape: tuple[int, int], share: float) -> Any:
    return np.array([rng.random() >= share for _ in range(math.prod(shape))], bool).reshape(shape)


def _list_terms(problem: ChainProblem, path: tuple[int, ...]) -> list[float]:
    if not path:
        return []
    steps = problem.transitions
    terms = [float(problem.emissions[t, y]) for t, y in enumerate(path)]
    for t, (a, b) in enumerate(itertools.pairwise(path)):
        terms.append(float(steps[t, a, b] if steps.ndim == 3 else steps[a, b]))
    for ends, label in ((problem.start, path[0]), (problem.end, path[-1])):
        if ends is not None:
            terms.append(float(ends[label]))
    return terms


def _make_call(chain: Chain, emissions: Any, **options: Any) -> Callable[[], Any]:
    return lambda: chain.decode(emissions, **options)


def _make_batch_call(
    chain: Chain, emissions: Any, allowed: Any, method: str, infeasible: Any
) -> Callable[[], Any]:
    """Decode the sentence with copies of itself on two threads; all answers have to be the same."""

    def call() -> Any:
        masks = [allowed] * 3 if isinstance(allowed, np.ndarray) else allowed
        found = chain.decode_batch(
            [emissions] * 3, allowed=masks, method=method, threads=2, infeasible=infeasible
        )
        if any(one.score != found[0].score or list(one.value) != list(found[0].value) for one in found):
            return [f"answers of one sentence differ in a batch: {found}"]
        return found[1]

    return call


def _list_paths(chain: Chain, emissions: Any, k: int) -> Any:
    paths = list(itertools.islice(chain.iterate(emissions), k))
    return certus.KBest(paths, exhausted=len(paths) < k)
