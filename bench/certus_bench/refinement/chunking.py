"""Chunk tags of CoNLL-2000 from parts of speech: the data, and how a model is trained and judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from certus.formats import Sentence
from certus.learn.refinement import EmRefinement, Labelled, Parameters, Refinement
from certus_bench.refinement.plan import Plan, Trained
from certus_bench.tagger.corpora import CORPORA

CORPUS = CORPORA["conll2000-chunk"]
_FREQUENT = 100  # a word that occurs as often is observed with its part of speech
_EVERY = 10  # iterations of EM between two looks at dev


@dataclass(frozen=True)
class Data:
    """Sentences to learn from, to choose by (the last tenth of the training data) and to judge on."""

    learn: list[Labelled]
    dev: list[Labelled]
    test: list[Labelled]


def read(plan: Plan, *, words: bool = False) -> Data:
    """Read the corpus; observations are parts of speech, with the word where ``words`` and it is frequent.

    A label that is not in what was learned from cannot be predicted; its tokens stay, and count as wrong.
    """
    assert plan.data is not None
    root: Path = plan.data
    parts = {
        "learn": list(CORPUS.read(root, "learn", plan.limit)),
        "dev": list(CORPUS.read(root, "dev", plan.limit)),
        "test": list(CORPUS.read(root, "test", plan.limit)),
    }
    seen = Counter(word for sentence in parts["learn"] for word in sentence.words)
    frequent = {word for word, count in seen.items() if count >= _FREQUENT} if words else set()
    made = {name: [_pair(sentence, frequent) for sentence in part] for name, part in parts.items()}
    return Data(**made)


def _pair(sentence: Sentence, frequent: set[str]) -> Labelled:
    tags, words = sentence.columns["pos"], sentence.words
    seen = [f"{tag}/{word}" if word in frequent else tag for tag, word in zip(tags, words, strict=True)]
    return seen, sentence.columns["chunk"]


def train(part: str, what: str, hidden: int, model: Refinement, data: Data) -> Trained:
    """Train a model, and judge it."""
    begin = perf_counter()
    model.fit(data.learn)
    seconds = perf_counter() - begin
    accuracy, mended = _judged(model, data.test)
    return Trained(part, what, hidden, model.accuracy(data.dev), accuracy, seconds, mended)


def train_em(part: str, hidden: int, data: Data, plan: Plan) -> Trained:
    """Train by EM; dev chooses restart and iteration, and looking at it does not count as training."""
    looks: list[tuple[float, int, int, Parameters]] = []
    looking = 0.0

    def watch(restart: int, iteration: int, value: float, model: EmRefinement) -> None:
        nonlocal looking
        if iteration % _EVERY == 0:
            begin = perf_counter()
            looks.append((model.accuracy(data.dev), restart, iteration, model.parameters))
            looking += perf_counter() - begin

    model = EmRefinement(
        hidden, iterations=plan.iterations, restarts=plan.restarts, tolerance=-1.0, watch=watch
    )
    begin = perf_counter()
    model.fit(data.learn)
    seconds = perf_counter() - begin - looking
    dev, restart, iteration, model.parameters = max(looks, key=lambda look: look[0])
    accuracy, mended = _judged(model, data.test)
    return Trained(part, "EM", hidden, dev, accuracy, seconds, mended, (restart, iteration), plan.restarts)


def _judged(model: Refinement, test: Sequence[Labelled]) -> tuple[float, int]:
    """Return the accuracy on test, and how many sentences the model gave no positive total."""
    found = model.marginals([observations for observations, _ in test])
    right = sum(
        model.names.labels[a] == label
        for answer, (_, labels) in zip(found, test, strict=True)
        for a, label in zip(answer.best(), labels, strict=True)
    )
    tokens = sum(len(labels) for _, labels in test)
    return 100 * right / tokens, sum(answer.level > 0 for answer in found)
