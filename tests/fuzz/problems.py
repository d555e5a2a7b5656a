"""Targets that solve: chains, forests, trees, alignments and factor graphs made of any bits."""

from __future__ import annotations

from typing import Any

import numpy as np

import certus
from certus import Solution
from certus.align import align_matrix
from certus.errors import CertusError
from certus.hypergraph import Hypergraph
from certus.relax import FactorGraph
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
        best = graph.decode(scores, infeasible="return")
        graph.decode(scores, k=5, infeasible="return")
        graph.max_marginals(scores)
        graph.count(scores)
        graph.draw(scores=scores)
    except CertusError:
        return
    if graph.score(scores, best.value) != best.score:
        raise AssertionError(f"{best!r}")


def decode_trees(data: bytes) -> None:
    """Find the best trees under any scores; each has to be below its bound."""
    choices = Choices(data)
    words, dtype, k = 1 + choices.below(6), choices.pick(DTYPES), choices.pick((1, 1, 2, 5))
    trees = certus.Trees(projective=bool(choices.below(2)), single_root=bool(choices.below(2)))
    order = choices.below(4)
    arcs = choices.numbers(dtype, words, words + 1)
    siblings = choices.numbers(dtype, *(3 * [words + 1])) if order & 1 else None
    grandparents = choices.numbers(dtype, *(3 * [words + 1])) if order & 2 else None
    try:
        found = trees.decode(arcs, siblings, grandparents, k=k, seconds=0.5, infeasible="return")
        trees.marginals(arcs)
    except CertusError:
        return
    for one in [found] if isinstance(found, Solution) else found:
        if one.status is not certus.Status.INFEASIBLE and not one.score <= one.bound:
            raise AssertionError(f"{one!r}")


def decode_matrix(data: bytes) -> None:
    """Align two sentences under any scores."""
    choices = Choices(data)
    shape, dtype = (1 + choices.below(4), 1 + choices.below(4)), choices.pick(DTYPES)
    agreement = choices.pick(("full", "adjacent", "soft"))
    forward, backward = choices.numbers(dtype, *shape), choices.numbers(dtype, *shape)
    try:
        found = align_matrix(forward, backward, agreement=agreement, seconds=0.5, infeasible="return")
    except CertusError:
        return
    if found.status is not certus.Status.INFEASIBLE and not found.score <= found.bound:
        raise AssertionError(f"{found!r}")


def solve_factor_graph(data: bytes) -> None:
    """Solve a factor graph of any tables and constraints; an answer has to score what it says."""
    choices, graph, magnitude = Choices(data), FactorGraph(), 0.0
    float64 = np.dtype(np.float64)

    def draw(*shape: int) -> np.ndarray[Any, np.dtype[Any]]:
        nonlocal magnitude
        numbers = choices.numbers(float64, *shape)
        magnitude += float(np.abs(numbers[np.isfinite(numbers)]).sum())
        return numbers

    try:
        for _ in range(1 + choices.below(5)):
            graph.add_binary(float(draw(1)[0]))
        while choices.left:
            some = [graph.variables[choices.below(len(graph.variables))] for _ in range(1 + choices.below(3))]
            add = choices.pick((graph.add_exactly_one, graph.add_at_most_one, graph.add_or))
            if choices.below(2):
                add([one if choices.below(2) else ~one for one in some])
            else:
                graph.add_table(some, draw(*(2 for _ in some)))
        found = graph.solve(seconds=0.5, infeasible="return")
    except CertusError:
        return
    if found.status is certus.Status.INFEASIBLE:
        return
    lost = abs(graph.score(found.value) - found.score)  # sums in another order differ by rounding
    if not (lost <= 1e-14 * magnitude and found.score <= found.bound):
        raise AssertionError(f"{found!r} scores {graph.score(found.value)}")


SOLVERS = {
    "chain": decode_chain,
    "forest": solve_forest,
    "trees": decode_trees,
    "matrix": decode_matrix,
    "factor-graph": solve_factor_graph,
}
