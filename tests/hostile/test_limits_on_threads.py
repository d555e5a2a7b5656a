"""Limits of time are kept on worker threads, by every verb with ``seconds`` and ``threads``."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest

import certus
from certus.latent import LDI, LatentChain
from certus.ragged import Ragged
from certus.solution import Solution
from tests.models import invented, invented_treebank
from tests.patience import PATIENCE
from tests.test_conventions import list_verbs

SECONDS, SOON, THREADS = 0.2, 6.0, 4


@cache
def make_tagger(learner: str = "pruned-crf") -> certus.Tagger:
    return certus.Tagger("upos", learner, epochs=1).fit(invented.sentences(40, 1))


def align(seconds: float | None) -> Any:
    rng = np.random.default_rng(0)
    pairs = [[f"w{n}" for n in rng.integers(200, size=60)] for _ in range(8)]
    aligner = _fit_aligner()
    return aligner.align_batch(pairs, pairs[::-1], seconds=seconds, threads=THREADS)


@cache
def _fit_aligner() -> certus.Aligner:
    rng = np.random.default_rng(1)
    texts = [[f"w{n}" for n in rng.integers(200, size=12)] for _ in range(60)]
    return certus.Aligner().fit(texts, texts[::-1])


def parse_trees(seconds: float | None) -> Any:
    rng = np.random.default_rng(0)
    arcs = [rng.normal(size=(40, 41)) for _ in range(8)]
    siblings, grandparents = ([rng.normal(size=(41, 41, 41)) for _ in arcs] for _ in range(2))
    trees = certus.Trees()
    return trees.decode_batch(arcs, siblings, grandparents, seconds=seconds, threads=THREADS)


def infer_latent(seconds: float | None) -> Any:
    rng = np.random.default_rng(0)
    chain = LatentChain(rng.normal(size=(60, 60)) / 8, 12)
    emissions = Ragged(rng.normal(size=(800, 60)) / 8, np.arange(0, 801, 100))
    return chain.infer(emissions, LDI(steps=None), seconds=seconds, threads=THREADS)


def translate(seconds: float | None) -> Any:
    words = " ".join(f"w{n}" for n in np.random.default_rng(0).integers(12, size=120))
    return _fit_translator().translate_batch([words] * 8, seconds=seconds, threads=THREADS)


@cache
def _fit_translator() -> certus.Translator:
    rng = np.random.default_rng(1)
    lengths = rng.integers(4, 9, 300)
    source, target = ([[f"w{n}" for n in rng.integers(12, size=n)] for n in lengths] for _ in range(2))
    return certus.Translator(tuning=0, order=3).fit(source, target)


def parse_dependencies(seconds: float | None) -> Any:
    rng = np.random.default_rng(0)
    words = [{"form": [f"w{n}" for n in rng.integers(99, size=70)], "upos": ["NOUN"] * 70} for _ in range(8)]
    return _fit_parser().parse_batch(words, seconds=seconds, threads=THREADS)


@cache
def _fit_parser() -> certus.DependencyParser:
    options: dict[str, Any] = {"hash_bits": 12, "epochs": 1, "projective": "no", "columns": "upos"}
    return certus.DependencyParser(**options).fit(invented_treebank.sentences(30, 1))


@cache
def make_joint_parser() -> Any:
    """Return a parser by a grammar of which every tag derives every pair of tags."""
    rng = np.random.default_rng(1)
    tagger = certus.Tagger("upos", order=2, epochs=1).fit(invented.sentences(60, 1))
    binary = [
        (a, b, c, float(rng.normal())) for a in tagger.labels for b in tagger.labels for c in tagger.labels
    ]
    words = sorted(set(itertools.chain.from_iterable(draw_long_sentences())))
    lexicon = {tag: {word: float(rng.normal()) for word in words} for tag in tagger.labels}
    grammar = certus.syntax.Grammar.of_rules(binary, [], lexicon, start=tagger.labels[0])
    return certus.syntax.JointParser(grammar, tagger)


def draw_long_sentences() -> list[list[str]]:
    return [list(itertools.chain.from_iterable(invented.words(4, seed))) for seed in range(8)]


def parse_jointly(seconds: float | None) -> Any:
    return make_joint_parser().parse_batch(draw_long_sentences(), seconds=seconds, threads=THREADS)


def parse_jointly_by_function(seconds: float | None) -> Any:
    parser = make_joint_parser()
    return certus.syntax.parse_jointly(
        parser.grammar, parser.tagger, draw_long_sentences(), seconds=seconds, threads=THREADS
    )


def tag_corpus(seconds: float | None) -> Any:
    sentences = invented.words(20_000, 3)
    return certus.corpus.tag(make_tagger(), sentences, seconds=seconds, threads=THREADS)


def tag(seconds: float | None) -> Any:
    sentences = [[word for words in invented.words(60, seed) for word in words] for seed in range(8)]
    tagger = make_tagger("latent-crf")
    return tagger.tag_batch(sentences, k=20, seconds=seconds, threads=THREADS)


def decode(seconds: float | None) -> Any:
    sentences = [[word for words in invented.words(60, seed) for word in words] for seed in range(8)]
    return make_tagger("latent-crf").decode(
        [[words] for words in sentences], k=20, seconds=seconds, threads=THREADS
    )


# How each verb is called for work that takes longer than the limit, and how many limits it may take one after
# the other: one for all sentences, or one for each of eight, of which four are at work at a time.
VERBS: dict[str, tuple[Callable[[float | None], Any], int]] = {
    "models.aligner.Aligner.align_batch": (align, 8),
    "models.dependency_parser.DependencyParser.parse_batch": (parse_dependencies, 8),
    "models.tagger.Tagger.decode": (decode, 8),
    "models.tagger.Tagger.tag_batch": (tag, 8),
    "models.translator.Translator.translate_batch": (translate, 8),
    "syntax.dependency.trees.Trees.decode_batch": (parse_trees, 8),
    "syntax.joint.parsing.JointParser.parse_batch": (parse_jointly, 8),
    "syntax.joint.parsing.parse_jointly": (parse_jointly_by_function, 8),
    "corpus.tagging.tag": (tag_corpus, 1),
    "latent.model.LatentChain.infer": (infer_latent, 8),
}


def test_every_verb_with_both_options_is_listed() -> None:
    both = {
        verb.name.removeprefix("certus.")
        for verb in list_verbs()
        if "threads" in verb.parameters and ("seconds" in verb.parameters or "seconds" in verb.extra)
    }
    assert both == set(VERBS)


def list_solutions(found: Any) -> Iterator[Solution[Any]]:
    if isinstance(found, Solution):
        yield found
    elif isinstance(found, list | certus.KBest):
        for one in found:
            yield from list_solutions(one)


def is_stopped(found: Any) -> bool:
    """Return whether time ended the search of what is not a list of solutions."""
    if isinstance(found, certus.corpus.Consistent):
        return not found.optimal
    if isinstance(found, list):
        return any(getattr(one, "stopped", False) for one in found)
    return bool(found.stopped.any())


@pytest.mark.parametrize("name", VERBS)
def test_limits_are_kept_on_threads(name: str) -> None:
    call, limits = VERBS[name]
    call(0)  # models are fitted, and tables made, before the clock runs
    began = time.perf_counter()
    found = call(SECONDS)
    took = time.perf_counter() - began
    assert took < limits * SECONDS + SOON * PATIENCE, f"{name} took {took:.2f} s"
    solutions = list(list_solutions(found))
    assert is_stopped(found) or any(not one.optimal for one in solutions)  # there was more to do
    for one in solutions:
        assert not one.score > one.bound
        assert not one.optimal or one.score == one.bound
