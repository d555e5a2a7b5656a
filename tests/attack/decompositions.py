"""Decompositions of random parts that agree on random cells, by every optimiser, with and without limits."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any

from certus.relax import OPTIMIZERS, Decomposition
from tests.attack.attack import Exact, Question, Truth, add_terms, choose_infeasible, pick
from tests.attack.parts import Cell, PartProblem, draw_part
from tests.attack.scores import draw_regime

SHARE = 1e-11  # of the scores of a structure that counts as rounding; the library's own share is 8e-12
LIMITS: tuple[dict[str, Any], ...] = (
    {"max_iterations": 1},
    {"max_iterations": 3},
    {"max_iterations": 30},
    {"max_nodes": 1},
    {"max_nodes": 2},
    {"max_nodes": 3, "tighten": False},
    {"seconds": 1e-6},
    {"seconds": 1e-3},
)


@dataclass(frozen=True)
class DecompositionProblem:
    """Parts with their weights, and the cells that are the same in several of them."""

    parts: tuple[PartProblem, ...]
    weights: tuple[float, ...]
    shared: tuple[tuple[tuple[int, Cell], ...], ...]  # each (part, cell) in two parts or more
    regime: str
    integral: bool
    seed: int


@dataclass(frozen=True)
class AgreementTruth(Truth):
    """The best structures that agree; ``structures`` are those of each part: cells used and terms."""

    structures: Any = ()
    problem: Any = None
    best: tuple[Exact, ...] = field(default=())

    def find(self, structure: Hashable) -> Exact | None:
        """Return the score of one structure per part, if they agree."""
        assert isinstance(structure, tuple)
        terms: list[float] = []
        used = []
        for known, weight, value in zip(self.structures, self.problem.weights, structure, strict=True):
            if value not in known:
                return None
            cells, own = known[value]
            used.append(cells)
            terms += [weight * term for term in own]
        for variable in self.problem.shared:
            if len({cell in used[part] for part, cell in variable}) > 1:
                return None
        return add_terms(terms, integral=self.problem.integral, share=SHARE)

    def list_best(self, k: int) -> list[Exact]:
        """Return the best score."""
        assert k == 1
        return list(self.best)


class Decompositions:
    """The best structures of parts that agree."""

    name = "decompositions"

    def draw(self, rng: Random) -> DecompositionProblem:
        """Return a few parts that share some cells."""
        regime = draw_regime(rng, largest=200, shares=(0.0, 0.0, 0.05, 0.2))
        parts = tuple(draw_part(rng, regime) for _ in range(rng.randint(2, 4)))
        free = [_list_cells(part) for part in parts]
        shared = []
        for _ in range(rng.randint(1, 8)):
            chosen = rng.sample(range(len(parts)), 2 if rng.random() < 0.8 else min(3, len(parts)))
            if all(free[part] for part in chosen):
                shared.append(
                    tuple((part, free[part].pop(rng.randrange(len(free[part])))) for part in chosen)
                )
        weights = tuple(rng.choice([1.0, 1.0, 1.0, 2.0, 3.0]) for _ in parts)
        return DecompositionProblem(
            parts, weights, tuple(shared), regime.name, regime.integral, rng.getrandbits(32)
        )

    def enumerate(self, problem: DecompositionProblem) -> Truth:
        """Join the structures of the parts one by one, the best for each choice of shared cells."""
        structures = [
            {
                value: (cells, terms)
                for value, cells, terms in part.list_structures()
                if -math.inf not in terms
            }
            for part in problem.parts
        ]
        joined: dict[tuple[bool | None, ...], tuple[Exact, tuple[Any, ...]]] = {
            (None,) * len(problem.shared): (Exact(0.0, 0.0), ())
        }
        for number, known in enumerate(structures):
            merged: dict[tuple[bool | None, ...], tuple[Exact, tuple[Any, ...]]] = {}
            for (state, (total, values)), (value, (cells, terms)) in itertools.product(
                joined.items(), known.items()
            ):
                new = _agree(problem, state, number, cells)
                if new is None:
                    continue
                own = add_terms(
                    [problem.weights[number] * term for term in terms], integral=problem.integral, share=SHARE
                )
                assert own is not None
                score = Exact(total.score + own.score, total.rounding + own.rounding)
                if new not in merged or score > merged[new][0]:
                    merged[new] = (score, (*values, value))
            joined = merged
        best = max((exact for exact, _ in joined.values()), default=None)
        return AgreementTruth({}, 0.0, structures, problem, () if best is None else (best,))

    def ask(self, problem: DecompositionProblem) -> Iterator[Question]:
        """Ask all optimisers."""
        rng = Random(problem.seed)
        made = [part.make() for part in problem.parts]
        whole, handles = make_decomposition(problem, made)

        def read(value: Any) -> Hashable:
            return tuple(tuple(int(x) for x in _flatten(value[handle])) for handle in handles)

        def make_call(**options: Any) -> Callable[[], Any]:
            return lambda: whole.solve(**options)

        for optimizer in OPTIMIZERS:
            if optimizer == "descent" and not all(hasattr(part, "max_marginals") for part in made):
                continue
            free: dict[str, Any] = {"max_nodes": 10_000, "seconds": 20}
            if problem.integral and rng.random() < 0.3:
                free["integral"] = True
            for limits in (free, *pick(rng, LIMITS, 2)):
                infeasible = choose_infeasible(rng)
                yield Question(
                    optimizer if limits is free else f"{optimizer} limited",
                    make_call(optimizer=optimizer, infeasible=infeasible, **limits),
                    exact=limits is free,
                    may_refuse="scale them" if problem.regime in ("mixed", "tiny") else "",
                    infeasible=infeasible,
                    read=read,
                )


def make_decomposition(problem: DecompositionProblem, parts: list[Any]) -> tuple[Decomposition, list[Any]]:
    """Return the decomposition of a problem and the handles of its parts."""
    whole = Decomposition()
    handles = [whole.add(part, weight=weight) for part, weight in zip(parts, problem.weights, strict=True)]
    for variable in problem.shared:
        sides: list[Any] = [(handles[part], space, [index]) for part, (space, index) in variable]
        whole.agree(*sides)
    return whole, handles


def _list_cells(part: PartProblem) -> list[Cell]:
    return sorted({cell for _, cells, _ in part.list_structures() for cell in cells})


def _agree(
    problem: DecompositionProblem, state: tuple[bool | None, ...], number: int, cells: frozenset[Cell]
) -> tuple[bool | None, ...] | None:
    """Return the shared cells after a part has chosen; None where it does not agree."""
    new = list(state)
    for place, variable in enumerate(problem.shared):
        for part, cell in variable:
            if part == number:
                on = cell in cells
                if new[place] is not None and new[place] != on:
                    return None
                new[place] = on
    return tuple(new)


def _flatten(value: Any) -> Any:
    return value.reshape(-1) if hasattr(value, "reshape") else value
