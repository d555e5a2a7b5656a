"""Small joint problems with integer scores, and every answer to them written down.

A grammar of a few random rules, and a tagger of order 1 to 3 with random weights over the same tags. Some
words cannot have some tags, some tags are known to one of the two only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product

import numpy as np

from certus import _native
from certus.lattice.lattices import TagLattices
from certus.solution import LabelSolution, Status
from certus.syntax import Grammar
from tests.learn.problems import WORDS, Problem, features

Tags = tuple[int, ...]
ROOT = "TOP"
SENTENCES = 8  # of each grammar and tagger


class ToyTagger:
    """As much of a Tagger as joint parsing needs."""

    target_expression = "toy"

    def __init__(self, problem: Problem, names: list[str], thresholds: list[float]) -> None:
        self.problem, self.labels = problem, names
        self.native = problem.tagger(thresholds)
        self.order = problem.crf.order

    def lattices(
        self, sentences: Sequence[Sequence[str]], *, pruning: float = 1.0, threads: int = 1
    ) -> TagLattices:
        cells = [[list(words)] for words in sentences]
        return TagLattices(
            _native.search_all(self.native, cells, pruning, threads, bounded=True), self.labels
        )

    def tag_batch(
        self,
        sentences: Sequence[Sequence[str]],
        *,
        allowed: Sequence[Sequence[Sequence[str]]],
        threads: int = 1,
    ) -> list[LabelSolution[list[str]]]:
        """Return the best of all label sequences that are allowed."""
        found = []
        for words, choices in zip(sentences, allowed, strict=True):
            numbers = [[self.labels.index(name) for name in own] for own in choices]
            scores = self.problem.crf.all_scores(features(list(words)))
            labels = max(product(*numbers), key=lambda labels: scores[labels])
            names, score = [self.labels[label] for label in labels], scores[labels]
            found.append(LabelSolution(names, score, score, Status.OPTIMAL))
        return found


@dataclass(frozen=True)
class Toy:
    """One sentence with its models.

    Attributes:
        binary: the scores of rules (parent, left, right); symbols from 0 on are tags.
        unary: the scores of rules from the root, which is the last symbol, to others.
        words: of tags and words, the scores; what is not listed is impossible.
        sequences: the scores of all tag sequences under the tagger.
    """

    tags: int
    symbols: int
    sentence: list[str]
    binary: dict[tuple[int, int, int], float]
    unary: dict[int, float]
    words: dict[tuple[int, str], float]
    tagger: ToyTagger
    sequences: dict[Tags, float]

    @property
    def root(self) -> int:
        return self.symbols - 1

    def name(self, symbol: int) -> str:
        return ROOT if symbol == self.root else f"T{symbol}" if symbol < self.tags else f"X{symbol}"

    def grammar(self) -> Grammar:
        words: dict[str, dict[str, float]] = {}
        for (tag, word), score in self.words.items():
            words.setdefault(self.name(tag), {})[word] = score
        binary = [(*map(self.name, rule), score) for rule, score in self.binary.items()]
        unary = [(ROOT, self.name(child), score) for child, score in self.unary.items()]
        return Grammar.of_rules(binary, unary, words, start=ROOT)  # type: ignore[arg-type]


def toy(seed: int, pruned: bool = False) -> Toy:
    """Make a problem; some have no answer. If ``pruned``, the tagger's lattice lacks improbable sequences."""
    model = _model(seed // SENTENCES, pruned)
    rng = np.random.default_rng(seed)
    sentence = rng.choice(WORDS, int(rng.integers(1, 6))).tolist()
    scores = model.tagger.problem.crf.all_scores(features(sentence))
    return replace(model, sentence=sentence, sequences=scores)


@cache
def _model(seed: int, pruned: bool) -> Toy:
    """Make a grammar and a tagger, without a sentence."""
    rng = np.random.default_rng(seed)
    order = int(rng.integers(1, 4))
    problem = Problem(seed, order, labels=int(rng.integers(2, 4)))
    weights = problem.crf.weights
    problem.crf.weights = {name: float(np.sign(w) * (1 + round(abs(w)) % 3)) for name, w in weights.items()}
    tags = problem.crf.labels
    symbols = tags + int(rng.integers(1, 4))

    def score() -> float:
        return float(rng.integers(-3, 4))

    rules = product(range(tags, symbols), range(symbols), range(symbols))
    names = [f"T{tag}" for tag in range(tags)]
    if rng.random() < 0.2:
        names[-1] = "unknown"  # to the grammar
    thresholds = [0.3 if pruned else 0.0] * (1 + order)
    return Toy(
        tags,
        symbols,
        [],
        binary={rule: score() for rule in rules if rng.random() < 0.5},
        unary={child: score() for child in range(symbols - 1) if rng.random() < 0.5},
        words={cell: score() for cell in product(range(tags), WORDS) if rng.random() < 0.85},
        tagger=ToyTagger(problem, names, thresholds),
        sequences={},
    )


def trees(given: Toy) -> dict[Tags, float]:
    """The best scores of trees, by their tags."""
    return _Trees(given).top(given.root, 0, len(given.sentence))


class _Trees:
    """What a symbol derives of a span, by the tags of its words: all combinations, one by one."""

    def __init__(self, given: Toy) -> None:
        self.given = given
        self.known: dict[tuple[int, int, int], dict[Tags, float]] = {}

    def top(self, symbol: int, i: int, j: int) -> dict[Tags, float]:
        found = dict(self.bottom(symbol, i, j))
        for child, more in self.given.unary.items() if symbol == self.given.root else ():
            for tags, score in self.bottom(child, i, j).items():
                found[tags] = max(found.get(tags, -np.inf), score + more)
        return found

    def bottom(self, symbol: int, i: int, j: int) -> dict[Tags, float]:
        if (symbol, i, j) not in self.known:
            self.known[symbol, i, j] = self.derive(symbol, i, j)
        return self.known[symbol, i, j]

    def derive(self, symbol: int, i: int, j: int) -> dict[Tags, float]:
        given = self.given
        if j == i + 1:
            cell = (symbol, given.sentence[i])
            return {(symbol,): given.words[cell]} if cell in given.words else {}
        found: dict[Tags, float] = {}
        for (parent, left, right), score in given.binary.items():
            for k in range(i + 1, j) if parent == symbol else ():
                pairs = product(self.top(left, i, k).items(), self.top(right, k, j).items())
                for (a, x), (b, y) in pairs:
                    found[a + b] = max(found.get(a + b, -np.inf), x + y + score)
        return found


def best(given: Toy, weight: float = 1.0, allowed: set[Tags] | None = None) -> float:
    """The best score of a tree and a sequence that agree; -inf where none do."""
    known = [given.tagger.labels[tag] == given.name(tag) for tag in range(given.tags)]
    return max(
        (
            score + weight * given.sequences[tags]
            for tags, score in trees(given).items()
            if all(known[tag] for tag in tags) and (allowed is None or tags in allowed)
        ),
        default=-np.inf,
    )
