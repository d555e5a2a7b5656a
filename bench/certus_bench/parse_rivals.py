"""NLTK's ViterbiParser beside ours, on one small grammar, with which it takes half a second a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from math import log
from time import perf_counter
from typing import Any

import numpy as np

from certus.syntax import Grammar, Options, Tree
from certus.syntax.constituency.pcfg import Counts, count, transformed

TREES = 300  # that the grammar is made of
SENTENCES = 5
LENGTHS = (5, 9)


@dataclass(frozen=True)
class Duel:
    """How long both took for a sentence, in seconds, and how often their scores are equal."""

    rules: int
    sentences: int
    ours: float
    theirs: float
    equal: float

    @property
    def ratio(self) -> float:
        """How much faster ours is."""
        return self.theirs / self.ours

    def line(self) -> str:
        """Say it in a line."""
        return (
            f"NLTK's ViterbiParser, {self.rules:,} rules, {self.sentences} sentences of {LENGTHS[0]} to "
            f"{LENGTHS[1]} words: {1e3 * self.theirs:,.0f} ms a sentence, ours {1e3 * self.ours:.2f} ms"
        )


def versions() -> dict[str, str]:
    """Return the version of NLTK, if it is installed."""
    if not find_spec("nltk"):
        return {}
    from importlib.metadata import version

    return {"nltk": version("nltk")}


def duel(trees: Sequence[Tree]) -> Duel | None:
    """Parse a few sentences with both; None where NLTK is not installed."""
    if not find_spec("nltk"):
        return None
    options = Options(vertical=1, horizontal=1, direction="right", splits=(), min_hidden=1)
    learned = trees[:TREES]
    counts = count(transformed(learned, options))
    sentences = [tree.words for tree in learned if LENGTHS[0] <= len(tree.words) <= LENGTHS[1]][:SENTENCES]
    if not sentences:
        return None
    mine, theirs = _ours(counts), _nltk(counts)
    times: list[list[float]] = [[], []]
    scores = []
    for words in sentences:
        began = perf_counter()
        best = mine.parse(words)
        middle = perf_counter()
        other = next(iter(theirs.parse(words)))
        times[0].append(middle - began)
        times[1].append(perf_counter() - middle)
        scores.append((best.score, log(other.prob())))
    equal = np.mean([bool(np.isclose(a, b)) for a, b in scores])
    rules = len(counts.binary) + len(counts.unary) + len(counts.words)
    return Duel(rules, len(sentences), float(np.median(times[0])), float(np.median(times[1])), float(equal))


def _ours(counts: Counts) -> Grammar:
    total = counts.symbols
    words: dict[str, dict[str, float]] = {}
    for (word, tag), number in counts.words.items():
        words.setdefault(tag, {})[word] = log(number / total[tag])
    return Grammar.of_rules(
        [(a, b, c, log(number / total[a])) for (a, b, c), number in counts.binary.items()],
        [(a, b, log(number / total[a])) for (a, b), number in counts.unary.items()],
        words,
    )


def _nltk(counts: Counts) -> Any:
    from nltk.grammar import PCFG, Nonterminal, ProbabilisticProduction
    from nltk.parse import ViterbiParser

    total = counts.symbols
    rules = [
        ProbabilisticProduction(
            Nonterminal(rule[0]), [Nonterminal(s) for s in rule[1:]], prob=n / total[rule[0]]
        )
        for found in (counts.binary, counts.unary)
        for rule, n in found.items()
    ]
    rules += [
        ProbabilisticProduction(Nonterminal(tag), [word], prob=n / total[tag])
        for (word, tag), n in counts.words.items()
    ]
    return ViterbiParser(PCFG(Nonterminal("TOP"), rules))
