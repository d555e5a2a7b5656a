"""The certificate of a forest: the inside value of each node, the best score of its derivations."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certus.solution import Solution, Status
from certus.verification import Certificate, Problem, certify


def certify_derivation(problem: Problem, found: Solution[NDArray[np.int64]]) -> Certificate:
    """Return the certificate of the best derivation."""
    answer = None if found.status is Status.INFEASIBLE else found.value.tolist()
    values = [None if value == -math.inf else value for value in _find_inside(problem.data)]
    return certify(problem, answer, {"inside": values})


def _find_inside(data: Mapping[str, Any]) -> list[float]:
    """Return for each node the best score of its derivations, rounded up where it has to be rounded."""
    offsets, flat, heads = (data[name].tolist() for name in ("offsets", "tails", "heads"))
    scores = data["scores"].tolist()
    tails = [flat[a:b] for a, b in itertools.pairwise(offsets)]
    waiting = [0] * data["nodes"]  # edges of a node that are not looked at yet
    above: list[list[int]] = [[] for _ in waiting]
    missing = [len(own) for own in tails]  # tails of an edge that are not known yet
    for edge, own in enumerate(tails):
        waiting[heads[edge]] += 1
        for node in own:
            above[node].append(edge)
    inside = [-math.inf] * data["nodes"]
    known = [node for node, count in enumerate(waiting) if count == 0]
    ready = [edge for edge, count in enumerate(missing) if count == 0]
    while ready or known:
        while known:
            for edge in above[known.pop()]:
                missing[edge] -= 1
                if missing[edge] == 0:
                    ready.append(edge)
        if ready:
            edge = ready.pop()
            head = heads[edge]
            inside[head] = max(inside[head], _add_up([scores[edge], *(inside[node] for node in tails[edge])]))
            waiting[head] -= 1
            if waiting[head] == 0:
                known.append(head)
    return inside


def _add_up(terms: list[float]) -> float:
    """Return the least float that is not below the sum."""
    if -math.inf in terms:
        return -math.inf
    total = math.fsum(terms)
    return math.nextafter(total, math.inf) if math.fsum([*terms, -total]) > 0 else total
