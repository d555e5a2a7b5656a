"""Checks of solvers of chains."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from certus.chain import Chain
from certus.errors import Infeasible
from certus.solution import KBest, Solution, Status
from certus.testing.failure import demand

Floats: TypeAlias = NDArray[np.float64]
Solver: TypeAlias = Callable[[Chain, Floats, int], Any]


def check_solver(
    solve: Solver, *, exact: bool = True, k: int = 1, problems: int = 300, seed: int = 0
) -> None:
    """Check a solver of chains against the enumeration of all label sequences, with ``==``.

    Scores are small whole numbers, so that sums are exact and ties are common; some are forbidden, and some
    problems have no answer.

    Args:
        solve: called with a Chain, emissions (T, L) and k; returns a Solution, for k > 1 a KBest. Where no
            sequence is possible, it raises Infeasible, or returns one with that status (an empty KBest).

    Other args:
        exact: whether every answer has to be optimal; else ``score <= optimum <= bound`` has to hold.
        k: how many sequences to ask for.
        problems: how many to draw.
        seed: of the problems.

    Raises:
        CheckFailed: something does not hold.
    """
    for number in range(problems):
        rng = np.random.default_rng((seed, number))
        length, labels = int(rng.integers(1, 6)), int(rng.integers(1, 5))
        chain = Chain(_draw(rng, labels, labels), _draw(rng, labels), _draw(rng, labels))
        emissions = _draw(rng, length, labels)
        given = emissions.copy()
        try:
            found = solve(chain, given, k)
        except Infeasible:
            found = None
        what = f"problem {number} of seed {seed}, {length} positions, {labels} labels"
        demand(np.array_equal(given, emissions), f"{what}: the emissions were changed")
        ranked = _rank(chain, emissions)
        if k == 1:
            _check_one(found, chain, emissions, ranked, exact, what)
        else:
            _check_many(found, chain, emissions, ranked, k, what)


def _draw(rng: np.random.Generator, *shape: int) -> Floats:
    scores = rng.integers(-3, 4, shape).astype(np.float64)
    scores[rng.random(shape) < 0.12] = -np.inf
    return scores


def _score(chain: Chain, emissions: Floats, path: tuple[int, ...]) -> float:
    """Add up a sequence's scores, one by one."""
    transitions = np.asarray(chain.transitions)
    total = sum(float(emissions[t, label]) for t, label in enumerate(path))
    total += sum(float(transitions[i, j]) for i, j in itertools.pairwise(path))
    for ends, label in ((chain.start, path[0]), (chain.end, path[-1])):
        total += 0.0 if ends is None else float(ends[label])
    return total


def _rank(chain: Chain, emissions: Floats) -> list[float]:
    """Return the scores of all sequences that are possible, best first."""
    paths = itertools.product(range(chain.labels), repeat=len(emissions))
    scores = (_score(chain, emissions, path) for path in paths)
    return sorted((score for score in scores if score > -np.inf), reverse=True)


def _check_one(
    found: Any, chain: Chain, emissions: Floats, ranked: list[float], exact: bool, what: str
) -> None:
    dead = found is None or (isinstance(found, Solution) and found.status is Status.INFEASIBLE)
    if not ranked:
        demand(dead, f"{what}: nothing is possible, but there is an answer")
        return
    demand(not dead, f"{what}: there is an answer, but none was found")
    demand(isinstance(found, Solution), f"{what}: a {type(found).__name__} is no Solution")
    path = _read_path(found, chain, emissions, what)
    own = _score(chain, emissions, path)
    demand(own == found.score, f"{what}: the score is {found.score}, but its labels score {own}")
    demand(
        found.score <= ranked[0] <= found.bound,
        f"{what}: the optimum {ranked[0]} is not between score {found.score} and bound {found.bound}",
    )
    demand(found.optimal or not exact, f"{what}: the answer is not proven to be optimal")
    demand(
        not found.optimal or found.score == found.bound, f"{what}: optimal, but the bound is not the score"
    )


def _read_path(found: Solution[Any], chain: Chain, emissions: Floats, what: str) -> tuple[int, ...]:
    """Return the labels of an answer, which have to be numbers of labels, one per position."""
    labels = np.asarray(found.value)
    demand(labels.shape == (len(emissions),), f"{what}: the answer has {labels.size} labels")
    known = labels.dtype.kind in "iu" and bool(((labels >= 0) & (labels < chain.labels)).all())
    demand(known, f"{what}: {labels.tolist()} are no numbers of labels")
    return tuple(labels.tolist())


def _check_many(found: Any, chain: Chain, emissions: Floats, ranked: list[float], k: int, what: str) -> None:
    found = KBest([]) if found is None else found
    demand(isinstance(found, KBest), f"{what}: a {type(found).__name__} is no KBest")
    paths = [_read_path(one, chain, emissions, what) for one in found]
    scores = [one.score for one in found]
    demand(scores == ranked[:k], f"{what}: the {k} best score {ranked[:k]}, not {scores}")
    demand(len(set(paths)) == len(paths), f"{what}: a sequence is listed twice")
    own = [_score(chain, emissions, path) for path in paths]
    demand(own == scores, f"{what}: the labels score {own}, not {scores}")
    for rank, one in enumerate(found, 1):
        demand(
            one.optimal and one.bound == one.score,
            f"{what}: rank {rank} scores {one.score}, but is not proven: the bound is {one.bound}",
        )
    demand(
        not found or len(found) == k or found.exhausted,
        f"{what}: the list has {len(found)} of {k} sequences, and does not say that it is exhausted",
    )
    demand(
        not found.exhausted or len(found) == len(ranked),
        f"{what}: the list says that it is exhausted, but has {len(found)} of {len(ranked)} sequences",
    )
