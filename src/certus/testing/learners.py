"""Checks of learners of taggers."""

from __future__ import annotations

import itertools
import math
import pickle
import random
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from certus.annotation.sentence import Sentence
from certus.annotation.tagging import Tagging
from certus.errors import InvalidInput
from certus.formats import build
from certus.models.loading import load
from certus.models.tagger import Tagger
from certus.solution import Status
from certus.testing.enumeration import check_short_sentences
from certus.testing.failure import CLOSE, demand
from certus.verification import verify

Words = Sequence[str]


def check_learner(
    learner: str,
    *,
    target: str = "upos",
    least: float = 0.5,
    k: int = 3,
    exact: bool = True,
    constraints: bool = True,
    confidence: bool = True,
    **options: Any,
) -> None:
    """Check that a learner trains, tags, is saved, loaded and pickled, and keeps its promises.

    It learns an invented language, whose words mostly tell their labels. The same data have to give the same
    model; labels, scores and bounds must not depend on the batch, the threads, on what was asked before, or
    on whether the model was saved in between; words that were never seen get labels, and empty sentences
    none.

    Short sentences are asked for every label sequence, each as the only one allowed. That tells what each
    scores, so that the rest is compared with the list of all: the score of an answer is that of its labels;
    no sequence scores more than the bound, and an optimal answer is the best; k-best lists are those of the
    list; so are answers under constraints; probabilities and confidences are those of exp(score), within
    their intervals. Certificates are verified, where a learner has them.

    Args:
        learner: the name of a learner that is registered (``certus.learn.learners.LEARNERS.register``).

    Other args:
        target: what to predict: upos.
        least: the share of held-out words that have to get the right label.
        k: the length of k-best lists; 1 for a learner that has none, and refuses them.
        exact: False for a learner whose scores are estimates: they are not compared with the list of all.
        constraints: False for a learner that refuses constraints; then there is no list of all either.
        confidence: False for a learner that has no probabilities, and refuses them.
        **options: of the learner.

    Raises:
        CheckFailed: something does not hold.
    """
    train, held_out = make_sentences(60, 1), make_sentences(15, 2)
    tagger = Tagger(target, learner, **options).fit(train)
    words = [sentence.words for sentence in held_out]
    answers = tagger.tag_batch(words)
    for sentence, answer in zip(words, answers, strict=True):
        _check_answer(tagger, sentence, answer)
    _check_repeats(tagger, words, answers)
    again = Tagger(target, learner, **options).fit(train)
    _compare(again.tag_batch(words), answers, "the same data gave another model: ")
    _check_storage(tagger, words, answers)
    _check_odd_sentences(tagger)
    _check_accuracy(answers, held_out, least)
    if not constraints:
        only = [[tagger.labels[0]] for _ in words[0]]
        _expect_refusal(lambda: tagger.tag(words[0], allowed=only), "allowed")
    elif exact:
        check_short_sentences(tagger, words, k=k, confidence=confidence)
    if confidence:
        _check_confidence(tagger, words)
    else:
        _expect_refusal(lambda: tagger.tag(words[0], confidence=True), "confidence")
    if k > 1:
        _check_lists(tagger, words, answers, k)
    else:
        _expect_refusal(lambda: tagger.tag(words[0], k=2), "k = 2")
    if tagger.certifies:
        _check_certificates(tagger, words)


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


def _check_answer(tagger: Tagger, words: Words, answer: Tagging) -> None:
    demand(len(answer.labels) == len(words), "an answer has not one label for each word")
    unknown = set(answer.labels) - set(tagger.labels)
    demand(not unknown, f"labels that the model does not know: {sorted(unknown)}")
    demand(math.isfinite(answer.score), f"an answer scores {answer.score}")
    slack = CLOSE * (1 + abs(answer.score))
    demand(
        answer.score <= answer.bound + slack, f"the score {answer.score} is above the bound {answer.bound}"
    )
    if answer.optimal:
        demand(abs(answer.bound - answer.score) <= slack, "optimal, but the bound is not the score")


def _check_repeats(tagger: Tagger, words: Sequence[Words], answers: Sequence[Tagging]) -> None:
    """Compare answers with those of other batches, more threads, and another time."""
    _compare(tagger.tag_batch(words), answers, "the second time answers differ: ")
    _compare([tagger.tag(sentence) for sentence in words], answers, "batches answer differently: ")
    _compare(tagger.tag_batch(words[::-1])[::-1], answers, "the order of a batch changes answers: ")
    _compare(tagger.tag_batch(words, threads=2), answers, "threads change answers: ")


