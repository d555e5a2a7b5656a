"""All derivations of a translation forest, one by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

from certus.hypergraph import Hypergraph

Derivation = tuple[int, ...]  # edges, from the goal down, those on the left of the target first


def enumerate_derivations(
    graph: Hypergraph, targets: Sequence[Sequence[str | int]]
) -> list[tuple[Derivation, list[str]]]:
    """Return all derivations with what they spell."""

    def derive(node: int) -> list[tuple[Derivation, list[str]]]:
        made = []
        for edge in range(graph.edges):
            if graph.heads[edge] != node:
                continue
            tails = graph.tails[graph.offsets[edge] : graph.offsets[edge + 1]].tolist()
            places = [symbol for symbol in targets[edge] if isinstance(symbol, int)]
            for parts in product(*(derive(tails[place]) for place in places)):
                below = dict(zip(places, parts, strict=True))
                words: list[str] = []
                for symbol in targets[edge]:
                    words += [symbol] if isinstance(symbol, str) else below[symbol][1]
                made.append(((edge, *(one for place in places for one in below[place][0])), words))
        return made

    return [one for goal in graph.goals.tolist() for one in derive(goal)]


def score_derivations(
    graph: Hypergraph,
    targets: Sequence[Sequence[str | int]],
    scores: Sequence[float],
    score_words: Callable[[list[str]], float],
    weight: float,
) -> list[tuple[float, Derivation, str]]:
    """Return all derivations that are not forbidden, best first: score, edges, text."""
    found = []
    for edges, words in enumerate_derivations(graph, targets):
        score = sum(scores[edge] for edge in edges) + weight * score_words(words)
        if score > -float("inf"):
            found.append((score, edges, " ".join(words)))
    return sorted(found, key=lambda item: -item[0])
