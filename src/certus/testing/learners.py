"""Checks of learners of taggers."""

from __future__ import annotations

import itertools
import pickle
import random
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from certus.annotation.sentence import Sentence
from certus.annotation.tagging import Tagging
from certus.formats import build
from certus.models.loading import load
from certus.models.tagger import Tagger
from certus.testing.failure import demand

CLOSE = 1e-6


def check_learner(
    learner: str, *, target: str = "upos", least: float = 0.5, k: int = 3, **options: Any
) -> None:
    """Check that a learner trains, tags, is saved, loaded and pickled, and keeps its promises.

    It learns an invented language, whose words mostly tell their labels. The same data have to give the same
    model; answers must not depend on the batch, the threads, or on whether the model was saved in between;
    ``score <= bound``, and equal where the answer is optimal; k-best lists fall and begin with the best;
    confidences are probabilities; words that were never seen get labels, and empty sentences none.

    Args:
        learner: the name of a learner that is registered (``certus.learn.learners.LEARNERS.register``).

    Other args:
        target: what to predict: upos.
        least: the share of held-out words that have to get the right label.
        k: the length of k-best lists; 1 for a learner that has none.
        **options: of the learner.

    Raises:
        CheckFailed: something does not hold.
    """
    train, held_out = make_sentences(60, 1), make_sentences(15, 2)
    tagger = Tagger(target, learner, **options).fit(train)
    again = Tagger(target, learner, **options).fit(train)
    words = [sentence.words for sentence in held_out]
    answers = tagger.tag_batch(words)
    demand(_list_labels(again.tag_batch(words)) == _list_labels(answers), "the same data gave another model")
    for sentence, answer in zip(words, answers, strict=True):
        _check_answer(tagger, sentence, answer)
    demand(tagger.tag([]).labels == [], "an empty sentence has labels")
    demand(len(tagger.tag(["never", "seen", "xyzzy"]).labels) == 3, "unknown words have no labels")
    demand(
        _list_labels([tagger.tag(s) for s in words]) == _list_labels(answers), "batches answer differently"
    )
    demand(
        _list_labels(tagger.tag_batch(words, threads=2)) == _list_labels(answers), "threads change answers"
    )
    right = [sentence.columns["upos"] for sentence in held_out]
    hits = [
        a == b for x, y in zip(_list_labels(answers), right, strict=True) for a, b in zip(x, y, strict=True)
    ]
    demand(np.mean(hits) >= least, f"only {np.mean(hits):.0%} of the held-out words get the right label")
    _check_storage(tagger, words)
    _check_confidence(tagger, words)
    if k > 1:
        _check_lists(tagger, words, k)


def make_sentences(count: int, seed: int) -> list[Sentence]:
    """Return sentences of an invented language: words whose endings tell nouns from verbs, some ambiguous."""
    dice = random.Random(seed)
    stems = [a + b + c for a in "bdgkt" for b in "aeo" for c in "lmnr"]
    made = []
    for _ in range(count):
        tokens = []
        for _ in range(dice.randint(1, 3)):
            tokens += [("lo", "DET"), (dice.choice(stems) + dice.choice(["a", "i"]), "NOUN")]
            tokens.append((dice.choice(stems) + dice.choice(["et", "i"]), "VERB"))
        tokens.append((".", "PUNCT"))
        made.append(build([word for word, _ in tokens], {"upos": [tag for _, tag in tokens]}))
    return made


def _list_labels(answers: Sequence[Tagging]) -> list[list[str]]:
    return [list(answer.labels) for answer in answers]


def _check_answer(tagger: Tagger, words: Sequence[str], answer: Tagging) -> None:
    demand(len(answer.labels) == len(words), "an answer has not one label for each word")
    unknown = set(answer.labels) - set(tagger.labels)
    demand(not unknown, f"labels that the model does not know: {sorted(unknown)}")
    slack = CLOSE * (1 + abs(answer.score))
    demand(
        answer.score <= answer.bound + slack, f"the score {answer.score} is above the bound {answer.bound}"
    )
    if answer.optimal:
        demand(abs(answer.bound - answer.score) <= slack, "optimal, but the bound is not the score")


def _check_storage(tagger: Tagger, words: Sequence[Sequence[str]]) -> None:
    """Compare what a model says with what it says after it was saved and loaded, or pickled."""
    wanted = _list_labels(tagger.tag_batch(words))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.certus"
        tagger.save(path)
        demand(_list_labels(load(path).tag_batch(words)) == wanted, "a model that was saved tags differently")
    copy = pickle.loads(pickle.dumps(tagger))
    demand(_list_labels(copy.tag_batch(words)) == wanted, "a model that was pickled tags differently")


def _check_confidence(tagger: Tagger, words: Sequence[Sequence[str]]) -> None:
    for answer in tagger.tag_batch(words, confidence=True):
        shares = np.asarray(answer.confidence, np.float64)
        demand(len(shares) == len(answer.labels), "an answer has not one confidence for each word")
        demand(((shares >= -CLOSE) & (shares <= 1 + CLOSE)).all(), "a confidence is no probability")


def _check_lists(tagger: Tagger, words: Sequence[Sequence[str]], k: int) -> None:
    best = tagger.tag_batch(words)
    for one, several in zip(best, tagger.tag_batch(words, k=k), strict=True):
        scores = [answer.score for answer in several]
        demand(1 <= len(several) <= k, f"a list of {k} has {len(several)} answers")
        falling = all(a >= b - CLOSE * (1 + abs(a)) for a, b in itertools.pairwise(scores))
        demand(falling, f"the scores of a list do not fall: {scores}")
        demand(
            abs(scores[0] - one.score) <= CLOSE * (1 + abs(one.score)), "a list begins with another answer"
        )
        demand(len({tuple(answer.labels) for answer in several}) == len(several), "a list repeats itself")
