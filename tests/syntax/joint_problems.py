"""Small joint problems with integer scores, and every answer to them written down."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np

from certus.models.lattices import Arcs
from certus.syntax.packed import Forest, Problem

Rule = tuple[int, int, int]
Tags = tuple[int, ...]


@dataclass(frozen=True)
class Toy:
    """Binary rules over symbols, of which the first are tags; a symbol that is no tag may be the root.

    Attributes:
        binary: the scores of rules (parent, left, right), the same over all spans.
        unary: the scores of rules (parent, child) whose parent is the root symbol.
        words: (T, tags) the scores of tags; -inf where a word cannot have one.
        grams: the scores of sequences of ``order`` + 1 tags, in which -1 is the boundary; those that are not
            listed are impossible.
    """

    tags: int
    symbols: int
    length: int
    order: int
    binary: dict[Rule, float]
    unary: dict[tuple[int, int], float]
    words: dict[tuple[int, int], float]
    grams: dict[Tags, float]


def toy(seed: int) -> Toy:
    """Make a problem; about a fifth of all have no answer."""
    rng = np.random.default_rng(seed)
    tags, length, order = int(rng.integers(1, 4)), int(rng.integers(1, 6)), int(rng.integers(1, 4))
    symbols = tags + int(rng.integers(1, 4))
    score = lambda: float(rng.integers(-3, 4))  # noqa: E731
    rules = product(range(tags, symbols), range(symbols), range(symbols))
    binary = {rule: score() for rule in rules if rng.random() < 0.5}
    unary = {(tags, child): score() for child in range(symbols) if child != tags and rng.random() < 0.5}
    words = {cell: score() for cell in product(range(length), range(tags)) if rng.random() < 0.8}
    grams = {gram: score() for gram in product(range(-1, tags), repeat=order + 1) if rng.random() < 0.9}
    return Toy(tags, symbols, length, order, binary, unary, words, grams)


def sequences(given: Toy) -> dict[Tags, float]:
    """All tag sequences with their scores."""
    found = {}
    for tags in product(range(given.tags), repeat=given.length):
        padded = (*[-1] * given.order, *tags, -1)
        grams = [padded[t : t + given.order + 1] for t in range(len(tags) + 1)]
        if all(gram in given.grams for gram in grams):
            found[tags] = sum(given.grams[gram] for gram in grams)
    return found


def trees(given: Toy) -> Iterator[tuple[Tags, float]]:
    """All trees, as their tags and scores; the root is the first symbol that is no tag."""
    root = given.tags
    for tags, score in _under(given, root, 0, given.length):
        yield tags, score
    for (_, child), more in given.unary.items():
        for tags, score in _under(given, child, 0, given.length):
            yield tags, score + more


def _under(given: Toy, symbol: int, i: int, j: int) -> Iterator[tuple[Tags, float]]:
    if j == i + 1 and symbol < given.tags and (i, symbol) in given.words:
        yield (symbol,), given.words[i, symbol]
    for (parent, left, right), score in given.binary.items():
        if parent == symbol:
            for k in range(i + 1, j):
                for a, x in _under(given, left, i, k):
                    for b, y in _under(given, right, k, j):
                        yield a + b, x + y + score


def best(given: Toy, weight: float = 1.0) -> float:
    """The best score of a tree and a sequence that agree; -inf where none do."""
    scores = sequences(given)
    return max((s + weight * scores[tags] for tags, s in trees(given) if tags in scores), default=-np.inf)


def problem(given: Toy, weight: float = 1.0) -> Problem:
    """The same, packed."""
    return Problem(forest(given), arcs(given), weight)


def forest(given: Toy) -> Forest:
    """Tops hang from the root; then a node for each symbol and span, parents first."""
    n = given.length
    spans = [(i, i + size) for size in range(n, 0, -1) for i in range(n - size + 1)]
    number = {(symbol, *span): 1 + k for k, (span, symbol) in enumerate(product(spans, range(given.symbols)))}
    edges = [(0, number[given.tags, 0, n], -1, 0.0)]
    edges += [(0, number[child, 0, n], -1, score) for (_, child), score in given.unary.items()]
    for (symbol, i, j), node in number.items():
        edges += [
            (node, number[left, i, k], number[right, k, j], score)
            for (parent, left, right), score in given.binary.items()
            if parent == symbol
            for k in range(i + 1, j)
        ]
    words = [(number[tag, t, t + 1], t, tag, score) for (t, tag), score in given.words.items()]
    head, left, right, score = zip(*edges, strict=True)
    word, position, tag, word_score = zip(*words, strict=True) if words else ((), (), (), ())
    whole = lambda x: np.array(x, np.int64)  # noqa: E731
    return Forest(
        whole([0, *(i for _, i, _ in number)]), whole([n, *(j for _, _, j in number)]),
        whole(head), whole(left), whole(right), np.array(score),
        whole(word), whole(position), whole(tag), np.array(word_score, np.float64),
    )  # fmt: skip


def arcs(given: Toy) -> Arcs:
    """States are the last ``order`` tags; the gram that leads to one is on the arc."""
    states: list[list[Tags]] = [[(-1,) * given.order]]
    for t in range(given.length):
        known = {(*state[1:], tag) for state in states[t] for tag in range(given.tags)}
        states.append(sorted(known))
    states.append([(-1,)])
    begin = np.cumsum([0, *map(len, states)])
    origin, target, scores = [], [], []
    for t, (here, there) in enumerate(pairwise(states)):
        for (a, left), (b, right) in product(enumerate(here), enumerate(there)):
            if t < given.length and left[1:] != right[:-1]:
                continue
            gram = (*left, right[-1])
            if gram in given.grams:
                origin.append(begin[t] + a)
                target.append(begin[t + 1] + b)
                scores.append(given.grams[gram])
    label = [state[-1] if state[-1] >= 0 else given.tags for group in states for state in group]
    return Arcs(
        begin.astype(np.int64), np.array(label, np.int32), np.zeros(int(begin[-1])),
        np.array(origin, np.int64), np.array(target, np.int64), np.array(scores, np.float64),
    )  # fmt: skip
