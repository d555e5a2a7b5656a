"""Parsing the slow and obvious way: every derivation, one by one."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from certus.syntax import Tree

Binary = Sequence[tuple[str, str, str, float]]
Unary = Sequence[tuple[str, str, float]]
Words = Mapping[str, Mapping[str, float]]


def chains(unary: Unary) -> dict[tuple[str, str], float]:
    """The best score of a chain of unary rules from a symbol down to another, by trying all simple ones."""
    best: dict[tuple[str, str], float] = {}
    rules: dict[str, list[tuple[str, float]]] = {}
    for parent, child, score in unary:
        rules.setdefault(parent, []).append((child, score))

    def walk(first: str, at: str, score: float, seen: frozenset[str]) -> None:
        for child, more in rules.get(at, []):
            if child in seen:
                continue
            total = score + more
            best[first, child] = max(best.get((first, child), total), total)
            walk(first, child, total, seen | {child})

    for symbol in rules:
        walk(symbol, symbol, 0, frozenset([symbol]))
    return best


def has_positive_cycle(unary: Unary) -> bool:
    """Whether the scores of some cycle of unary rules add up to more than zero."""
    best = chains(unary)
    return any(
        score > 0 if parent == child else score + best.get((child, parent), float("-inf")) > 0
        for parent, child, score in unary
    )


Derivation = tuple[float, tuple[str, ...]]  # its score, and the preterminals of the words


def derivations(
    binary: Binary, unary: Unary, words: Words, sentence: Sequence[str], start: str
) -> list[Derivation]:
    """All derivations of a sentence in which a chain of unary rules is the best between its ends."""
    links = chains(unary)

    @cache
    def bottoms(symbol: str, i: int, j: int) -> list[Derivation]:
        found: list[Derivation] = []
        if j - i == 1 and sentence[i] in words.get(symbol, {}):
            found.append((words[symbol][sentence[i]], (symbol,)))
        for parent, left, right, score in binary:
            if parent == symbol:
                for k in range(i + 1, j):
                    for (x, a), (y, b) in itertools.product(tops(left, i, k), tops(right, k, j)):
                        found.append((score + x + y, a + b))
        return found

    @cache
    def tops(symbol: str, i: int, j: int) -> list[Derivation]:
        found = list(bottoms(symbol, i, j))
        for (parent, child), score in links.items():
            if parent == symbol and child != symbol:
                found += [(score + x, a) for x, a in bottoms(child, i, j)]
        return found

    return tops(start, 0, len(sentence))


def tree_scores(tree: Tree) -> Iterator[tuple[str, ...]]:
    """The rules that a tree without hidden symbols uses: labels of a parent and its children, or a word."""
    for node in tree.nodes():
        yield (node.label, *(child if isinstance(child, str) else child.label for child in node.children))
