"""Small tagging problems whose weights are known: few words, one feature for each and a bias."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certus import _native
from certus.learn.features.templates import Templates
from tests.reference.pruned_crf import Crf, Name, ngram_key

WORDS = ["a", "b", "c", "d"]
LARGEST = (
    "largest"  # a word that has the largest weight, so that the step of compiled weights is a round number
)
STEP = 1 / 1024
BIAS = 0

Sentence = list[str]


def features(sentence: Sentence) -> list[list[int]]:
    """The bias is feature 0; words are numbered from 1, in their order."""
    return [[BIAS, *([1 + WORDS.index(word)] if word in WORDS else [])] for word in sentence]


class Problem:
    """A tag set, a corpus in which all words occur, and random weights that are multiples of STEP.

    Attributes:
        named: whether models say which sequences have weights, as those of older versions do not.
    """

    named = True

    def __init__(self, seed: int, order: int, labels: int | None = None, spread: float = 2.0) -> None:
        self.rng = np.random.default_rng(seed)
        rng = self.rng
        count = labels or int(rng.integers(2, 6))
        groups = int(rng.integers(1, count + 1))
        attributes = int(rng.integers(1, 4))
        parts = [[y if y < groups else int(rng.integers(groups))] for y in range(count)]
        for y, units in enumerate(parts):
            units.append(groups + y)
            units += [groups + count + a for a in range(attributes) if rng.random() < 0.5]
        used = groups + count + attributes
        self.units = used + int(rng.choice([0, 300]))  # with many units rows are lists
        self.crf = Crf(parts, groups, order)
        table = np.full((count, 2 + attributes), -1, np.int32)
        for y, units in enumerate(parts):
            table[y, : len(units)] = units
        self.tagset = _native.Tagset(table, groups, self.units)
        program = Templates("bias\nword[0]").compile()
        self.extractor = _native.Extractor(program, 1, np.zeros(0, np.uint64))
        self._weigh(used, spread)

    def _weigh(self, used: int, spread: float) -> None:
        """Half of all pairs get a weight, and half of all sequences of labels."""
        draw = self.rng
        edge = self.crf.labels
        weights = self.crf.weights
        for f in range(1 + len(WORDS)):
            for u in range(used):
                if draw.random() < 0.6:
                    weights["row", f, u] = self.number(spread)
        for _ in range(60 * self.crf.order):
            labels = draw.integers(0, edge, int(draw.integers(1, 5))).tolist()
            for name in self.crf.ngrams(labels, int(draw.integers(1, self.crf.order + 1))):
                weights[name] = self.number(spread)

    def number(self, spread: float) -> float:
        return float(np.round(self.rng.normal(0, spread) / STEP) * STEP) or STEP

    def sentence(self, least: int = 0, most: int = 5) -> Sentence:
        words: Sentence = self.rng.choice(WORDS, int(self.rng.integers(least, most + 1))).tolist()
        return words

    def corpus(self, sentences: Sequence[Sentence], gold: Sequence[Sequence[int]]) -> _native.Corpus:
        """Those sentences after one that holds all words in their order."""
        first: Sentence = [*WORDS, LARGEST]
        columns = [[sentence] for sentence in [first, *sentences]]
        keys, ends = self.extractor.keys_of_all(columns)
        lengths = np.array([len(column[0]) for column in columns], np.int64)
        labels = np.array([0] * len(first) + [y for labels in gold for y in labels], np.int32)
        return _native.number_features(keys, ends, lengths, labels, 1)

    def learner(self, corpus: _native.Corpus, **options: Any) -> _native.PrunedCrf:
        chosen: dict[str, Any] = {
            "rate": 1.0, "decay": 0.0, "l1": 0.0, "burn_in": 0, "least": 0.0, "wanted": [4.0, 4.0, 2.0, 1.5]
        }  # fmt: skip
        return _native.PrunedCrf(corpus, self.tagset, order=self.crf.order, **{**chosen, **options})

    def state(self, thresholds: Sequence[float] = (), largest: bool = True) -> dict[str, NDArray[Any]]:
        """What a learner that has the weights would say; thresholds that are not given are 0."""
        rows: list[list[tuple[int, float]]] = [[] for _ in range(2 + len(WORDS))]
        sequences: dict[int, float] = {}
        named: list[Name] = []
        for name, weight in self.crf.weights.items():
            if name[0] == "row":
                rows[int(name[1])].append((int(name[2]), weight))
            else:
                sequences[ngram_key(name)] = weight
                named.append(name)
        if largest:
            rows[-1].append((0, 32767 * STEP))
        flat = [entry for row in rows for entry in row]
        limits = [*thresholds, *[0.0] * (1 + _native.MOST_ORDER - len(thresholds))]
        return {
            "row_sizes": np.array([len(row) for row in rows], np.uint32),
            "row_units": np.array([u for u, _ in flat], np.uint32),
            "row_weights": np.array([w for _, w in flat], np.float32),
            "row_memories": np.zeros(len(flat), np.float32),
            "ngram_keys": np.array(list(sequences), np.uint64),
            "ngram_weights": np.array(list(sequences.values()), np.float32),
            "ngram_memories": np.zeros(len(sequences), np.float32),
            "ngram_sequences": np.array([self.spell(name) for name in named], np.uint32).reshape(-1),
            "numbers": np.array(
                [self.crf.order, 0, 0, 0, 0, 0, 0, *limits, *[0.0] * (2 * _native.MOST_ORDER)]
            ),
        }

    def spell(self, name: Name) -> list[int]:
        """The row of a sequence in a model: coarse tags come after labels, and nothing after both."""
        crf = self.crf
        first = crf.labels + 1 if name[0] == "coarse" else 0
        numbers = [first + int(number) for number in name[1:]]
        return [crf.labels + crf.groups + 2] * (crf.order + 1 - len(numbers)) + numbers

    def tagger(self, thresholds: Sequence[float] | None = None) -> _native.Tagger:
        corpus = self.corpus([], [])
        learner = self.learner(corpus)
        learner.restore(self.state())
        return cascade(self, learner.compile(corpus, 0.0), thresholds or [0.0] * (1 + self.crf.order))


def cascade(problem: Problem, compiled: dict[str, Any], thresholds: Sequence[float]) -> _native.Tagger:
    tagger = _native.Tagger(
        problem.extractor, problem.tagset, compiled["slots"], compiled["rows"], compiled["step"]
    )
    ngrams = compiled["ngram_keys"], compiled["ngram_weights"]
    sequences = compiled["ngram_sequences"] if problem.named else None
    tagger.use_cascade(problem.crf.order, *ngrams, list(thresholds), sequences)
    return tagger


def learned(
    state: dict[str, NDArray[Any]], names: Sequence[Name], column: str = "weights"
) -> dict[Name, float]:
    """Those weights of a learner's state that have one of these names; 0 where it has none."""
    by_key = dict(zip(state["ngram_keys"].tolist(), state[f"ngram_{column}"].tolist(), strict=True))
    starts = [0, *np.cumsum(state["row_sizes"]).tolist()]
    rows = {
        ("row", f, int(state["row_units"][i])): float(state[f"row_{column}"][i])
        for f in range(len(starts) - 1)
        for i in range(starts[f], starts[f + 1])
    }
    return {
        name: rows.get((name[0], int(name[1]), int(name[2])), 0.0)
        if name[0] == "row"
        else by_key.get(ngram_key(name), 0.0)
        for name in names
    }


def assert_same_state(first: dict[str, Any], second: dict[str, Any]) -> None:
    """Two learners have the same weights; where in the table n-grams stand does not matter."""
    for name in ("row_sizes", "row_units", "row_weights", "row_memories", "numbers"):
        np.testing.assert_array_equal(first[name], second[name])
    tables = [
        dict(
            zip(
                s["ngram_keys"].tolist(),
                zip(s["ngram_weights"], s["ngram_memories"], strict=True),
                strict=True,
            )
        )
        for s in (first, second)
    ]
    assert tables[0] == tables[1]
