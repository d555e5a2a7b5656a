"""Random scores to decode: like a trained model's, flat, and full of ties."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certus.chain import Chain

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Sample:
    """Sentences of one length that share a model."""

    transitions: NDArray[Any]  # (L, L), [from, to]
    sentences: tuple[NDArray[Any], ...]  # emissions, each (T, L)
    listed: bool = False  # whether most pairs of labels share one transition score
    whole_numbers: bool = False  # whether all scores are whole numbers, so that sums are exact
    # (L,) what a path gets for its first label, if anything; ``end`` for its last
    start: NDArray[Any] | None = None
    end: NDArray[Any] | None = None
    prior: NDArray[Any] | None = None  # (L,) how often each label was seen, if that is known

    @property
    def labels(self) -> int:
        """L."""
        return len(self.transitions)

    @property
    def length(self) -> int:
        """T."""
        return len(self.sentences[0])

    @cached_property
    def chain(self) -> Chain:
        """The model, prepared once for all that decode the sample."""
        return Chain(self.transitions, start=self.start, end=self.end, prior=self.prior)

    def astype(self, dtype: Any) -> Sample:
        """Return the same scores in another precision."""
        sentences = tuple(emissions.astype(dtype) for emissions in self.sentences)
        return replace(self, transitions=self.transitions.astype(dtype), sentences=sentences)


# The model that ``draw_peaked`` imitates had 319 labels.
_MODEL_LABELS = 319
# The share of label pairs that carry a transition weight there. Smaller label sets have more of them: of the
# 44 parts of speech in the same corpus, 56 % of the pairs occur, which the exponent reproduces.
_LISTED = 0.045
_LISTED_EXPONENT = 1.28
_CHANCE = 3.5  # how far other things than frequency say which pairs do
# Quantiles of those weights. The commoner a pair, the larger its weight tends to be.
_WEIGHT_AT = (0.0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1.0)
_WEIGHTS = (-16.0, -7.0, -2.3, 0.9, 2.6, 5.0, 10.5, 16.0, 25.0)
# What labels score where nothing speaks for them, by rank (as a share of all labels): middle and spread.
# Common labels have been told often where they are wrong; rare ones lie where training left them.
_RANK_AT = (0.0, 0.03, 0.08, 0.15, 0.25, 0.4, 1.0)
_MIDDLE = (-19.0, -17.0, -14.0, -7.0, 0.0, 4.0, 5.5)
_SPREAD = (9.0, 7.0, 5.0, 4.0, 2.5, 0.8, 0.4)
_CONTENDERS = 12  # labels per position that a word's features raise above the rest ...
_CONTEND, _CONTEND_MEAN = 7.0, 4.0  # ... to this, plus an exponential of this mean
_MARGIN, _MARGIN_SPREAD = 12.0, 11.5  # of the right label over the best of the others


def draw_peaked(labels: int, length: int, seed: int = 0, *, sentences: int = 1) -> Sample:
    """Draw scores like those of a trained tagger.

    Made after a model that python-crfsuite (averaged perceptron, 10 rounds) learned on CoNLL-2000: joint
    part-of-speech and chunk labels, 319 of them, 19 features per token, 93.5 % of test labels right.

    Labels have a frequency; the right ones are a random walk over the pairs that carry a transition weight
    (4.5 % of all, the rest score 0), which is larger for commoner pairs. Emissions are low and spread out for
    common labels, a little above zero and alike for rare ones; a dozen contenders stick out at each position;
    the right label exceeds the best of all others by a margin that is normal and at times negative, so that
    transitions decide.

    That model on 400 test sentences, beside 200 sentences drawn here (40 of 2,602 labels)::

                                                     model     drawn
        labels                                         319       319     443   2,602      45
        pairs with a transition weight, %              4.5       4.5     4.5     4.5      55
          of the pairs of the 30 commonest labels, %    65        68
        labels of highest emission are not the
          best path: % of sentences                     94       100      94     100      99
          % of positions                                22        21      21      21      26
        emission of the best path's label over the
          best other one: half are above              10.9      11.3    11.6    11.0    11.4
          5 % are below                              -11.8     -11.3   -10.3   -11.5   -13.8
        rank of that emission: 5 % are above            20        10      15      73       9
        highest emission over the 11th: half above    23.0      21.0    21.2    18.8    22.8
          5 % are below                                5.4       5.9     5.9     4.8     7.5
        transition weight on the best path: median    15.9      15.6    13.8    15.5    10.4
    """
    rng = np.random.default_rng(seed)
    rank = rng.permutation(labels)
    logs = -0.8 * np.sqrt(6.0 + rank * min(1.0, _MODEL_LABELS / labels))  # how often each label occurs
    transitions, occurs = _draw_weights(logs, rng)
    right = _draw_right_labels(occurs, logs, sentences, length, rng)
    emissions = _draw_emissions(right, rank / labels, logs, rng)
    return Sample(transitions, tuple(emissions), listed=_share_listed(labels) < 0.5).astype(np.float32)


def _share_listed(labels: int) -> float:
    """Return the share of label pairs that carry a weight."""
    fewer = max(1.0, _MODEL_LABELS / labels)
    return min(0.9, _LISTED * math.pow(fewer, _LISTED_EXPONENT))


def _draw_weights(logs: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Draw transitions, and the log of how often each pair occurs, -inf if it has no weight: two (L, L)."""
    size = len(logs)
    affinity = logs[:, None] + logs[None, :] + 1.5 * rng.standard_normal((size, size))
    count = max(1, round(_share_listed(size) * size * size))
    chance = affinity + _CHANCE * rng.standard_normal((size, size))
    pairs = np.argpartition(-chance, count - 1, axis=None)[:count]
    known = affinity.ravel()[pairs]
    rank = (known + 2.0 * rng.standard_normal(count)).argsort().argsort()
    transitions = np.zeros(size * size)
    transitions[pairs] = np.interp((rank + 0.5) / count, _WEIGHT_AT, _WEIGHTS)
    occurs = np.full(size * size, -np.inf)
    occurs[pairs] = known
    return transitions.reshape(size, size), occurs.reshape(size, size)


