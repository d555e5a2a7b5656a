"""Tagging a corpus as a whole."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import certus
from certus.corpus import Consistent, Iteration, Limits, tag
from certus.errors import InvalidInput
from certus.formats import Sentence
from tests.models.invented import sentences

TEST = list(sentences(60, 2))


@pytest.fixture(scope="module")
def tagger() -> certus.Tagger:
    """One that learned from few sentences, so that much is unknown."""
    return certus.Tagger("upos", order=2, epochs=4).fit(sentences(12, 1))


@pytest.fixture(scope="module")
def found(tagger: certus.Tagger) -> Consistent:
    return tag(tagger, TEST)


def right(labels: list[list[str]], gold: list[Sentence]) -> int:
    return sum(
        one == other
        for own, sentence in zip(labels, gold, strict=True)
        for one, other in zip(own, sentence.column("upos"), strict=True)
    )


def test_the_answer(tagger: certus.Tagger, found: Consistent) -> None:
    assert [len(labels) for labels in found.labels] == [len(sentence) for sentence in TEST]
    assert found.complete
    assert found.certified.all()
    assert found.score == found.bound
    assert found.optimal
    assert not found.pruned.any()
    assert found.stats["constrained"] > 40
    assert found.stats["certified"] == 1
    assert all(one.bound >= found.score - 1e-9 for one in found.trace)
    assert set(found.consensus.values()) <= {*tagger.labels, None}
    assert all(key == key.casefold() for key in found.consensus)
    assert [answer.labels for answer in found.taggings] == found.labels


def test_unknown_words_agree(tagger: certus.Tagger, found: Consistent) -> None:
    """With a weight that nothing outweighs, all words of a type have one label."""
    strong = tag(tagger, TEST, delta=1000, suffixes=())
    labels: dict[str, set[str]] = {}
    for sentence, own in zip(TEST, strong.labels, strict=True):
        for word, label in zip(sentence.words, own, strict=True):
            labels.setdefault(word, set()).add(label)
    nodes = [word for word in labels if word in strong.consensus]
    possible = [word for word in nodes if strong.consensus[word] in labels[word]]
    assert len(possible) > 10
    assert all(len(labels[word]) == 1 for word in possible)


def test_scores_are_those_of_the_lattices(tagger: certus.Tagger, found: Consistent) -> None:
    lattices = tagger.lattices(TEST)
    number = {label: n for n, label in enumerate(tagger.labels)}
    ids = [number[label] for own in found.labels for label in own]
    only = np.full((len(ids), len(number)), -np.inf)
    only[np.arange(len(ids)), ids] = 0
    labels, scores = lattices.decode(tokens=np.arange(len(ids)), adjust=only)
    assert labels.tolist() == ids
    assert found.scores == pytest.approx(scores, abs=1e-6)


def test_it_is_no_worse(tagger: certus.Tagger, found: Consistent) -> None:
    apart = right([answer.labels for answer in tagger.tag_batch(TEST)], TEST)
    assert right(found.labels, TEST) >= apart


def test_text_is_used(tagger: certus.Tagger, found: Consistent) -> None:
    more = tag(tagger, TEST, text=sentences(200, 3))
    assert more.stats["text_sentences"] > 50
    assert len(more.labels) == len(TEST)
    assert len(more.certified) == len(more.scores) == len(TEST)
    assert more.stats["constrained"] > found.stats["constrained"]


@pytest.mark.parametrize("learner", ["perceptron", "crf", "hmm", "pruned-crf"])
def test_every_learner(learner: str) -> None:
    trained = certus.Tagger("upos", learner).fit(sentences(12, 1))
    answer = tag(trained, TEST[:20])
    assert answer.complete
    assert answer.optimal
    assert [len(labels) for labels in answer.labels] == [len(sentence) for sentence in TEST[:20]]


def test_labels_with_parts() -> None:
    """Labels of the same coarse tag are close."""
    trained = certus.Tagger("upos+feats", order=1, epochs=4).fit(sentences(30, 1))
    answer = tag(trained, TEST[:20], delta=(4, 2, 1))
    assert answer.complete
    other = tag(trained, TEST[:20], delta=(4, 2, 1), groups=lambda label: label)
    assert other.complete
    assert other.score <= answer.score


def test_known_words_alone_are_tagged_as_usual(tagger: certus.Tagger) -> None:
    every = {word for sentence in TEST for word in sentence.words}
    answer = tag(tagger, TEST, known=every)
    assert answer.labels == [one.labels for one in tagger.tag_batch(TEST)]
    assert answer.trace == []
    assert answer.consensus == {}
    assert answer.certified.all()
    assert answer.score == pytest.approx(float(answer.scores.sum()))


def test_no_weight_changes_nothing(tagger: certus.Tagger) -> None:
    answer = tag(tagger, TEST, delta=0)
    assert answer.labels == [one.labels for one in tagger.tag_batch(TEST)]


def test_empty_corpora(tagger: certus.Tagger) -> None:
    nothing = tag(tagger, [])
    assert nothing.labels == []
    assert nothing.score == nothing.bound == 0
    assert nothing.complete
    assert tag(tagger, [], text=TEST).labels == []
    assert tag(tagger, [[], ["zzz"], []]).labels[::2] == [[], []]


def test_sentences_of_one_word(tagger: certus.Tagger) -> None:
    answer = tag(tagger, [["blick"], ["blick"], ["Blick"], ["wug"]])
    assert answer.complete
    assert list(answer.consensus) == ["blick"]
    assert answer.labels[0] == answer.labels[1]


def test_words_mappings_and_sentences_are_the_same(tagger: certus.Tagger, found: Consistent) -> None:
    assert tag(tagger, [sentence.words for sentence in TEST]).labels == found.labels
    assert tag(tagger, [{"form": sentence.words} for sentence in TEST]).labels == found.labels


def test_threads_and_chunks_do_not_matter(
    tagger: certus.Tagger, found: Consistent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("certus.corpus.problem.CHUNK", 7)
    other = tag(tagger, TEST, threads=2)
    assert other.labels == found.labels
    assert other.score == pytest.approx(found.score)


def test_progress_is_told(tagger: certus.Tagger) -> None:
    told: list[Iteration] = []
    answer = tag(tagger, TEST, progress=told.append)
    assert told == answer.trace
    assert told[-1].open == 0


def test_limits(tagger: certus.Tagger, found: Consistent) -> None:
    short = tag(tagger, TEST, limits=Limits(max_iterations=0, branches=0))
    assert not short.complete
    assert not short.certified.all()
    assert short.status is certus.Status.FEASIBLE
    assert short.score <= found.score <= short.bound
    assert tag(tagger, TEST, seconds=0).trace == []
    paper = tag(tagger, TEST, limits=Limits(method="subgradient"))
    assert paper.score <= found.score <= paper.bound + 1e-9


def test_the_bound_decides_what_is_optimal(found: Consistent) -> None:
    unfinished = replace(found, stats={**found.stats, "open_nodes": 1})
    assert unfinished.status is certus.Status.OPTIMAL  # the search has not ended, but the bound is met
    assert replace(unfinished, bound=found.bound + 1).status is certus.Status.FEASIBLE


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"delta": (1, 2, 3)}, "must not rise"),
        ({"delta": "much"}, "three numbers"),
        ({"threads": 0}, "threads must be a whole number of at least 1"),
        ({"suffixes": "s"}, "a list of endings"),
        ({"suffixes": [""]}, "a list of endings"),
        ({"known": "word"}, "a set of words"),
        ({"max_iterations": -1}, "must not be below 0"),
        ({"seconds": -1}, "seconds is -1"),
    ],
)
def test_bad_input(tagger: certus.Tagger, wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        tag(tagger, TEST[:1], **wrong)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [({"method": "magic"}, "no method 'magic'"), ({"rate": 0}, "rate is 0"), ({"branches": -1}, "below 0")],
)
def test_bad_limits(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        Limits(**wrong)


def test_bad_sentences(tagger: certus.Tagger) -> None:
    with pytest.raises(InvalidInput, match="list of words"):
        tag(tagger, ["a text"])
    with pytest.raises(InvalidInput, match="not trained"):
        tag(certus.Tagger("upos"), TEST)


def test_models_hold_the_words_they_know(tagger: certus.Tagger, tmp_path: Path) -> None:
    tagger.save(tmp_path / "m.certus")
    again = certus.load(tmp_path / "m.certus")
    assert tag(again, TEST).labels == tag(tagger, TEST).labels
    words = {word for sentence in sentences(12, 1) for word in sentence.words}
    assert tag(tagger, TEST, known=words).labels == tag(tagger, TEST).labels
    again._arrays = {name: array for name, array in again._arrays.items() if name != "known"}
    with pytest.raises(InvalidInput, match="train it again, or say which words are known"):
        tag(again, TEST)
    assert tag(again, TEST, known=words).complete
