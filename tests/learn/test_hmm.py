"""The hidden Markov model equals its definition, tags what it should, and survives a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import certus
from certus.learn.hmm.model import DECLARATION, Hmm, estimate
from certus.storage import model_file
from tests.reference.hmm import ReferenceHmm


def corpus(seed: int, labels: int = 4, sentences: int = 30) -> tuple[list[list[str]], list[list[int]]]:
    """Random sentences over few syllables, so that words and endings repeat; some are empty."""
    rng = np.random.default_rng(seed)
    syllables = ["a", "ba", "Ca", "é", "ing", "s", "動"]
    words: list[list[str]] = []
    gold: list[list[int]] = []
    for _ in range(sentences):
        length = int(rng.integers(0, 7))
        words.append(["".join(rng.choice(syllables, rng.integers(1, 5))) for _ in range(length)])
        gold.append(rng.integers(0, labels, length).tolist())
    return words, gold


def fitted(words: list[list[str]], gold: list[list[int]], labels: int = 5, **options: Any) -> Hmm:
    return estimate(words, [np.array(y, np.int64) for y in gold], labels, **options)


WORDS, GOLD = corpus(0)
HMM = fitted(WORDS, GOLD)
NEW = ["zzzing", "Zzzing", "caba", "", "動動動", "Z", "q", "Bas"]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("rare", "suffixes"), [(10, 10), (2, 3), (1, 0), (0, 4)])
def test_emissions_equal_the_definition(seed: int, rare: int, suffixes: int) -> None:
    """Of words seen and not, one label of five never seen; the first place is tested below."""
    words, gold = corpus(seed)
    model = fitted(words, gold, rare=rare, suffixes=suffixes, word_strength=0.7, suffix_strength=3.0)
    reference = ReferenceHmm(words, gold, 5, rare, suffixes)
    tested = [*dict.fromkeys(word for sentence in words for word in sentence), *NEW]
    prior = np.array([reference.prior(label) for label in range(5)])
    expected = [[reference.at_word(label, word, 0.7, 3.0) for label in range(5)] for word in tested]
    probabilities = np.exp(model.emissions(["first", *tested])[1:]) * prior
    np.testing.assert_allclose(probabilities, expected, rtol=1e-5, atol=2e-6)
    np.testing.assert_allclose(probabilities.sum(1), 1, rtol=1e-5)


@pytest.mark.parametrize("seed", range(5))
def test_transitions_equal_the_definition(seed: int) -> None:
    words, gold = corpus(seed)
    model = fitted(words, gold)
    reference = ReferenceHmm(words, gold, 5, 10, 10)
    states: list[int | str] = [*range(5), "edge"]
    expected = [[reference.transition(a, b) for b in states] for a in states]
    np.testing.assert_allclose(np.sum(expected, 1), 1)
    np.testing.assert_allclose(np.exp(model.transitions), np.array(expected)[:5, :5], rtol=1e-5)
    np.testing.assert_allclose(np.exp(model.start), np.array(expected)[5, :5], rtol=1e-5)
    np.testing.assert_allclose(np.exp(model.end), np.array(expected)[:5, 5], rtol=1e-5)


def test_nothing_is_impossible_unless_asked() -> None:
    assert all(np.isfinite(x).all() for x in (HMM.transitions, HMM.start, HMM.end, HMM.emissions(NEW)))
    strict = fitted(WORDS, GOLD, forbid_unseen=True)
    seen = np.zeros((6, 6), bool)
    for y in filter(None, GOLD):
        seen[[5, *y], [*y, 5]] = True
    np.testing.assert_array_equal(np.isfinite(strict.transitions), seen[:5, :5])
    np.testing.assert_array_equal(np.isfinite(strict.start), seen[5, :5])
    np.testing.assert_array_equal(np.isfinite(strict.end), seen[:5, 5])
    np.testing.assert_array_equal(strict.transitions[seen[:5, :5]], HMM.transitions[seen[:5, :5]])


def test_the_chain_scores_the_joint_probability() -> None:
    """The score of a path is the sum of its parts, and decoding finds the best."""
    words = ["aba", "ing", "Cas"]
    emissions = HMM.emissions(words)
    best = HMM.chain.decode(emissions)
    y = best.labels
    parts = (
        HMM.start[y[0]] + HMM.transitions[y[:-1], y[1:]].sum() + HMM.end[y[-1]] + emissions[range(3), y].sum()
    )
    assert best.score == pytest.approx(float(parts), rel=1e-5)
    assert best.optimal
    assert HMM.chain is HMM.chain


def test_the_first_word_may_be_capitalised_for_its_place() -> None:
    words = [["the", "cat", "sleeps"], ["Anna", "sleeps"], ["the", "Cat", "Anna"]]
    model = fitted(words, [[0, 1, 2], [3, 2], [0, 3, 3]])
    known, lower = model.emissions(["x", "the", "cat"])[1:]
    np.testing.assert_array_equal(model.emissions(["The"])[0], known)
    assert not np.array_equal(model.emissions(["x", "The"])[1], known)
    # One that was seen capitalised is taken as it stands.
    assert not np.array_equal(model.emissions(["Cat"])[0], lower)
    np.testing.assert_array_equal(model.emissions(["Cat"])[0], model.emissions(["x", "Cat"])[1])


def test_endings_and_capitals_tell_unknown_words() -> None:
    """Adverbs end in -ly, names are capitalised: words never seen follow."""
    rng = np.random.default_rng(1)
    stems = ["".join(rng.choice(list("bdfgklmnprt"), 4)) for _ in range(60)]
    words = [[stem + "ly", stem.title(), stem + "ed"] for stem in stems]
    model = fitted(words, [[0, 1, 2]] * len(words), 3)
    assert model.chain.decode(model.emissions(["x", "xqvly", "Xqv", "xqved"])).labels[1:].tolist() == [
        0,
        1,
        2,
    ]
    assert np.argmax(model.emissions(["x", "xqvly", "Xqv", "xqved"])[1:], 1).tolist() == [0, 1, 2]


def test_more_evidence_outweighs_the_ending() -> None:
    """A word seen often with one label keeps it, whatever its ending says."""
    words = [[f"{stem}ly"] for stem in "abcdefghij"] + [["family"]] * 30
    model = fitted(words, [[0]] * 10 + [[1]] * 30, 2)
    assert np.argmax(model.emissions(["x", "family", "homily"])[1:], 1).tolist() == [1, 0]


def test_an_empty_sentence() -> None:
    assert HMM.emissions([]).shape == (0, 5)


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.uint64])
def test_labels_of_any_integer_type(dtype: Any) -> None:
    model = estimate(WORDS, [np.array(y, dtype) for y in GOLD], 5)
    np.testing.assert_array_equal(model.transitions, HMM.transitions)
    np.testing.assert_array_equal(model.emissions(NEW), HMM.emissions(NEW))


def test_many_labels() -> None:
    """Beyond 16 bits; few sentences, so no transitions are made."""
    from certus.learn.features.abstraction import Counts, Hierarchy

    hierarchy = Hierarchy(70_000)
    hierarchy.add(np.array([-1]), Counts(np.array([0]), np.array([69_999]), np.array([3.0])), 1.0)
    scores = hierarchy.estimate_scores(np.full(70_000, 1 / 70_000))
    assert scores["labels"].tolist() == [69_999]
    assert scores["floors"] == pytest.approx(np.log(1 / 4))
    assert scores["scores"] == pytest.approx(np.log(70_000 * 3 / 4 + 1 / 4))


def test_through_a_model_file(tmp_path: Path) -> None:
    model_file.write(tmp_path / "m", "tagger", HMM.to_arrays(), {"learner": "hmm"})
    stored = model_file.verify(tmp_path / "m")
    model = Hmm.from_arrays(stored.arrays)
    assert model.vocabulary == HMM.vocabulary
    assert model.endings == HMM.endings
    assert model.scores is stored.arrays["scores"]
    for sentence in [*WORDS, NEW]:
        emissions = model.emissions(sentence)
        np.testing.assert_array_equal(emissions, HMM.emissions(sentence))
        np.testing.assert_array_equal(
            model.chain.decode(emissions).labels, HMM.chain.decode(emissions).labels
        )


def test_the_same_data_give_the_same_file(tmp_path: Path) -> None:
    for name in ("a", "b"):
        model_file.write(tmp_path / name, "tagger", fitted(*corpus(3)).to_arrays(), {})
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_arrays_that_do_not_belong_together_are_refused() -> None:
    arrays = HMM.to_arrays()
    with pytest.raises(certus.ModelError, match="lacks the array 'floors'"):
        DECLARATION.check({name: array for name, array in arrays.items() if name != "floors"})
    for name in ("floors", "offsets", "labels", "vocabulary"):
        with pytest.raises(certus.ModelError, match=rf"array '({name}|floors)' (gives|goes)"):
            DECLARATION.check({**arrays, name: arrays[name][: len(arrays[name]) // 2]})


@pytest.mark.parametrize(
    ("words", "labels", "options", "message"),
    [
        ([["a"]], [], {}, "1 sentences of words, but 0 of labels"),
        ([["a"], ["b", "c"]], [[0], [1]], {}, "sentence 1 has 2 words, but 1 labels"),
        ([], [], {}, "nothing to learn from"),
        ([[]], [[]], {}, "nothing to learn from"),
        ([["a"]], [[5]], {}, "label 5 is not one of 0 to 4"),
        ([["a"]], [[-1]], {}, "label -1 is not one of 0 to 4"),
        ([["a\0"]], [[0]], {}, r"U\+0000"),
        ([["a"]], [[0]], {"rare": -1}, "must not be negative"),
        ([["a"]], [[0]], {"suffixes": -1}, "must not be negative"),
        ([["a"]], [[0]], {"word_strength": 0.0}, "must be positive"),
        ([["a"]], [[0]], {"suffix_strength": float("nan")}, "must be positive"),
    ],
)
def test_what_cannot_be_learned_from_is_refused(
    words: Any, labels: Any, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(certus.InvalidInput, match=message):
        fitted(words, labels, **options)