def _draw_right_labels(
    occurs: Floats, logs: Floats, sentences: int, length: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Draw the labels that emissions will favour, by how often pairs occur: (sentences, length)."""
    right = np.empty((sentences, length), np.int64)
    scores = np.broadcast_to(logs, (sentences, len(logs)))
    for t in range(length):
        if t:
            # A label that no listed pair leaves may be followed by any.
            scores = np.maximum(occurs[right[:, t - 1]], logs - 60.0)
        right[:, t] = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)
    return right


def _draw_emissions(
    right: NDArray[np.int64], rank: Floats, logs: Floats, rng: np.random.Generator
) -> NDArray[np.float32]:
    """Draw (sentences, length, labels) emissions around the right labels."""
    shape = (*right.shape, len(logs))
    middle = np.interp(rank, _RANK_AT, _MIDDLE) + 2.5 * rng.standard_normal(len(logs))
    scores = rng.standard_normal(shape, np.float32)
    scores *= np.interp(rank, _RANK_AT, _SPREAD).astype(np.float32)
    scores += middle.astype(np.float32)
    few = min(_CONTENDERS, len(logs) - 1)
    likely = 0.7 * logs + rng.gumbel(size=shape)
    raised = np.argpartition(-likely, few - 1, axis=2)[:, :, :few]
    raise_to = _CONTEND + rng.exponential(_CONTEND_MEAN, raised.shape)
    np.put_along_axis(scores, raised, np.maximum(np.take_along_axis(scores, raised, 2), raise_to), 2)
    place = right[:, :, None]
    np.put_along_axis(scores, place, -np.inf, 2)
    margin = rng.normal(_MARGIN, _MARGIN_SPREAD, place.shape)
    np.put_along_axis(scores, place, scores.max(axis=2, keepdims=True) + margin, 2)
    return scores


def draw_flat(labels: int, length: int, seed: int = 0, *, sentences: int = 1) -> Sample:
    """Draw scores of which nothing can be told: the worst case of every method that prunes.

    Every pair of labels has a transition of its own, uniform in [0, 1); emissions are uniform in [0, 0.1).
    Any label's best transitions make up for its emission, so bounds from maxima exclude no label.
    """
    rng = np.random.default_rng(seed)
    transitions = rng.random((labels, labels), np.float32)
    emissions = [rng.random((length, labels), np.float32) * np.float32(0.1) for _ in range(sentences)]
    return Sample(transitions, tuple(emissions))


def draw_ties(labels: int, length: int, seed: int = 0, *, sentences: int = 1) -> Sample:
    """Draw whole numbers from 0 to 3, so that a great many paths share the best score.

    Sums are exact, and methods have to agree on the score to the last bit.
    """
    rng = np.random.default_rng(seed)
    transitions = rng.integers(0, 4, (labels, labels)).astype(np.float32)
    emissions = [rng.integers(0, 4, (length, labels)).astype(np.float32) for _ in range(sentences)]
    return Sample(transitions, tuple(emissions), whole_numbers=True)


GENERATORS: dict[str, Callable[..., Sample]] = {"peaked": draw_peaked, "flat": draw_flat, "ties": draw_ties}


def draw(
    kind: str, labels: int, length: int, *, sentences: int = 1, seed: int = 0, dtype: Any = np.float32
) -> Sample:
    """Draw a sample of one of ``GENERATORS``."""
    return GENERATORS[kind](labels, length, seed, sentences=sentences).astype(dtype)
