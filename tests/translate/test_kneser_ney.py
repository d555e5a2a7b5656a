"""Estimates against the definition, in exact fractions."""

from __future__ import annotations

import itertools
import math
import os
import warnings
from typing import Any

import pytest

import certus
from certus.errors import SmoothingWarning
from certus.translate import Estimate, estimate_ngrams
from tests.reference.language_model import KneserNey
from tests.translate.problems import make_sentences

PROBLEMS = int(os.environ.get("CERTUS_PROBLEMS", "2000")) // 100  # each costs as much as a hundred others
pytestmark = pytest.mark.filterwarnings("ignore::certus.errors.SmoothingWarning")


def list_ngrams(made: Estimate) -> dict[tuple[str, ...], tuple[float, float]]:
    """Return all n-grams, each with log probability and log weight, after checking their links."""
    found: dict[tuple[str, ...], tuple[float, float]] = {}
    names: list[list[tuple[str, ...]]] = []
    for k in range(1, made.ngrams.order + 1):
        level = made.ngrams.level(k)
        words = [made.ngrams.spell(word) for word in level.word.tolist()]
        if k == 1:
            names.append([(word,) for word in words])
        else:
            names.append([(*names[-1][p], w) for p, w in zip(level.parent.tolist(), words, strict=True)])
            assert [n[1:] for n in names[-1]] == [names[-2][s] for s in level.suffix.tolist()]
        rows = zip(level.score.tolist(), level.backoff.tolist(), strict=True)
        found |= dict(zip(names[-1], rows, strict=True))
    return found


@pytest.mark.parametrize("seed", range(PROBLEMS))
def test_estimates_are_those_of_the_definition(seed: int) -> None:
    order = 1 + seed % 5
    sentences: list[Any] = make_sentences(seed, count=5 + 7 * (seed % 7), words=3 + seed % 4)
    made = estimate_ngrams([sentences[:3], [[]], sentences[3:]], order)
    expected = KneserNey(sentences, order)
    found = list_ngrams(made)
    assert found.keys() == {*expected.counts, ("<s>",), ("<unk>",)}
    amounts = [float(amount) for discounts in expected.discounts for amount in discounts[1:]]
    assert [amount for discounts in made.discounts for amount in discounts] == pytest.approx(
        amounts, abs=1e-12
    )
    for ngram, (score, weight) in found.items():
        if ngram != ("<s>",):
            exact = expected.find_probability(ngram[-1], ngram[:-1])
            assert score == pytest.approx(math.log(exact), abs=1e-12)
        assert weight == pytest.approx(math.log(expected.find_weight(ngram)) if len(ngram) < order else 0)
    assert (made.sentences, made.blank) == (len(sentences), 1)
    assert made.tokens == sum(map(len, sentences))


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_every_context_sums_to_one(order: int) -> None:
    sentences = make_sentences(1, count=25, words=4)
    model, exact = certus.LanguageModel(order).fit(sentences), KneserNey(sentences, order)
    words = ["w0", "w1", "w3", "never"]
    for length in range(order + 1):
        for context in itertools.product(["<s>", *words], repeat=length):
            if "<s>" in context[1:]:
                continue
            known = tuple("<unk>" if word == "never" else word for word in context)
            assert sum(exact.find_probability(word, known) for word in exact.words) == 1
            state = 0
            for word in context:
                state = model.begin if word == "<s>" else model.advance(state, word).state
            total = sum(math.exp(model.advance(state, word).score) for word in exact.words)
            assert total == pytest.approx(1, abs=1e-5)
            for word in exact.words:
                expected = math.log(exact.find_probability(word, known))
                assert model.advance(state, word).score == pytest.approx(expected, abs=1e-5)


def test_discounts_that_cannot_be_computed() -> None:
    with pytest.warns(
        SmoothingWarning, match="discounts of 2-grams cannot be computed, for none has"
    ) as told:
        made = estimate_ngrams([["a b c"]], 4)
    assert made.discounts[1] == [0.5, 1, 1.5]
    assert list(made.problems) == ["1", "2", "3", "4"]
    assert made.problems["2"] in {str(one.message) for one in told}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = estimate_ngrams([make_sentences(2, count=400, words=800, longest=12)], 2)
    assert not made.problems
    assert "problems" not in made.describe()


def test_orders_that_no_sentence_reaches() -> None:
    """<s> a b </s> has four words: what is said with order 9 is what is said with order 4."""
    sentences = ["a b", "b", "a b"]
    found = list_ngrams(estimate_ngrams([sentences], 9))
    exact = KneserNey([text.split() for text in sentences], 9)
    assert max(map(len, found)) == 4
    model = certus.LanguageModel(9).fit(sentences)
    expected = sum(
        math.log(exact.find_probability(w, c)) for w, c in (("b", ("<s>",)), ("</s>", ("<s>", "b")))
    )
    assert model.score("b") == pytest.approx(expected, abs=1e-5)
