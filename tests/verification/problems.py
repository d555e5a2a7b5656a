"""Small random problems of every kind, solved with a certificate: whole numbers, ties, forbidden cells."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

import certus
from certus.chain.part import ChainPart
from certus.hypergraph import Hypergraph
from certus.latent import LatentChain
from certus.learn.ngram_certificate import certify_labels
from certus.relax import Decomposition, FactorGraph
from certus.relax.parts import AtMostOne, Budget, ExactlyOne, HeadAutomata, TablePart, TreePart
from certus.solution import Solution, Status
from certus.verification import Problem, make_problem, read_problem
from tests.reference.certificates import list_structures

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Solved:
    """A problem, as ``certus.verify`` takes it, and its solution."""

    stating: Any
    solution: Solution[Any]

    @property
    def problem(self) -> Problem:
        """The problem as plain data."""
        return read_problem(self.stating)


def draw(rng: np.random.Generator, *shape: int, forbidden: float = 0.15) -> Floats:
    """Draw whole-numbered scores, some of them forbidden."""
    scores = rng.integers(-4, 5, shape).astype(np.float64)
    scores[rng.random(shape) < forbidden] = -np.inf
    return scores


def solve_chain(rng: np.random.Generator) -> Solved:
    """Solve a chain."""
    length, labels = int(rng.integers(0, 5)), int(rng.integers(1, 4))
    each = length > 0 and rng.random() < 0.3
    shape = (length - 1, labels, labels) if each else (labels, labels)
    chain = certus.Chain(
        draw(rng, *shape), draw(rng, labels), draw(rng, labels) if rng.random() < 0.5 else None
    )
    emissions = draw(rng, length, labels)
    return Solved((chain, emissions), chain.decode(emissions, certificate=True, infeasible="return"))


def solve_ngrams(rng: np.random.Generator) -> Solved:
    """Find the best labels under n-grams of labels and coarse tags by listing all, and certify them."""
    length, labels, order = (int(rng.integers(*ends)) for ends in ((0, 5), (1, 4), (1, 4)))
    coarse = rng.integers(0, labels, labels)
    tags = int(coarse.max()) + 1
    sequences = {}
    for _ in range(int(rng.integers(0, 40))):
        size, of_tags = int(rng.integers(2, order + 2)), bool(rng.integers(2))
        numbers = rng.integers(0, (tags if of_tags else labels) + 1, size) + (labels + 1) * of_tags
        sequences[tuple(numbers.tolist())] = float(draw(rng, forbidden=0.05))
    data = {
        "emissions": draw(rng, length, labels),
        "order": order,
        "coarse": coarse,
        "offsets": np.cumsum([0, *map(len, sequences)]),
        "sequences": np.array([y for sequence in sequences for y in sequence], np.int64),
        "weights": np.array([*sequences.values()], np.float64),
    }
    problem = make_problem("ngrams", data)
    listing = list_structures("ngrams", problem.data)
    value, score, _ = max(listing, key=lambda one: one[1], default=(None, Fraction(0), ()))
    infeasible = value is None
    best = -np.inf if infeasible else float(score)
    found = Solution(value, best, best, Status.INFEASIBLE if infeasible else Status.OPTIMAL)
    found.certificate = certify_labels(problem, value, [set() for _ in range(length)])
    return Solved(problem, found)


def draw_forest(rng: np.random.Generator) -> Hypergraph:
    """Draw a small forest: each node has edges to nodes before it."""
    heads, tails, offsets = [0], [], [0, 0]
    for node in range(1, int(rng.integers(2, 6))):
        for _ in range(int(rng.integers(1, 4))):
            tails += rng.integers(0, node, int(rng.integers(0, 3))).tolist()
            heads.append(node)
            offsets.append(len(tails))
    return Hypergraph(np.array(heads), np.array(offsets), np.array(tails, np.int64), int(max(heads)))


def solve_forest(rng: np.random.Generator) -> Solved:
    """Solve a forest."""
    graph = draw_forest(rng)
    scores = draw(rng, graph.edges)
    return Solved((graph, scores), graph.decode(scores, certificate=True, infeasible="return"))


def solve_trees(rng: np.random.Generator) -> Solved:
    """Find a dependency tree."""
    words = int(rng.integers(0, 5))
    trees = certus.Trees(single_root=bool(rng.integers(2)))
    arcs = draw(rng, words, words + 1, forbidden=float(rng.choice([0.0, 0.2, 0.5])))
    return Solved((trees, arcs), trees.decode(arcs, certificate=True, infeasible="return"))


def solve_latent(rng: np.random.Generator) -> Solved:
    """Solve a latent chain."""
    length, labels, states = (int(rng.integers(*ends)) for ends in ((0, 4), (1, 4), (1, 3)))
    hidden = labels * states
    chain = LatentChain(draw(rng, hidden, hidden), states, start=draw(rng, hidden))
    emissions = draw(rng, length, hidden)
    pairs = draw(rng, max(length - 1, 0), labels, labels, forbidden=0.0) if rng.random() < 0.5 else None
    found = chain.decode(emissions, pairs=pairs, certificate=True, infeasible="return")
    return Solved((chain, emissions, pairs), found)


def solve_factor_graph(rng: np.random.Generator) -> Solved:
    """Solve a factor graph of tables and constraints."""
    graph = FactorGraph()
    for _ in range(int(rng.integers(2, 5))):
        if rng.random() < 0.5:
            graph.add_variable(draw(rng, int(rng.integers(1, 4)), forbidden=0.0))
        else:
            graph.add_binary(float(rng.integers(-4, 5)))
    variables = graph.variables
    for _ in range(int(rng.integers(1, 4))):
        chosen = [variables[n] for n in rng.permutation(len(variables))]
        literals = [variable[int(rng.integers(variable.states))] for variable in chosen]
        kind = int(rng.integers(5))
        if kind == 0:
            graph.add_count(literals, least=int(rng.integers(2)), most=int(rng.integers(1, 4)))
        elif kind == 1:
            graph.add_or_output(literals[:-1], literals[-1])
        elif kind == 2:
            weights = rng.integers(0, 4, len(literals)).tolist()
            graph.add_knapsack(literals, weights, int(rng.integers(0, 5)))
        else:
            own = chosen[:2]
            graph.add_table(own, draw(rng, *(variable.states for variable in own)))
    return Solved(graph, graph.solve(certificate=True, infeasible="return"))


def solve_parser(rng: np.random.Generator) -> Solved:
    """Combine trees with scores of siblings."""
    words = int(rng.choice([1, 2, 2, 2, 2, 3]))
    whole = Decomposition()
    trees = whole.add(TreePart(draw(rng, words, words + 1), single_root=bool(rng.integers(2))))
    automata = HeadAutomata(
        draw(rng, words, words + 1, forbidden=0.0), draw(rng, words + 1, words + 2, words + 1, forbidden=0.0)
    )
    siblings = whole.add(automata, weight=float(rng.choice([1.0, 0.5, 3.0])))
    whole.agree((trees, "heads"), (siblings, "heads"))
    return Solved(whole, whole.solve(certificate=True, infeasible="return"))


def solve_mixture(rng: np.random.Generator) -> Solved:
    """Combine a chain, a forest, tables and constraints on the labels of two positions."""
    labels = int(rng.integers(2, 4))
    whole = Decomposition()
    chain = certus.Chain(draw(rng, labels, labels))
    left = whole.add(ChainPart(chain, draw(rng, 2, labels)))
    table = whole.add(TablePart(draw(rng, labels, labels)))
    for position in range(2):
        cells = [[position, label] for label in range(labels)]
        whole.agree((left, "labels", cells), (table, str(position), list(range(labels))))
    scores = draw(rng, labels, forbidden=0.0)
    limit = whole.add([ExactlyOne(scores), AtMostOne(scores), Budget(scores, 2)][int(rng.integers(3))])
    whole.agree((left, "labels", [[0, label] for label in range(labels)]), (limit, "cells"))
    edges = np.zeros(labels, np.int64), np.arange(labels + 1) * 0, np.empty(0, np.int64)
    forest = Hypergraph(*edges, 0).part(
        draw(rng, labels, forbidden=0.0), {"labels": ((labels,), np.arange(labels), np.arange(labels))}
    )
    packed = whole.add(forest)
    whole.agree((left, "labels", [[1, label] for label in range(labels)]), (packed, "labels"))
    return Solved(whole, whole.solve(certificate=True, infeasible="return"))


KINDS: dict[str, Callable[[np.random.Generator], Solved]] = {
    "chain": solve_chain,
    "ngrams": solve_ngrams,
    "forest": solve_forest,
    "trees": solve_trees,
    "latent": solve_latent,
    "factor graph": solve_factor_graph,
    "parser": solve_parser,
    "mixture": solve_mixture,
}
