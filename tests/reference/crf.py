"""The slow, obvious version of the CRF: every label sequence is written down, scored and weighed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tests.reference.chain import Floats, Labels, all_paths

Token = list[tuple[int, float]]  # feature, value


@dataclass
class Weights:
    """A weight for each pair that has one; the others score 0."""

    state: dict[tuple[int, int], float] = field(default_factory=dict)
    transition: dict[tuple[int, int], float] = field(default_factory=dict)
    pair: dict[tuple[int, int, int], float] = field(default_factory=dict)

    def score(self, tokens: list[Token], path: Labels, pairs: list[Token] | None = None) -> float:
        """Of a path; ``pairs`` are the features of each token that go with two labels in a row."""
        total = 0.0
        for t in range(1, len(tokens) if pairs else 0):
            for feature, value in pairs[t] if pairs else ():
                total += value * self.pair.get((feature, int(path[t - 1]), int(path[t])), 0.0)
        for t, token in enumerate(tokens):
            for feature, value in token:
                total += value * self.state.get((feature, int(path[t])), 0.0)
            if t:
                total += self.transition.get((int(path[t - 1]), int(path[t])), 0.0)
        return total


def observed(
    sentences: list[list[Token]], gold: list[list[int]]
) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
    """The pairs (feature, label) and (label, label) that occur."""
    states = {
        (feature, y)
        for tokens, labels in zip(sentences, gold, strict=True)
        for token, y in zip(tokens, labels, strict=True)
        for feature, _ in token
    }
    return states, {pair for labels in gold for pair in pairwise(labels)}


def log_probabilities(
    weights: Weights, tokens: list[Token], labels: int, pairs: list[Token] | None = None
) -> tuple[Labels, Floats, float]:
    """All label sequences, their log-probabilities, and log Z."""
    paths = all_paths(len(tokens), labels)
    scores = np.array([weights.score(tokens, path, pairs) for path in paths])
    most = scores.max()
    log_z = float(most + np.log(np.exp(scores - most).sum()))
    return paths, scores - log_z, log_z


def loss(
    weights: Weights, sentences: list[list[Token]], gold: list[list[int]], labels: int, c2: float
) -> float:
    """The negative log-likelihood plus c2 times the squares of the weights."""
    total = 0.0
    for tokens, path in zip(sentences, gold, strict=True):
        if tokens:
            _, _, log_z = log_probabilities(weights, tokens, labels)
            total += log_z - weights.score(tokens, np.array(path))
    squares = sum(w * w for w in (*weights.state.values(), *weights.transition.values()))
    return total + c2 * squares


def gradient(
    weights: Weights, sentences: list[list[Token]], gold: list[list[int]], labels: int, c2: float
) -> Weights:
    """Expected counts less those found, for every pair that has a weight."""
    out = Weights(
        {pair: 2 * c2 * w for pair, w in weights.state.items()},
        {pair: 2 * c2 * w for pair, w in weights.transition.items()},
    )
    for tokens, right in zip(sentences, gold, strict=True):
        if not tokens:
            continue
        paths, logs, _ = log_probabilities(weights, tokens, labels)
        _count(out, tokens, np.array(right), -1.0)
        for path, p in zip(paths, np.exp(logs), strict=True):
            _count(out, tokens, path, float(p))
    return out


def marginals(weights: Weights, tokens: list[Token], labels: int) -> NDArray[np.float64]:
    """(T, L): the probability of each label at each token."""
    paths, logs, _ = log_probabilities(weights, tokens, labels)
    out = np.zeros((len(tokens), labels))
    for path, p in zip(paths, np.exp(logs), strict=True):
        out[np.arange(len(tokens)), path] += p
    return out


def _count(out: Weights, tokens: list[Token], path: Labels, times: float) -> None:
    for t, token in enumerate(tokens):
        for feature, value in token:
            pair = (feature, int(path[t]))
            if pair in out.state:
                out.state[pair] += times * value
        step = (int(path[t - 1]), int(path[t])) if t else None
        if step in out.transition:
            out.transition[step] += times


def shuffles(count: int, seed: int) -> Iterator[list[int]]:
    """The orders of sentences in each pass: Fisher-Yates by splitmix64, each from the one before."""
    order, state, mask = list(range(count)), seed, 2**64 - 1
    while True:
        for n in range(count, 1, -1):
            state = (state + 0x9E3779B97F4A7C15) & mask
            z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & mask
            z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
            other = (z ^ (z >> 31)) % n
            order[n - 1], order[other] = order[other], order[n - 1]
        yield list(order)


def best_path(weights: Weights, tokens: list[Token], labels: int) -> list[int]:
    """Viterbi; of equals the first, at the end and then at each step back."""
    step = np.array([[weights.transition.get((i, j), 0.0) for j in range(labels)] for i in range(labels)])
    rows: list[Floats] = []
    for token in tokens:
        node = np.array([sum(v * weights.state.get((f, y), 0.0) for f, v in token) for y in range(labels)])
        rows.append(node + (rows[-1][:, None] + step).max(axis=0) if rows else node)
    path = [int(np.argmax(rows[-1]))]
    for row in rows[-2::-1]:
        path.insert(0, int(np.argmax(row + step[:, path[0]])))
    return path


# What one sentence teaches: from the difference of counts, the number of wrong labels and the margin by which
# the labels found beat gold, the change of every weight.
Lesson = Callable[[Weights, int, float], Weights]


def learn(
    sentences: list[list[Token]], gold: list[list[int]], labels: int, passes: int, lesson: Lesson, seed: int
) -> tuple[Weights, Weights]:
    """Learn from mistakes; return the weights at the end, and their average over all sentences seen."""
    states, steps = observed(sentences, gold)
    now = Weights(dict.fromkeys(states, 0.0), dict.fromkeys(steps, 0.0))
    total = Weights(dict(now.state), dict(now.transition))
    seen = 1  # the weights before the first sentence count as well
    orders = shuffles(len(sentences), seed)
    for _ in range(passes):
        for s in next(orders):
            path = best_path(now, sentences[s], labels)
            wrong = sum(a != b for a, b in zip(path, gold[s], strict=True))
            if wrong:
                counts = Weights(dict.fromkeys(states, 0.0), dict.fromkeys(steps, 0.0))
                _count(counts, sentences[s], np.array(gold[s]), 1.0)
                _count(counts, sentences[s], np.array(path), -1.0)
                margin = now.score(sentences[s], np.array(path)) - now.score(sentences[s], np.array(gold[s]))
                change = lesson(counts, wrong, margin)
                for into, what in ((now.state, change.state), (now.transition, change.transition)):
                    for pair, value in what.items():
                        into[pair] += value
            for into, what in ((total.state, now.state), (total.transition, now.transition)):
                for pair, value in what.items():
                    into[pair] += value
            seen += 1
    average = Weights(
        {p: w / seen for p, w in total.state.items()}, {p: w / seen for p, w in total.transition.items()}
    )
    return now, average
