"""Answers of models against a slow back-off model: scores, states, bounds."""

from __future__ import annotations

import io
import itertools
import math
import random

import pytest

import certus
from tests.reference.language_model import Backoff, Ngram
from tests.translate.problems import make_ngrams, make_sentences, write_arpa

LOG10 = math.log(10)
WORDS = [*(f"w{n}" for n in range(5)), "never"]


def open_model(ngrams: dict[Ngram, tuple[float, float]]) -> certus.LanguageModel:
    return certus.LanguageModel.read_arpa(io.BytesIO(write_arpa(ngrams).encode()))


@pytest.mark.parametrize("seed", range(60))
def test_scores(seed: int) -> None:
    ngrams = make_ngrams(seed, order=1 + seed % 5)
    model, slow = open_model(ngrams), Backoff(ngrams)
    assert model.order == slow.order
    rng = random.Random(seed)
    sentences = [rng.choices(WORDS, k=rng.randint(0, 8)) for _ in range(40)]
    totals = model.score_batch(sentences)
    assert totals.tolist() == [model.score(" ".join(words)) for words in sentences]
    for words, total in zip(sentences, totals, strict=True):
        expected = [LOG10 * slow.score(word, ("<s>", *words[:n])) for n, word in enumerate([*words, "</s>"])]
        found = model.score_words(words)
        assert [one.score for one in found] == pytest.approx(expected, abs=1e-5)
        assert total == pytest.approx(sum(expected), abs=1e-4)
        assert [one.word for one in found] == [*words, "</s>"]
        assert [one.known for one in found] == [word != "never" for word in [*words, "</s>"]]
        inner = [LOG10 * slow.score(word, tuple(words[:n])) for n, word in enumerate(words)]
        assert model.score(words, begin=False, end=False) == pytest.approx(sum(inner), abs=1e-4)


@pytest.mark.parametrize("seed", range(20))
def test_states_are_contexts_that_matter(seed: int) -> None:
    """Histories share a state exactly if the model holds nothing that begins with what tells them apart."""
    order = 2 + seed % 3
    ngrams = make_ngrams(seed, order)
    model = open_model(ngrams)
    held = set(ngrams)
    for ngram in list(held):  # what reading adds: contexts and suffixes
        for length in range(1, len(ngram)):
            held |= {ngram[i : i + length] for i in range(len(ngram) - length + 1)}
    used = {ngram[:-1] for ngram in held} | {g for g, (_, w) in ngrams.items() if w and len(g) < order}
    contexts: dict[int, Ngram] = {}
    for history in itertools.product(WORDS[:5], repeat=4):
        state = 0
        for word in history:
            state = model.advance(state, word).state
        longest = next(history[i:] for i in range(5) if history[i:] in used and len(history[i:]) < order)
        assert contexts.setdefault(state, longest) == longest
    assert len(set(contexts.values())) == len(contexts)


@pytest.mark.parametrize("seed", range(30))
def test_bounds(seed: int) -> None:
    """Never below the highest probability of a word; equal to it where no weight is above 1."""
    proper = bool(seed % 2)
    ngrams = make_ngrams(seed, 3)
    if proper:
        ngrams = {g: (score, min(weight, 0.0)) for g, (score, weight) in ngrams.items()}
    model, slow = open_model(ngrams), Backoff(ngrams)
    words = [*WORDS, "<s>"]
    for known in [(), *((word,) for word in words), *itertools.product(words, repeat=2)]:
        histories = [
            (*more, *known) for length in range(3) for more in itertools.product(words, repeat=length)
        ]
        for word in [*WORDS, "</s>"]:
            highest = LOG10 * max(slow.score(word, history) for history in histories)
            bound = model.bound(word, known)
            assert bound >= highest - 1e-5
            if proper:
                assert bound == pytest.approx(highest, abs=1e-5)


@pytest.mark.filterwarnings("ignore::certus.errors.SmoothingWarning")
def test_bounds_of_an_estimated_model() -> None:
    sentences = make_sentences(3, count=40, words=5)
    model = certus.LanguageModel(3).fit(sentences)
    for word in ("w0", "w3", "</s>", "never"):
        found = [
            model.score_words([*before, word], end=False)[-1].score
            for before in itertools.product(["w0", "w1", "w2", "w3", "w4"], repeat=2)
        ]
        first = model.score_words([word], end=False)[-1].score
        assert model.bound(word) >= max(*found, first) - 1e-6
        for last in ("w0", "w2"):
            after = [
                model.score_words([w, last, word], end=False)[-1].score
                for w in ("w0", "w1", "w2", "w3", "w4")
            ]
            assert max(after) - 1e-6 <= model.bound(word, [last]) <= model.bound(word)


def test_large_states_are_searched() -> None:
    """Contexts with hundreds of followers, each of which is found, and none other."""
    words = [f"x{n}" for n in range(0, 600, 2)]
    ngrams: dict[Ngram, tuple[float, float]] = {
        (w,): (-3.0, 0.0) for w in ("<s>", "</s>", "<unk>", "a", *words)
    }
    ngrams |= {(f"x{n}",): (-3.0, 0.0) for n in range(1, 600, 2)}
    ngrams["a",] = (-1.0, -0.25)
    rng = random.Random(1)
    for size in (1, 7, 8, 9, 16, 17, 300):
        chosen = rng.sample(words, size)
        followed: dict[Ngram, tuple[float, float]] = dict(ngrams)
        followed |= {("a", w): (-n / 1000, 0.0) for n, w in enumerate(chosen, 1)}
        model, slow = open_model(followed), Backoff(followed)
        state = model.advance(0, "a").state
        for n in range(600):
            expected = LOG10 * slow.score(f"x{n}", ("a",))
            assert model.advance(state, f"x{n}").score == pytest.approx(expected, abs=1e-6)
