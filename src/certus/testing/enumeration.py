"""A tagger compared with the list of all label sequences of short sentences."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypeAlias

from certus.annotation.tagging import Tagging
from certus.chain import Automaton
from certus.models.tagger import Tagger
from certus.solution import Status
from certus.testing.failure import CLOSE, demand

Words: TypeAlias = Sequence[str]
Labels: TypeAlias = tuple[str, ...]
Scores: TypeAlias = Mapping[Labels, float]  # of all label sequences that are possible

MOST_SEQUENCES = 300  # of a sentence
SENTENCES = 6
NARROW = 1e-5  # of probabilities, which are summed in single precision


def check_short_sentences(tagger: Tagger, sentences: Sequence[Words], *, k: int, confidence: bool) -> None:
    """Compare answers for the beginnings of sentences with the list of all label sequences.

    Args:
        tagger: trained.
        sentences: of which the first words are taken.
        k: the length of lists; 1 for none.
        confidence: whether to compare probabilities.
    """
    length = max(1, int(math.log(MOST_SEQUENCES) / math.log(max(2, len(tagger.labels)))))
    for number, words in enumerate(sentences[:SENTENCES]):
        short = list(words[: 1 + number % length])
        every = list_scores(tagger, short)
        dice = random.Random(number)
        constraints: list[dict[str, Any]] = [
            {},
            _draw_allowed(tagger, short, dice),
            _draw_legal(tagger, dice),
        ]
        for constraint in constraints:
            left = {labels: s for labels, s in every.items() if is_allowed(labels, **constraint)}
            what = f"{short}{' under ' + next(iter(constraint)) if constraint else ''}: "
            _check_best(tagger, short, constraint, left, confidence, what)
            for many in (k, 3 * k) if k > 1 else ():
                _check_list(tagger, short, constraint, left, many, what)


def list_scores(tagger: Tagger, words: Words) -> Scores:
    """Return what each label sequence scores where it is the only one that is allowed."""
    sequences = list(itertools.product(tagger.labels, repeat=len(words)))
    only = [[[label] for label in labels] for labels in sequences]
    answers = tagger.tag_batch([words] * len(sequences), allowed=only, infeasible="return")
    scores = {}
    for labels, answer in zip(sequences, answers, strict=True):
        if answer.status is Status.INFEASIBLE:
            continue
        demand(
            answer.labels == list(labels),
            f"{words}: {list(labels)} alone are allowed, but the answer is {answer.labels}",
        )
        scores[labels] = answer.score
    return scores


def is_allowed(
    labels: Labels, allowed: Sequence[Collection[str] | None] | None = None, legal: Automaton | None = None
) -> bool:
    """Whether constraints leave a label sequence."""
    if allowed is not None:
        return all(few is None or label in few for label, few in zip(labels, allowed, strict=True))
    return legal is None or legal.accepts([legal.labels.index(label) for label in labels])


def _draw_allowed(tagger: Tagger, words: Words, dice: random.Random) -> dict[str, Any]:
    few = max(1, len(tagger.labels) // 2)
    return {"allowed": [dice.sample(tagger.labels, few) if dice.random() < 0.7 else None for _ in words]}


def _draw_legal(tagger: Tagger, dice: random.Random) -> dict[str, Any]:
    pairs = itertools.product(tagger.labels, tagger.labels)
    return {"legal": Automaton(tagger.labels, [pair for pair in pairs if dice.random() < 0.7])}


def _check_best(
    tagger: Tagger, words: Words, constraint: Mapping[str, Any], left: Scores, confidence: bool, what: str
) -> None:
    answer = tagger.tag(words, confidence=confidence, infeasible="return", **constraint)
    if not left:
        demand(answer.status is Status.INFEASIBLE, f"{what}no labels are possible, but there is an answer")
        return
    demand(answer.status is not Status.INFEASIBLE, f"{what}labels are possible, but there is no answer")
    _check_score(answer, left, what)
    best = max(left, key=lambda labels: left[labels])
    slack = CLOSE * (1 + abs(left[best]))
    better = f"but {list(best)} score {left[best]}"
    demand(
        not answer.optimal or answer.score >= left[best] - slack,
        f"{what}{answer.labels} are said to be the best with {answer.score}, {better}",
    )
    demand(answer.bound >= left[best] - slack, f"{what}the bound is {answer.bound}, {better}")
    if confidence:
        _check_probabilities(answer, left, what)


def _check_score(answer: Tagging, left: Scores, what: str) -> None:
    own = left.get(tuple(answer.labels))
    demand(own is not None, f"{what}the answer {answer.labels} is not allowed")
    assert own is not None
    demand(
        abs(answer.score - own) <= CLOSE * (1 + abs(own)),
        f"{what}the score of {answer.labels} is {answer.score}, but {own} where they alone are allowed",
    )


def _check_list(
    tagger: Tagger, words: Words, constraint: Mapping[str, Any], left: Scores, k: int, what: str
) -> None:
    several = tagger.tag(words, k=k, infeasible="return", **constraint)
    found = [tuple(answer.labels) for answer in several]
    demand(len(set(found)) == len(found), f"{what}a list of {k} repeats itself")
    for answer in several:
        _check_score(answer, left, what)
    if not all(answer.optimal for answer in several):
        return
    wanted = sorted(left.values(), reverse=True)[:k]
    scores = [answer.score for answer in several]
    demand(len(scores) == len(wanted), f"{what}a list of {k} has {len(scores)} of {len(wanted)} answers")
    for rank, (score, other) in enumerate(zip(scores, wanted, strict=True), 1):
        demand(
            abs(score - other) <= CLOSE * (1 + abs(other)),
            f"{what}rank {rank} of {k} scores {score}, but is said to be proven, and should score {other}",
        )


def _check_probabilities(answer: Tagging, left: Scores, what: str) -> None:
    """Compare with exp(score) over the sum of all."""
    most = max(left.values())
    total = most + math.log(sum(math.exp(score - most) for score in left.values()))
    truth = math.exp(left[tuple(answer.labels)] - total)
    least, highest = answer.probability_interval or (math.nan, math.nan)
    demand(
        least - NARROW <= truth <= highest + NARROW,
        f"{what}the probability of {answer.labels} is {truth}, not from {least} to {highest}",
    )
    for t, (label, (low, high)) in enumerate(
        zip(answer.labels, answer.confidence_intervals or [], strict=True)
    ):
        own = sum(math.exp(score - total) for labels, score in left.items() if labels[t] == label)
        demand(
            low - NARROW <= own <= high + NARROW,
            f"{what}the confidence of {label!r} at word {t} is {own}, not from {low} to {high}",
        )
