"""Taggers of every learner, pruned ones included: their proofs are about all label sequences.

A sequence is scored by allowing no other, so that there is nothing to search. The search is what is attacked.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

import certus
from tests.attack.attack import Exact, Question, Truth, choose_infeasible
from tests.attack.tiny_models import MANY, TAGGERS, draw_words, list_names, train_tagger

ROUNDING = 1e-5  # relative: weights and sums are of single precision
SUMS = ("latent-crf", "refinement em", "refinement spectral")  # scores are logarithms of sums
PROBABLE = tuple(name for name in TAGGERS if name not in (*SUMS, "perceptron"))


@dataclass(frozen=True)
class TaggerProblem:
    """A sentence for one of the taggers; what is allowed is by token, and by pairs of labels."""

    tagger: str
    model: int
    words: tuple[str, ...]
    allowed: tuple[tuple[str, ...] | None, ...] | None
    illegal: tuple[tuple[str, str], ...] | None
    seed: int


class Taggers:
    """The best label sequences under a model."""

    name = "taggers"

    def draw(self, rng: Random) -> TaggerProblem:
        """Return a sentence of few words."""
        name = rng.choice(list(TAGGERS))
        model = 0 if name in SUMS else rng.randrange(3)  # which take longest to train
        labels = train_tagger(name, model).labels
        words = draw_words(rng, 1, 2, MANY) if name.startswith("narrow") else draw_words(rng, 1, 4)
        allowed: Any = None
        if rng.random() < 0.25:
            allowed = tuple(
                None if rng.random() < 0.4 else tuple(rng.sample(labels, rng.randint(1, 2))) for _ in words
            )
        pairs = list(itertools.product(labels, labels))
        illegal = tuple(rng.sample(pairs, len(pairs) // 3)) if rng.random() < 0.25 else None
        return TaggerProblem(name, model, tuple(words), allowed, illegal, rng.getrandbits(32))

    def enumerate(self, problem: TaggerProblem) -> Truth:
        """Score all sequences that are allowed."""
        return Truth({
            labels: Exact(score, ROUNDING * (1 + abs(score)) * len(problem.words))
            for labels, score in score_labels(problem).items()
            if _is_allowed(problem, labels)
        })  # fmt: skip

    def ask(self, problem: TaggerProblem) -> Iterator[Question]:
        """Ask for the best labels and for lists, with limits, and for probabilities."""
        rng = Random(problem.seed)
        tagger = train_tagger(problem.tagger, problem.model)
        options: dict[str, Any] = {}
        if problem.allowed is not None:
            options["allowed"] = [None if own is None else list(own) for own in problem.allowed]
        if problem.illegal is not None:
            options["legal"] = _make_automaton(tagger, problem.illegal)

        def make_call(**more: Any) -> Callable[[], Any]:
            return lambda: tagger.tag(list(problem.words), **options, **more)

        exact = "spectral" not in problem.tagger
        limits: list[tuple[str, dict[str, Any], int]] = [("", {}, 1)]
        if problem.tagger not in SUMS:
            limits += [(" k", {}, rng.choice([2, 5, 100])), (" limited k", {"max_iterations": 1}, 3)]
        limits += [(" limited", {"seconds": 0}, 1), (" limited", {"max_iterations": 1}, 1)]
        for name, limit, k in limits:
            infeasible = choose_infeasible(rng)
            yield Question(
                problem.tagger + name,
                make_call(k=k, infeasible=infeasible, **limit),
                k=k,
                exact=exact and not limit,
                settles=True,
                infeasible=infeasible,
                read=list_names,
            )
        if problem.tagger in PROBABLE:
            yield Question(
                f"{problem.tagger} probability",
                lambda: _check_probabilities(problem, make_call(confidence=True, infeasible="return")()),
            )


def score_labels(problem: TaggerProblem) -> Mapping[tuple[str, ...], float]:
    """Return the scores of all label sequences, whether they are allowed or not."""
    tagger = train_tagger(problem.tagger, problem.model)
    every = list(itertools.product(tagger.labels, repeat=len(problem.words)))
    found = tagger.tag_batch(
        [list(problem.words)] * len(every),
        allowed=[[[label] for label in labels] for labels in every],
        infeasible="return",
    )
    scores = {labels: one.score for labels, one in zip(every, found, strict=True)}
    return {labels: score for labels, score in scores.items() if score > -math.inf}


def _is_allowed(problem: TaggerProblem, labels: tuple[str, ...]) -> bool:
    own = problem.allowed or (None,) * len(labels)
    if any(given is not None and label not in given for label, given in zip(labels, own, strict=True)):
        return False
    return problem.illegal is None or not set(itertools.pairwise(labels)) & set(problem.illegal)


def _make_automaton(tagger: certus.Tagger, illegal: tuple[tuple[str, str], ...]) -> certus.Automaton:
    legal = np.ones((len(tagger.labels), len(tagger.labels)), bool)
    for a, b in illegal:
        legal[tagger.labels.index(a), tagger.labels.index(b)] = False
    return certus.Automaton(tagger.labels, legal)


def _check_probabilities(problem: TaggerProblem, found: Any) -> list[str]:
    """Compare intervals with the probabilities among all sequences that are allowed."""
    scores = {labels: s for labels, s in score_labels(problem).items() if _is_allowed(problem, labels)}
    if not scores:
        return []
    top = max(scores.values())
    weights = {labels: math.exp(score - top) for labels, score in scores.items()}
    total = math.fsum(weights.values())
    labels = tuple(found.value)
    wrong = []
    checks = [("labels", weights[labels] / total, found.probability_interval)]
    for place, interval in enumerate(found.confidence_intervals or []):
        own = math.fsum(w for other, w in weights.items() if other[place] == labels[place]) / total
        checks.append((f"label {place}", own, interval))
    for name, probability, interval in checks:
        if interval is not None and not interval[0] - 1e-6 <= probability <= interval[1] + 1e-6:
            wrong.append(f"the probability of {name} of {labels} is {probability!r}, not within {interval}")
    return wrong