def _compare(found: Sequence[Tagging], wanted: Sequence[Tagging], message: str) -> None:
    for one, other in zip(found, wanted, strict=True):
        demand(one.labels == other.labels, f"{message}the labels are {one.labels}, not {other.labels}")
        for name in ("score", "bound"):
            a, b = getattr(one, name), getattr(other, name)
            close = a == b or abs(a - b) <= CLOSE * (1 + abs(b))
            demand(close, f"{message}the {name} of {one.labels} is {a}, not {b}")
        demand(one.status is other.status, f"{message}the status is {one.status}, not {other.status}")


def _check_storage(tagger: Tagger, words: Sequence[Words], answers: Sequence[Tagging]) -> None:
    """Compare what a model says with what it says after it was saved and loaded, or pickled."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.certus"
        tagger.save(path)
        _compare(load(path).tag_batch(words), answers, "a model that was saved tags differently: ")
    copy = pickle.loads(pickle.dumps(tagger))
    _compare(copy.tag_batch(words), answers, "a model that was pickled tags differently: ")


def _check_odd_sentences(tagger: Tagger) -> None:
    demand(tagger.tag([]).labels == [], "an empty sentence has labels")
    unknown = tagger.tag(["never", "seen", "xyzzy"], infeasible="return")
    demand(unknown.status is not Status.INFEASIBLE, "unknown words have no labels")
    _check_answer(tagger, ["never", "seen", "xyzzy"], unknown)


def _check_accuracy(answers: Sequence[Tagging], held_out: Sequence[Sentence], least: float) -> None:
    hits = [
        label == right
        for answer, sentence in zip(answers, held_out, strict=True)
        for label, right in zip(answer.labels, sentence.columns["upos"], strict=True)
    ]
    demand(np.mean(hits) >= least, f"only {np.mean(hits):.0%} of the held-out words get the right label")


def _check_confidence(tagger: Tagger, words: Sequence[Words]) -> None:
    for answer in tagger.tag_batch(words, confidence=True):
        shares = np.asarray(answer.confidence, np.float64)
        demand(len(shares) == len(answer.labels), "an answer has not one confidence for each word")
        demand(((shares >= -CLOSE) & (shares <= 1 + CLOSE)).all(), "a confidence is no probability")


def _check_lists(tagger: Tagger, words: Sequence[Words], best: Sequence[Tagging], k: int) -> None:
    for one, several in zip(best, tagger.tag_batch(words, k=k), strict=True):
        scores = [answer.score for answer in several]
        demand(1 <= len(several) <= k, f"a list of {k} has {len(several)} answers")
        falling = all(a >= b - CLOSE * (1 + abs(a)) for a, b in itertools.pairwise(scores))
        demand(falling, f"the scores of a list do not fall: {scores}")
        demand(
            abs(scores[0] - one.score) <= CLOSE * (1 + abs(one.score)), "a list begins with another answer"
        )
        demand(len({tuple(answer.labels) for answer in several}) == len(several), "a list repeats itself")


def _check_certificates(tagger: Tagger, words: Sequence[Words]) -> None:
    for sentence in sorted(words, key=len)[:3]:
        answer = tagger.tag(sentence, certificate=True)
        verdict = verify((tagger, sentence), answer)
        demand(verdict, f"the certificate of {answer.labels} is {verdict}")
        given = answer.certificate.answer if answer.certificate else None
        named = given and [tagger.labels[number] for number in given]
        demand(named == answer.labels, f"the certificate is of {named}, not of {answer.labels}")
        stated, close = verdict.score, CLOSE * (1 + abs(answer.score))
        is_relative = answer.certificate is not None and answer.certificate.kind == "latent"
        demand(
            is_relative or (stated is not None and abs(float(stated) - answer.score) <= close),
            f"the certificate is of labels that score {stated}, but the answer scores {answer.score}",
        )


def _expect_refusal(ask: Callable[[], object], what: str) -> None:
    """Demand that what a learner does not have is refused, and not passed over."""
    try:
        ask()
    except InvalidInput:
        return
    demand(
        False, f"{what} is neither refused nor checked: raise InvalidInput where a learner does not have it"
    )
