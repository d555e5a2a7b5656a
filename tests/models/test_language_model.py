"""Language models as people use them."""

from __future__ import annotations

import io
import math
import mmap
import pickle
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

import certus
from certus.storage import model_file
from tests.translate.problems import make_sentences

pytestmark = pytest.mark.filterwarnings("ignore::certus.errors.SmoothingWarning")


@pytest.fixture(scope="module")
def model() -> certus.LanguageModel:
    return certus.LanguageModel(order=4).fit(make_sentences(1, 200), metadata={"licence": "none"})


def test_saved_and_loaded(model: certus.LanguageModel, tmp_path: Path) -> None:
    model.save(tmp_path / "m.certus")
    sentences = make_sentences(2, 50)
    expected = model.score_batch(sentences).tolist()
    loaded = certus.load(tmp_path / "m.certus")
    for other in (
        loaded,
        certus.LanguageModel.load(tmp_path / "m.certus"),
        pickle.loads(pickle.dumps(model)),
    ):
        assert other.score_batch(sentences).tolist() == expected
        assert other.description == model.description
        assert other.bound("w1", ["w0"]) == model.bound("w1", ["w0"])
        assert other.words == model.words
    assert model.description["licence"] == "none"
    assert model.description["training"]["sentences"] == 200
    base: Any = loaded._arrays["arc_score"]
    while isinstance(base, np.ndarray):
        base = base.base
    assert isinstance(base.obj if isinstance(base, memoryview) else base, mmap.mmap)
    assert pickle.loads(pickle.dumps(certus.LanguageModel(3))).order == 3


def test_files_streams_and_sentences_are_the_same(tmp_path: Path) -> None:
    sentences = make_sentences(4, 60)
    lines = "".join(" ".join(words) + "\n" for words in sentences)
    cut = lines.index(" ", 200)  # the first file ends within a line, which then is a sentence
    first, second = tmp_path / "a.txt", tmp_path / "b.txt"
    first.write_text("\ufeff" + lines[:cut])
    second.write_text(lines[cut:].replace("\n", " \r\n\n"))
    halves = lines[:cut].count("\n")
    texts = lines[:cut].splitlines() + lines[cut:].splitlines()
    made = [
        certus.LanguageModel(3).fit(str(first), second),
        certus.LanguageModel(3).fit(io.BytesIO(lines[:cut].encode()), io.BytesIO(lines[cut:].encode())),
        certus.LanguageModel(3).fit(texts),
        certus.LanguageModel(3).fit(
            [tuple(text.split()) for text in texts[: halves + 1]], texts[halves + 1 :]
        ),
    ]
    for other in made[1:]:
        for name, array in made[0]._arrays.items():
            assert np.array_equal(other._arrays[name], array), name
    found = [made[0].perplexity(first, second), made[0].perplexity(texts)]
    assert found[0].score == pytest.approx(found[1].score)
    assert found[0].blank == len(texts) - halves - 1
    assert found[0].sentences == found[1].sentences == len(texts)


def test_perplexity(model: certus.LanguageModel) -> None:
    sentences = [["w0", "never", "w1"], [], ["w2"], ["w0", "w0", "other"]]
    found = model.perplexity(sentences)
    words = [one for sentence in sentences if sentence for one in model.score_words(sentence)]
    assert (found.sentences, found.blank, found.tokens, found.unknown) == (3, 1, 10, 2)
    assert found.perplexity == pytest.approx(math.exp(-sum(one.score for one in words) / 10))
    known = [one.score for one in words if one.known]
    assert found.known_perplexity == pytest.approx(math.exp(-sum(known) / 8))
    assert 2**found.bits == pytest.approx(found.perplexity)
    assert model.perplexity([]).tokens == 0
    assert math.isnan(model.perplexity([]).perplexity)
    assert model.perplexity([]).as_dict()["perplexity"] is None


def test_words(model: certus.LanguageModel) -> None:
    assert sorted(model.words) == [f"w{n}" for n in range(6)]
    assert "w0" in model
    assert "never" not in model
    assert "<s>" not in model
    assert 3 not in model
    texts = ["a\u00a0b a\u00a0b", "c"]  # only ASCII blanks separate
    assert certus.LanguageModel(2).fit(texts).words == ["a\u00a0b", "c"]


def test_states(model: certus.LanguageModel) -> None:
    words = ["w0", "w3", "w1", "w0", "</s>"]
    state, total = model.begin, 0.0
    for word in words:
        step = model.advance(state, word)
        total += step.score
        state = step.state
    assert total == pytest.approx(model.score(words[:-1]), abs=1e-9)
    assert model.score([]) == model.advance(model.begin, "</s>").score


def test_refusals(model: certus.LanguageModel, tmp_path: Path) -> None:
    text = tmp_path / "a.txt"
    text.write_text("a b\nc <s> d\n")
    fresh = certus.LanguageModel(2)
    for call, message in (
        (lambda: fresh.score("a"), "not trained"),
        (lambda: fresh.fit(text), r"a\.txt:2: the word <s> stands for something else"),
        (lambda: fresh.fit([["a"], ["b", "</s>"]]), "sentence 1: the word </s>"),
        (lambda: fresh.fit([["a b"]]), "has a blank in it"),
        (lambda: fresh.fit([[""]]), "is empty"),
        (lambda: fresh.fit(cast(Any, [[3]])), "sentence 0, token 0: expected str"),
        (lambda: fresh.fit(cast(Any, [3])), "sentence 0 is int"),
        (lambda: fresh.fit([str(text)]), "give files one by one"),
        (lambda: fresh.fit([]), "nothing to learn from"),
        (lambda: fresh.fit(tmp_path / "none"), "no file"),
        (lambda: certus.LanguageModel(0), "order"),
        (lambda: certus.LanguageModel(65), "64 is the largest"),
        (lambda: model.score_batch("a b"), "list of sentences"),
        (lambda: model.advance(10**6, "a"), "no state 1000000"),
        (lambda: model.advance(-1, "a"), "no state -1"),
        (lambda: model.score(["\ud800"]), "surrogate"),
    ):
        with pytest.raises(certus.InvalidInput, match=message):
            call()
    model.save(tmp_path / "m.certus")
    with pytest.raises(certus.ModelError, match="language-model"):
        certus.Tagger.load(tmp_path / "m.certus")


def test_damaged_files(model: certus.LanguageModel, tmp_path: Path) -> None:
    for name, change in (
        ("arc_next", lambda a: np.full_like(a, 10_000)),
        ("arc_word", lambda a: np.full_like(a, 10_000)),
        ("arc_word", lambda a: np.zeros_like(a)),
        ("arc_score", lambda a: a * np.nan),
        ("arc_score", lambda a: a[:-1]),
        ("arc_begin", lambda a: a[::-1].copy()),
        ("suffix", lambda a: np.arange(len(a), dtype=np.uint32)),
        ("state_ends", lambda a: a + 1),
        ("state_ends", lambda a: a[:-1]),
        ("word_begin", lambda a: a * 0),
        ("word_slots", lambda a: a[:-1]),
        ("word_slots", lambda a: a + 1000),
    ):
        arrays = {**model._arrays, name: change(model._arrays[name])}
        model_file.write(tmp_path / "bad.certus", "language-model", arrays, model.description)
        with pytest.raises(certus.ModelError, match=r"bad\.certus"):
            certus.load(tmp_path / "bad.certus")
    full = {**model._arrays, "word_slots": np.ones_like(model._arrays["word_slots"])}  # no slot is free
    model_file.write(tmp_path / "odd.certus", "language-model", full, model.description)
    assert "w1" not in certus.load(tmp_path / "odd.certus")
