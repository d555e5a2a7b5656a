"""Small corpora for the CRF, made up from a seed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from certus._native import CrfTrainer
from certus.learn.crf.model import ChainCRF, ItemCorpus, make_trainer
from tests.reference.crf import Token, Weights

Floats = NDArray[np.float64]


@dataclass
class Sample:
    """Sentences both as lists, for the reference, and as arrays."""

    sentences: list[list[Token]]
    gold: list[list[int]]
    labels: int
    features: int
    weighted: bool

    @property
    def corpus(self) -> ItemCorpus:
        tokens = [token for sentence in self.sentences for token in sentence]
        pairs = [pair for token in tokens for pair in token]
        return ItemCorpus(
            np.cumsum([0, *map(len, self.sentences)]),
            np.cumsum([0, *map(len, tokens)]),
            np.array([feature for feature, _ in pairs], np.uint32),
            np.array([value for _, value in pairs]) if self.weighted else None,
        )

    @property
    def ids(self) -> NDArray[np.int64]:
        return np.array([y for labels in self.gold for y in labels], np.int64)

    def trainer(self, **options: float) -> CrfTrainer:
        choice = {name: bool(value) if name != "min_freq" else value for name, value in options.items()}
        return make_trainer(
            self.corpus,
            self.ids,
            labels=self.labels,
            features=self.features,
            **choice,  # type: ignore[arg-type]
        )


def sample(
    seed: int,
    *,
    labels: int,
    features: int = 12,
    lengths: tuple[int, ...] = (4, 1, 3, 0, 2),
    per_token: int = 4,
    weighted: bool = False,
) -> Sample:
    """Random features and labels; a few features are common, so that both kinds of rows occur."""
    rng = np.random.default_rng(seed)
    share = 1.0 / (1.0 + np.arange(features))
    sentences: list[list[Token]] = []
    for length in lengths:
        tokens: list[Token] = []
        for _ in range(length):
            drawn = rng.choice(features, per_token, p=share / share.sum())
            values = rng.normal(size=per_token) if weighted else np.ones(per_token)
            tokens.append([(int(f), float(v)) for f, v in zip(drawn, values, strict=True)])
        sentences.append(tokens)
    gold = [[int(y) for y in rng.integers(labels, size=length)] for length in lengths]
    return Sample(sentences, gold, labels, features, weighted)


def learnable(seed: int, *, sentences: int = 60, labels: int = 5) -> Sample:
    """Sentences whose labels follow from the features and the label before, with a little noise."""
    rng = np.random.default_rng(seed)
    texts: list[list[Token]] = []
    gold: list[list[int]] = []
    for _ in range(sentences):
        word, before, tokens, path = 0, 0, [], []
        for _ in range(int(rng.integers(3, 12))):
            word = int(rng.integers(20))
            y = (before + 1) % labels if word % 3 == 0 else word % labels
            if rng.random() < 0.05:
                y = int(rng.integers(labels))
            tokens.append([(word, 1.0), (20 + word % 4, 1.0), (24, 1.0)])
            path.append(y)
            before = y
        texts.append(tokens)
        gold.append(path)
    return Sample(texts, gold, labels, 25, False)


def named(model: ChainCRF) -> Weights:
    """A trained model's weights, by pair."""
    state = {
        (f, int(model.row_label[n])): float(model.row_weight[n])
        for f in range(model.features)
        for n in range(model.row_begin[f], model.row_begin[f + 1])
    }
    steps = {
        (int(i), int(j)): float(model.transitions[i, j])
        for i, j in zip(*np.nonzero(model.transitions), strict=True)
    }
    return Weights(state, steps)


def at(trainer: CrfTrainer, w: Floats, c2: float = 0.0, threads: int = 1) -> tuple[float, Floats]:
    """Compute the loss and its gradient at some weights."""
    gradient = np.full(trainer.size, np.nan)
    return trainer.objective(w, gradient, c2, threads), gradient


def random_weights(trainer: CrfTrainer, seed: int, scale: float = 1.0) -> Floats:
    """Set weights drawn from a seed; return them without what is in holes."""
    trainer.weights = np.random.default_rng(seed).normal(size=trainer.size) * scale
    return trainer.weights
