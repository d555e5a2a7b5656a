"""Lattices of taggers with adjusted scores: the best sequence within, and the bound of all outside."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

from tests.attack.attack import Question, Truth
from tests.attack.taggers import TaggerProblem, score_labels
from tests.attack.tiny_models import MANY, TAGGERS, draw_words, train_tagger

ROUNDING = 1e-4  # relative: scores are of single precision
LEARNERS = tuple(name for name in TAGGERS if "latent" not in name and "refinement" not in name)


@dataclass(frozen=True)
class LatticeProblem:
    """A sentence for a tagger, what pruning is multiplied by, and what is added to the scores of labels."""

    tagger: str
    words: tuple[str, ...]
    pruning: float
    adjust: Any  # (T, L)


class Lattices:
    """The best sequences of lattices under adjusted scores."""

    name = "lattices"

    def draw(self, rng: Random) -> LatticeProblem:
        """Return a short sentence."""
        name = rng.choice(LEARNERS)
        words = draw_words(rng, 1, 2, MANY) if name.startswith("narrow") else draw_words(rng, 1, 4)
        labels = len(train_tagger(name).labels)
        share, scale = rng.choice([0.0, 0.0, 0.2, 0.6]), rng.choice([0.0, 0.5, 3.0, 20.0])
        values = [
            -math.inf if rng.random() < share else scale * rng.gauss(0, 1) for _ in range(len(words) * labels)
        ]
        adjust = np.array(values).reshape(len(words), labels)
        return LatticeProblem(name, tuple(words), rng.choice([0.0, 0.5, 1.0, 1.0, 3.0]), adjust)

    def enumerate(self, problem: LatticeProblem) -> Truth:
        """The sequences of a lattice are found by the check itself."""
        return Truth({})

    def ask(self, problem: LatticeProblem) -> Iterator[Question]:
        """Ask for the best sequence, max-marginals and the bound."""
        yield Question(problem.tagger, lambda: _check(problem))


def _check(problem: LatticeProblem) -> list[str]:
    tagger = train_tagger(problem.tagger)
    names, count = tagger.labels, len(problem.words)
    lattices = tagger.lattices([list(problem.words)], pruning=problem.pruning)
    scores = score_labels(TaggerProblem(problem.tagger, 0, problem.words, None, None, 0))
    inside = _list_inside(lattices.arcs(0), len(names), count)
    every = {
        labels: score + math.fsum(problem.adjust[t, names.index(y)] for t, y in enumerate(labels))
        for labels, score in scores.items()
    }
    finite = problem.adjust[np.isfinite(problem.adjust)]
    nearly = ROUNDING * (1 + max(map(abs, scores.values())) + float(np.abs(finite).sum()))
    tokens = np.arange(count)
    labels, found = lattices.decode(None, tokens, problem.adjust)
    outside = float(lattices.bound_outside(None, tokens, problem.adjust)[0])
    wrong = []
    kept = {key: value for key, value in every.items() if tuple(map(names.index, key)) in inside}
    best = max(kept.values(), default=-math.inf)
    if best == -math.inf:
        if found[0] > -math.inf:
            wrong.append(f"all sequences are forbidden, but one scores {found[0]!r}")
    else:
        key = tuple(names[label] for label in labels)
        if not every.get(key, -math.inf) >= best - nearly:
            wrong.append(f"{key} scores {every.get(key)!r}, but {best!r} is possible")
        elif not abs(scores[key] - found[0]) <= nearly:
            wrong.append(f"{key} scores {found[0]!r}, not {scores[key]!r}")
    left = max((value for key, value in every.items() if key not in kept), default=-math.inf)
    if not outside >= left - nearly:
        wrong.append(f"the bound of what the lattice lacks is {outside!r}, but {left!r} is possible")
    marginals = lattices.max_marginals(0, problem.adjust)
    for t, label in ((t, y) for t in range(count) for y in range(len(names))):
        own = max((v for key, v in kept.items() if key[t] == names[label]), default=-math.inf)
        same = own == marginals[t, label] or abs(own - marginals[t, label]) <= nearly
        if not same:
            wrong.append(f"the max-marginal of {label} at {t} is {marginals[t, label]!r}, not {own!r}")
    return wrong


def _list_inside(arcs: Any, labels: int, count: int) -> set[tuple[int, ...]]:
    """Return the label sequences of a lattice, spelled out arc by arc."""
    follow: dict[int, list[int]] = {}
    for origin, target in zip(arcs.origin.tolist(), arcs.target.tolist(), strict=True):
        follow.setdefault(origin, []).append(target)
    found: list[tuple[int, tuple[int, ...]]] = [(0, ())]
    for _ in range(count):
        found = [
            (target, (*path, int(arcs.label[target])))
            for state, path in found
            for target in follow.get(state, [])
            if arcs.label[target] < labels
        ]
    return {path for state, path in found if state in follow}
