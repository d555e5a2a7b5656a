"""Targets that solve: chains and forests made of any bits."""

from __future__ import annotations

import numpy as np

import certus
from certus import Solution
from certus.errors import CertusError
from certus.hypergraph import Hypergraph
from tests.chain.checks import MANY, VARIANTS
from tests.fuzz.choices import Choices

DTYPES: tuple[np.dtype[np.generic], ...] = (np.dtype(np.float64), np.dtype(np.float32))


def decode_chain(data: bytes) -> None:
    """Decode any scores by any method; an answer has to be a path, with its score below the bound."""
    choices = Choices(data)
    length, labels, dtype = 1 + choices.below(6), 1 + choices.below(6), choices.pick(DTYPES)
    k = choices.pick((1, 1, 2, 10))
    method = choices.pick(VARIANTS if k == 1 else MANY)
    ends = [choices.numbers(dtype, labels) if choices.below(2) else None for _ in range(2)]
    several = choices.below(2) and length > 1
    shape = (length - 1, labels, labels) if several else (labels, labels)
    transitions, emissions = choices.numbers(dtype, *shape), choices.numbers(dtype, length, labels)
    try:
        chain = certus.Chain(transitions, *ends)
        found = chain.decode(emissions, k=k, method=method, infeasible="return")
        marginals = chain.marginals(emissions)
    except CertusError:
        return
    if not (np.abs(marginals.probabilities.sum(axis=1) - 1) < 1e-6).all():
        raise AssertionError(f"{marginals}")
    for one in [found] if isinstance(found, Solution) else found:
        if one.status is certus.Status.INFEASIBLE:
            continue
        right = np.isfinite(one.score) and chain.score(emissions, one.labels) == one.score <= one.bound
        if not right:
            raise AssertionError(f"{one!r}")


def solve_forest(data: bytes) -> None:
    """Build a forest of any numbers, most of them small, and solve it."""
    choices = Choices(data)
    edges = choices.below(12)
    heads = [choices.below(10) - 1 for _ in range(edges)]
    sizes = [choices.below(4) for _ in range(edges)]
    tails = [choices.below(10) - 1 for _ in range(sum(sizes))]
    offsets = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    if choices.below(16) == 1:
        offsets[choices.below(len(offsets))] = choices.numbers(np.dtype(np.int64), 1)[0]
    scores = choices.numbers(choices.pick(DTYPES), edges)
    try:
        graph = Hypergraph(np.array(heads, np.int64), offsets, np.array(tails, np.int64), choices.below(10))
        best = graph.viterbi(scores, infeasible="return")
        graph.kbest(scores, 5, infeasible="return")
        graph.max_marginals(scores)
        graph.count(scores)
        graph.draw(scores=scores)
    except CertusError:
        return
    if graph.score(scores, best.value) != best.score:
        raise AssertionError(f"{best!r}")
