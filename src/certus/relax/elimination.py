"""Exact dynamic programming for narrow factor graphs: variables are maximised out one after the other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

WIDEST = 1 << 20  # entries of a table on the way
MOST = 1 << 22  # entries of all of them together
DIMENSIONS = 30  # of an array, at most


@dataclass(frozen=True)
class Scope:
    """Scores of some variables together: one axis per variable, in the order of ``variables``."""

    variables: tuple[int, ...]
    scores: Floats


def find_order(states: Sequence[int], scopes: Sequence[tuple[int, ...]]) -> list[int] | None:
    """Return an order in which all tables on the way stay small, or None: the smallest table is next."""
    around: list[set[int]] = [set() for _ in states]
    for scope in scopes:
        for variable in scope:
            around[variable].update(scope)
    for variable, others in enumerate(around):
        others.discard(variable)
    left, order, total = set(range(len(states))), [], 0.0
    size = np.array([_count_entries(v, around, states) for v in range(len(states))])
    while left:
        chosen = int(np.argmin(size))
        total += size[chosen]
        if size[chosen] > WIDEST or total > MOST or len(around[chosen]) >= DIMENSIONS:
            return None
        order.append(chosen)
        left.discard(chosen)
        size[chosen] = np.inf
        for other in around[chosen]:
            around[other] |= around[chosen]
            around[other] -= {other, chosen}
        for other in around[chosen]:
            size[other] = _count_entries(other, around, states)
    return order


def eliminate(
    states: Sequence[int], scopes: Sequence[Scope], order: Sequence[int]
) -> NDArray[np.int64] | None:
    """Return the best state of each variable, or None where all assignments are forbidden.

    The best score over a variable, given those that it shares a table with, is a table of theirs (Bertelè &
    Brioschi 1972); in the end the choices are followed back.
    """
    waiting: list[list[Scope]] = [[] for _ in states]
    place = {variable: at for at, variable in enumerate(order)}

    def put(scope: Scope) -> None:
        waiting[min(scope.variables, key=place.__getitem__)].append(scope)

    for scope in scopes:
        put(scope)
    chosen: list[tuple[int, tuple[int, ...], NDArray[np.int64]]] = []
    for variable in order:
        others = tuple(sorted({v for s in waiting[variable] for v in s.variables} - {variable}))
        table = _add(waiting[variable], (*others, variable), states)
        chosen.append((variable, others, table.argmax(axis=-1)))
        best = table.max(axis=-1)
        if others:
            put(Scope(others, best))
        elif best == -np.inf:
            return None
    found = np.zeros(len(states), np.int64)
    for variable, others, choice in reversed(chosen):
        found[variable] = choice[tuple(found[list(others)])]
    return found


def _count_entries(variable: int, around: list[set[int]], states: Sequence[int]) -> float:
    return math.prod([float(states[v]) for v in around[variable]], start=float(states[variable]))


def _add(scopes: Sequence[Scope], axes: tuple[int, ...], states: Sequence[int]) -> Floats:
    """Sum tables over the union of their variables."""
    table = np.zeros([states[v] for v in axes])
    for scope in scopes:
        order = np.argsort([axes.index(v) for v in scope.variables])
        shape = [states[v] if v in scope.variables else 1 for v in axes]
        table += scope.scores.transpose(order).reshape(shape)
    return table
