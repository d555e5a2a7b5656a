"""Dependency trees with scores of arcs, siblings, grandparents and grandsiblings, projective and crossing."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import Any

import numpy as np

from certus import Infeasible, Trees
from tests.attack.attack import Question, Truth, add_terms, choose_infeasible
from tests.attack.scores import draw_regime

SHARE = 2e-10  # of the scores of a tree that counts as rounding where multipliers take part
Heads = tuple[int, ...]


@dataclass(frozen=True)
class TreesProblem:
    """A sentence; ``parts`` are siblings, grandparents and grandsiblings, each an array or None."""

    arcs: Any  # (n, n + 1)
    parts: tuple[Any, Any, Any]
    projective: bool
    single_root: bool
    regime: str
    integral: bool
    epsilon: float
    seed: int


class DependencyTrees:
    """The best dependency trees."""

    name = "trees"

    def draw(self, rng: Random) -> TreesProblem:
        """Return a sentence of few words."""
        regime = draw_regime(rng, largest=90, single=rng.random() < 0.2, shares=(0.0, 0.0, 0.05, 0.3))
        words = rng.choice([0, 1, 2, 2, 3, 3, 3, 4, 4, 5])
        size = words + 1
        share = min(regime.share, 0.02)
        order = rng.choice(["", "", "s", "g", "sg", "t", "sgt", "st"])
        parts = tuple(
            regime.draw_array(rng, (size,) * axes, share=share) if name in order else None
            for name, axes in (("s", 3), ("g", 3), ("t", 4))
        )
        assert len(parts) == 3
        return TreesProblem(
            regime.draw_array(rng, (words, size)),
            parts,
            rng.random() < 0.5,
            rng.random() < 0.4,
            regime.name,
            regime.integral,
            2.0**-52,
            rng.getrandbits(32),
        )

    def enumerate(self, problem: TreesProblem) -> Truth:
        """Score every tree."""
        duals = not problem.projective and any(part is not None for part in problem.parts)
        share, found = SHARE if duals else 0.0, {}
        for heads in list_trees(len(problem.arcs), problem.projective, problem.single_root):
            exact = add_terms(_list_terms(problem, heads), integral=problem.integral, share=share)
            if exact is not None:
                found[heads] = exact
        return Truth(found)

    def ask(self, problem: TreesProblem) -> Iterator[Question]:
        """Ask for the best tree, for lists, with limits of time, and for probabilities."""
        rng = Random(problem.seed)
        trees = Trees(projective=problem.projective, single_root=problem.single_root)
        siblings, grandparents, grandsiblings = problem.parts
        plain = all(part is None for part in problem.parts)
        kind = "projective" if problem.projective else "crossing"
        name = f"{kind} {'arcs' if plain else 'parts'}"

        def make_call(**options: Any) -> Callable[[], Any]:
            return lambda: trees.decode(
                problem.arcs, siblings, grandparents, grandsiblings=grandsiblings, **options
            )

        # A list is complete only where nothing forbids what time and the number of trees allow.
        for k, seconds in ((1, None), (rng.choice([2, 5, 2000]), None), (1, 0.0), (3, 0.0), (2, 1e-4)):
            infeasible = choose_infeasible(rng)
            limited = "" if seconds is None else " limited"
            yield Question(
                name + (" k" if k > 1 else "") + limited,
                make_call(k=k, seconds=seconds, infeasible=infeasible),
                k=k,
                exact=seconds is None,
                infeasible=infeasible,
            )
        if grandsiblings is None:
            yield Question(f"{name} batch", lambda: _ask_batch(trees, problem), exact=True)
        if problem.regime in ("ties", "small", "normal") and (plain or problem.projective):
            yield Question(f"{name} marginals", lambda: _check_marginals(trees, problem))


@lru_cache
def list_trees(words: int, projective: bool, single_root: bool) -> tuple[Heads, ...]:
    """Return the heads of all trees: from every word there is a way to the root."""
    found = []
    for heads in itertools.product(range(words + 1), repeat=words):
        if single_root and words and heads.count(0) != 1:
            continue
        reached, grown = {0}, True
        while grown:
            new = {m for m in range(1, words + 1) if heads[m - 1] in reached} - reached
            reached, grown = reached | new, bool(new)
        if len(reached) == words + 1 and not (projective and _has_crossing(heads)):
            found.append(heads)
    return tuple(found)


def _has_crossing(heads: Heads) -> bool:
    arcs = [(min(h, m), max(h, m)) for m, h in enumerate(heads, 1)]
    return any(a < c < b < d for a, b in arcs for c, d in arcs)


def _list_terms(problem: TreesProblem, heads: Heads) -> list[float]:
    siblings, grandparents, grandsiblings = problem.parts
    terms = [float(problem.arcs[m - 1, h]) for m, h in enumerate(heads, 1)]
    for head in range(len(heads) + 1):
        above = heads[head - 1] if head else 0
        own = [m for m, h in enumerate(heads, 1) if h == head]
        if grandparents is not None and head:
            terms += [float(grandparents[above, head, m]) for m in own]
        for side in ([m for m in reversed(own) if m < head], [m for m in own if m > head]):
            for before, after in itertools.pairwise([0, *side, 0]):
                if siblings is not None:
                    terms.append(float(siblings[head, before, after]))
                if grandsiblings is not None:
                    terms.append(float(grandsiblings[above, head, before, after]))
    return terms


def _ask_batch(trees: Trees, problem: TreesProblem) -> Any:
    siblings, grandparents, _ = ([part] * 3 if part is not None else None for part in problem.parts)
    found = trees.decode_batch([problem.arcs] * 3, siblings, grandparents, threads=2)
    if len({tuple(map(int, one.value)) for one in found}) != 1:
        return [f"answers of one sentence differ in a batch: {found}"]
    return found[1]


def _check_marginals(trees: Trees, problem: TreesProblem) -> list[str]:
    truth = DependencyTrees().enumerate(problem)
    siblings, grandparents, grandsiblings = problem.parts
    try:
        found = trees.marginals(problem.arcs, siblings, grandparents, grandsiblings=grandsiblings)
    except Infeasible:
        return ["marginals raise Infeasible, but there is a tree"] if truth.scores else []
    if not truth.scores:
        return ["marginals without any tree"]
    top = truth.list_best(1)[0].score
    total = math.fsum(math.exp(exact.score - top) for exact in truth.scores.values())
    wrong = []
    if not math.isclose(found.log_partition, top + math.log(total), rel_tol=1e-9, abs_tol=1e-9):
        wrong.append(f"log Z is {found.log_partition!r}, not {top + math.log(total)!r}")
    expected = np.zeros(problem.arcs.shape)
    for heads, exact in truth.scores.items():
        assert isinstance(heads, tuple)
        for word, head in enumerate(heads):
            expected[word, head] += math.exp(exact.score - top) / total
    if not np.allclose(found.probabilities, expected, rtol=1e-7, atol=1e-9):
        wrong.append(f"probabilities are {found.probabilities!r}, not {expected!r}")
    return wrong
