"""Models trained on a few invented sentences: small enough to enumerate what they choose from."""

from __future__ import annotations

import pickle
import tempfile
import warnings
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import certus
from certus.annotation.trees import Tree
from certus.formats import Sentence, build

WORDS = ("ab", "ba", "cab", "dada", "ed", "fee", "gag", "hah")
MANY = tuple(a + b + a for a in "abcdef" for b in "aeiou")  # of which a sentence has few
TAGS = ("A", "B", "C", "D")
MANY_TAGS = tuple(f"{a}{b}" for a in "ABCD" for b in range(6))  # so many that pruning pays
TAGGERS: dict[str, dict[str, Any]] = {
    "perceptron": {"learner": "perceptron", "epochs": 3, "min_count": 1},
    "crf": {"learner": "crf", "epochs": 5},
    "hmm": {"learner": "hmm"},
    "pruned-crf 1": {"learner": "pruned-crf", "order": 1, "epochs": 4},
    "pruned-crf 2": {"learner": "pruned-crf", "order": 2, "epochs": 4},
    "pruned-crf 3": {"learner": "pruned-crf", "order": 3, "epochs": 4},
    "narrow crf 1": {"learner": "pruned-crf", "order": 1, "epochs": 2, "wanted": (1, 1, 1, 1)},
    "narrow crf 2": {"learner": "pruned-crf", "order": 2, "epochs": 2, "wanted": (1.2, 1.2, 1, 1)},
    "narrow crf 3": {"learner": "pruned-crf", "order": 3, "epochs": 2, "wanted": (1.5, 1, 1, 1)},
    "latent-crf": {"learner": "latent-crf", "latent": 2, "epochs": 10},
    "refinement em": {
        "learner": "refinement",
        "estimator": "em",
        "hidden": 2,
        "restarts": 1,
        "iterations": 10,
    },
    "refinement spectral": {"learner": "refinement", "estimator": "spectral", "hidden": 2},
}


def draw_words(rng: Random, least: int = 1, most: int = 6, vocabulary: Sequence[str] = WORDS) -> list[str]:
    """Return a sentence; some words are unknown to all models."""
    return [rng.choice((*vocabulary, "new")) for _ in range(rng.randint(least, most))]


def draw_sentence(rng: Random, vocabulary: Sequence[str] = WORDS, tagset: Sequence[str] = TAGS) -> Sentence:
    """Return a sentence with tags that depend on words and neighbours, and a random tree."""
    words = [rng.choice(vocabulary) for _ in range(rng.randint(2, 7))]
    tags: list[str] = []
    for word in words:
        place = vocabulary.index(word) // 2 + (1 if tags and tags[-1] == tagset[0] else 0)
        tags.append(tagset[place % len(tagset)] if rng.random() < 0.8 else rng.choice(tagset))
    order = rng.sample(range(1, len(words) + 1), len(words))
    heads = [0] * len(words)
    for place in range(1, len(order)):
        heads[order[place] - 1] = rng.choice(order[:place])
    relations = ["root" if not head else rng.choice(["x", "y"]) for head in heads]
    return build(words, {"upos": tags, "head": [str(h) for h in heads], "deprel": relations})


@lru_cache
def draw_treebank(
    seed: int, count: int = 40, vocabulary: Sequence[str] = WORDS, tagset: Sequence[str] = TAGS
) -> tuple[Sentence, ...]:
    """Return annotated sentences."""
    rng = Random(seed)
    return tuple(draw_sentence(rng, vocabulary, tagset) for _ in range(count))


@lru_cache
def train_tagger(name: str, seed: int = 0, vocabulary: Sequence[str] = WORDS) -> certus.Tagger:
    """Return a tagger of a kind; the same one for the same arguments."""
    options = dict(TAGGERS[name])
    learner = options.pop("learner")
    treebank = draw_treebank(seed, 40, vocabulary)
    if name.startswith("narrow"):
        treebank = draw_treebank(seed, 60, MANY, MANY_TAGS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tagger = certus.Tagger("upos", learner, **options).fit(list(treebank))
    if name.startswith("narrow"):  # no training would prune as much
        arrays = dict(tagger._arrays)
        arrays["thresholds"] = np.full_like(arrays["thresholds"], 0.3)
        tagger._use(tagger.learner.restore(tagger.target, arrays, tagger.description), tagger.description)
    return tagger


@lru_cache
def train_parser(seed: int = 0, **options: Any) -> certus.DependencyParser:
    """Return a dependency parser."""
    given = {"epochs": 2, "hash_bits": 14, **options}
    return certus.DependencyParser(**given).fit(list(draw_treebank(seed)))


@lru_cache
def train_grammar(seed: int = 0) -> certus.ConstituencyParser:
    """Return a constituency parser."""
    rng = Random(seed)

    def draw(words: list[str]) -> Tree:
        if len(words) == 1:
            return Tree(rng.choice("PQ"), (words[0],))
        place = rng.randint(1, len(words) - 1)
        return Tree(rng.choice("XYZ"), (draw(words[:place]), draw(words[place:])))

    trees = [Tree("TOP", (draw([rng.choice(WORDS) for _ in range(rng.randint(2, 6))]),)) for _ in range(40)]
    return certus.ConstituencyParser().fit(trees)


def draw_pairs(seed: int, count: int = 30) -> list[tuple[list[str], list[str]]]:
    """Return sentence pairs: the target has the words spelled backwards, in nearly the same order."""
    rng = Random(seed)
    pairs = []
    for _ in range(count):
        source = [rng.choice(WORDS) for _ in range(rng.randint(1, 6))]
        target = [word[::-1].upper() for word in source]
        if len(target) > 1 and rng.random() < 0.5:
            place = rng.randrange(len(target) - 1)
            target[place : place + 2] = target[place + 1], target[place]
        pairs.append((source, target))
    return pairs


@lru_cache
def train_aligner(seed: int = 0) -> certus.Aligner:
    """Return an aligner."""
    source, target = zip(*draw_pairs(seed), strict=True)
    return certus.Aligner().fit(source, target)


@lru_cache
def train_translator(seed: int = 0) -> certus.Translator:
    """Return a translator."""
    source, target = zip(*draw_pairs(seed), strict=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return certus.Translator().fit(source, target)


@lru_cache
def train_language_model(seed: int = 0) -> certus.LanguageModel:
    """Return a language model."""
    rng = Random(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return certus.LanguageModel(order=3).fit([draw_words(rng) for _ in range(50)])


def copy_model(model: Any) -> Any:
    """Return a model that nobody has used yet."""
    if isinstance(model, certus.Tagger):
        return pickle.loads(pickle.dumps(model))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.certus"
        model.save(path)
        return type(model).load(path)


def list_names(sequence: Sequence[str]) -> tuple[str, ...]:
    """Return labels as a structure."""
    return tuple(sequence)
