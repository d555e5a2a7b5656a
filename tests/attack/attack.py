"""What an attack on a kind of problem consists of: random problems, their truth, questions to the library.

Truth is computed here by enumeration, in sums that are rounded once (``math.fsum``). Nothing of the library
takes part in it: neither its solvers nor its test oracles.
"""

from __future__ import annotations

import hashlib
import heapq
import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Literal, NamedTuple, Protocol, TypeVar

from certus import KBest, Solution

P = TypeVar("P")
EPSILON = 2.0**-52


class Exact(NamedTuple):
    """The score of a structure, rounded once, and how far a sum of floats in any order may be from it."""

    score: float
    rounding: float


def add_terms(
    terms: Sequence[float], *, integral: bool, epsilon: float = EPSILON, share: float = 0.0
) -> Exact | None:
    """Return the sum of the scores of a structure; None where one of them is -inf: it is forbidden.

    ``share`` of the terms without their signs is what the proofs of a method may be wrong by, beside the
    rounding of a sum. It is measured by the structures that are compared: penalties in others hide nothing.
    """
    total = math.fsum(terms)
    if total == -math.inf:
        return None
    size = math.fsum(map(abs, terms))
    return Exact(total, 0.0 if integral else (2 * epsilon * (len(terms) + 1) + share) * size)


@dataclass(frozen=True)
class Truth:
    """The allowed structures of a problem with their scores.

    Attributes:
        scores: of every allowed structure.
        slack: how much more than rounding the proofs of this kind may be wrong by: integer programs.
    """

    scores: Mapping[Any, Exact]
    slack: float = 0.0

    def find(self, structure: Hashable) -> Exact | None:
        """Return the score of a structure, or None where it is not allowed or does not exist."""
        return self.scores.get(structure)

    def list_best(self, k: int) -> list[Exact]:
        """Return the k highest scores; fewer where fewer structures are allowed."""
        return heapq.nlargest(k, self.scores.values())


@dataclass(frozen=True)
class Question:
    """A call of the library whose answer is judged.

    Attributes:
        method: under which it is counted; optimisers, methods and limits are part of it.
        ask: returns the answer; or a list of faults of answers that are neither Solution nor KBest.
        k: how many structures are asked for; above 1, or with ``is_list``, the answer is a KBest.
        exact: whether the method promises to prove its answer.
        settles: whether it promises at least to tell where nothing is allowed.
        may_refuse: a part of the message of an InvalidInput that is right here; empty where none is.
        infeasible: what the call was told to do where nothing is allowed.
        read: turns ``Solution.value`` into the structures of the truth.
        truth: where the question is about other structures than the problem's own.
    """

    method: str
    ask: Callable[[], Solution[Any] | KBest[Any] | list[str]]
    k: int = 1
    exact: bool = False
    settles: bool = False
    may_refuse: str = ""
    infeasible: Literal["raise", "return"] = "raise"
    read: Callable[[Any], Hashable] = field(default=lambda value: tuple(int(x) for x in value))
    truth: Truth | None = None


class Attack(Protocol[P]):
    """A kind of problem."""

    name: str

    def draw(self, rng: Random) -> P:
        """Return a random problem: plain data, whose ``repr`` is Python text."""

    def enumerate(self, problem: P) -> Truth:
        """Return the truth about a problem."""

    def ask(self, problem: P) -> Iterable[Question]:
        """Yield what the library is asked about it."""


def make_random(kind: str, seed: int, number: int) -> Random:
    """Return the random numbers of a problem, the same on every machine."""
    digest = hashlib.sha256(f"{kind}/{seed}/{number}".encode()).digest()
    return Random(int.from_bytes(digest[:16], "big"))


def choose_infeasible(rng: Random) -> Literal["raise", "return"]:
    """Choose what a call does where nothing is allowed."""
    return "raise" if rng.random() < 0.5 else "return"


def pick(rng: Random, items: Sequence[P], count: int) -> Iterator[P]:
    """Yield some of the items, in their order."""
    chosen = sorted(rng.sample(range(len(items)), min(count, len(items))))
    return (items[number] for number in chosen)
