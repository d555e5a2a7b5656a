"""Corpora whose unknown words should agree on their labels: all labels of a few short sentences."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

import certus
from certus.corpus import Agreement, Mrf
from tests.attack.attack import Exact, Question, Truth
from tests.attack.taggers import TaggerProblem, score_labels
from tests.attack.tiny_models import WORDS, train_tagger

MOST = 5000  # labellings of a corpus
ROUNDING = 1e-5
TAGGERS = ("crf", "perceptron", "hmm", "pruned-crf 1", "pruned-crf 2", "pruned-crf 3")
NEW = ("xu", "yo", "zi")  # words that no tagger knows
LIMITS: tuple[dict[str, Any], ...] = ({}, {"max_iterations": 1}, {"max_iterations": 0}, {"seconds": 1e-6})


@dataclass(frozen=True)
class CorpusProblem:
    """Sentences for one of the taggers, and the weights of agreement: same, close and null."""

    tagger: str
    model: int
    sentences: tuple[tuple[str, ...], ...]
    delta: tuple[float, float, float]
    seed: int


class Corpora:
    """The best labels of a corpus."""

    name = "corpora"

    def draw(self, rng: Random) -> CorpusProblem:
        """Return a few short sentences with unknown words."""
        name, model = rng.choice(TAGGERS), rng.randrange(3)
        labels = len(train_tagger(name, model).labels)
        sentences: list[tuple[str, ...]] = []
        while True:
            words = tuple(
                rng.choice(NEW if rng.random() < 0.6 else WORDS) for _ in range(rng.choice([1, 1, 2, 3]))
            )
            if labels ** sum(map(len, [*sentences, words])) > MOST:
                break
            sentences.append(words)
        null, close, same = sorted(rng.choice([0.0, 0.5, 1.0, 2.0, 4.0]) for _ in range(3))
        return CorpusProblem(name, model, tuple(sentences), (same, close, null), rng.getrandbits(32))

    def enumerate(self, problem: CorpusProblem) -> Truth:
        """Score the labels of all sentences together, with the best consensus of each unknown word."""
        scores = [
            score_labels(TaggerProblem(problem.tagger, problem.model, words, None, None, 0))
            for words in problem.sentences
        ]
        words = list(itertools.chain.from_iterable(problem.sentences))
        labels = train_tagger(problem.tagger, problem.model).labels
        found = {}
        for chosen in itertools.product(*(own.items() for own in scores)):
            terms = [score for _, score in chosen]
            flat = list(itertools.chain.from_iterable(own for own, _ in chosen))
            for word in set(words) & set(NEW):
                own = [label for label, name in zip(flat, words, strict=True) if name == word]
                if len(own) > 1:  # a single word has nobody to agree with
                    terms.append(_find_consensus(own, labels, problem.delta))
            magnitude = math.fsum(map(abs, terms))
            key = tuple(own for own, _ in chosen)
            found[key] = Exact(math.fsum(terms), ROUNDING * (1 + magnitude))
        return Truth(found)

    def ask(self, problem: CorpusProblem) -> Iterator[Question]:
        """Ask for the labels of the corpus, with limits, and for a field by itself."""
        tagger = train_tagger(problem.tagger, problem.model)

        def make_call(**options: Any) -> Callable[[], Any]:
            return lambda: _tag(tagger, problem, options)

        for limit in LIMITS:
            yield Question(
                problem.tagger + (" limited" if limit else ""),
                make_call(**limit),
                exact=not limit and "pruned" not in problem.tagger,
                read=tuple,
            )
        yield Question("field", lambda: _check_field(Random(problem.seed)))


def _tag(tagger: Any, problem: CorpusProblem, options: dict[str, Any]) -> certus.Solution[Any]:
    found = certus.corpus.tag(
        tagger,
        [list(words) for words in problem.sentences],
        delta=problem.delta,
        case=False,
        suffixes=(),
        groups=_find_group,
        **options,
    )
    labels = tuple(tuple(own) for own in found.labels)
    return certus.Solution(labels, found.score, found.bound, found.status)


def _find_group(label: str) -> str:
    return "AB" if label in "AB" else label


def _find_consensus(own: list[str], labels: list[str], delta: tuple[float, float, float]) -> float:
    """Return what the words of a type score with the label that suits them best, or with none."""
    same, close, null = delta
    totals = [null * len(own)]
    for consensus in labels:
        near = [_find_group(label) == _find_group(consensus) for label in own]
        totals.append(
            math.fsum(
                same if label == consensus else close if is_near else 0.0
                for label, is_near in zip(own, near, strict=True)
            )
        )
    return max(totals)


def _check_field(rng: Random) -> list[str]:
    """Compare a field of consensus nodes with all labels of its nodes."""
    labels, words = rng.randint(1, 3), rng.randint(1, 5)
    null, close, same = sorted(float(rng.randint(0, 4)) for _ in range(3))
    nodes = [rng.randrange(3) for _ in range(words)]
    candidates = [[rng.randrange(labels) for _ in range(rng.randint(1, 3))] for _ in range(words)]
    groups = [rng.randrange(labels) for _ in range(labels)]
    field = Mrf(Agreement(same, close, null), nodes, candidates, labels, groups=groups)
    added = np.array([float(rng.randint(-4, 4)) for several in candidates for _ in several])
    found = field.maximize({"candidates": added})
    first = list(itertools.accumulate(map(len, candidates), initial=0))
    best = -math.inf
    for consensus in itertools.product(range(labels + 1), repeat=3):
        total = 0.0
        for word, several in enumerate(candidates):
            z = consensus[nodes[word]]
            total += max(
                (null if z == labels else same if y == z else close if groups[y] == groups[z] else 0.0)
                + added[first[word] + place]
                for place, y in enumerate(several)
            )
        best = max(best, total)
    score = found.score + float((found.indicators["candidates"] * added).sum())
    return [] if score == best else [f"the field scores {score}, but {best} is possible"]
