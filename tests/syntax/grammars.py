"""Random small grammars with integer scores: ties, chains and cycles of unary rules, ambiguous words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from certus.syntax import Grammar
from tests.reference.syntax import has_positive_cycle

SYMBOLS = ("A", "B", "C", "D")
WORDS = ("x", "y", "z")


@dataclass
class Problem:
    """A grammar, as rules and as an object, and a sentence."""

    binary: list[tuple[str, str, str, float]]
    unary: list[tuple[str, str, float]]
    words: dict[str, dict[str, float]]
    sentence: list[str]
    grammar: Grammar


def draw(rng: np.random.Generator, longest: int = 5) -> Problem:
    """Draw a grammar without positive cycles; scores are small integers of both signs."""
    count = int(rng.integers(1, len(SYMBOLS) + 1))
    symbols = SYMBOLS[:count]

    def some(n: int) -> list[str]:
        return [symbols[int(rng.integers(count))] for _ in range(n)]

    def score() -> float:
        return float(rng.integers(-4, 4))

    binary = {tuple(some(3)): score() for _ in range(int(rng.integers(1, 7)))}
    words = {s: {w: score() for w in WORDS if rng.random() < 0.6} for s in symbols if rng.random() < 0.8}
    while True:
        unary = {tuple(some(2)): float(rng.integers(-4, 2)) for _ in range(int(rng.integers(0, 5)))}
        rules = [(a, b, x) for (a, b), x in unary.items()]
        if not has_positive_cycle(rules):
            break
    sentence = [WORDS[int(rng.integers(len(WORDS)))] for _ in range(int(rng.integers(1, longest + 1)))]
    two = [(a, b, c, x) for (a, b, c), x in binary.items()]
    return Problem(two, rules, words, sentence, Grammar.of_rules(two, rules, words, start="A"))
