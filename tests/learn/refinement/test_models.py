"""What all refinement models share: inputs, baselines, predictions, legal sequences."""

from __future__ import annotations

import numpy as np
import pytest

import certus
from certus.errors import InvalidInput, NotFitted
from certus.learn.refinement import (
    EmRefinement,
    Parameters,
    PlainHmm,
    Refinement,
    SpectralRefinement,
    Unigram,
)
from certus.learn.refinement.sampling import sample
from tests.reference import refinement as reference

SENTENCES = sample(Parameters.random(3, 2, 5, seed=1, concentration=0.4), 150, seed=2).list_sentences()
TINY = [(["x", "y"], ["A", "B"]), (["x"], ["A"]), (["y", "x", "x"], ["A", "B", "A"])]


def models() -> list[Refinement]:
    return [Unigram(), PlainHmm(), EmRefinement(2, iterations=5), SpectralRefinement(2, deficient="ignore")]


def test_the_plain_hmm_counts() -> None:
    model = PlainHmm(smoothing=0.0).fit(TINY).parameters
    assert model.initial[:, 0].tolist() == [1.0, 0.0]
    assert model.transition[:, 0, :, 0].tolist() == [[0, 2 / 4], [1 / 2, 0]]
    assert model.stop[:, 0].tolist() == [2 / 4, 1 / 2]
    assert model.emission[:, 0].tolist() == [[3 / 4, 1 / 4, 0], [1 / 2, 1 / 2, 0]]
    smooth = PlainHmm(smoothing=2.0).fit(TINY).parameters
    assert smooth.emission[0, 0].tolist() == pytest.approx(
        [(3 + 2 * 4 / 7) / 6, (1 + 2 * 2 / 7) / 6, 2 / 7 / 6]
    )
    assert smooth.initial[:, 0].tolist() == pytest.approx([(3 + 2 * 4 / 6) / 5, (2 * 2 / 6) / 5])
    follow = np.array([1, 2, 3]) / 6  # A, B, the end
    assert smooth.transition[0, 0, :, 0].tolist() == pytest.approx(
        ((np.array([0, 2]) + 2 * follow[:2]) / 6).tolist()
    )
    assert smooth.stop[0, 0] == pytest.approx((2 + 2 * follow[2]) / 6)


def test_weights_count_sentences_more_than_once() -> None:
    twice = PlainHmm().fit([*TINY, TINY[0]]).parameters
    weighted = PlainHmm().fit(TINY, weights=[2, 1, 1]).parameters
    np.testing.assert_allclose(twice.transition, weighted.transition)
    assert PlainHmm().fit([*TINY, (["z"], ["C"])], weights=[1, 1, 1, 0]).names.labels == ("A", "B")


def test_unigram_takes_the_most_frequent_label() -> None:
    model = Unigram().fit([*TINY, (["z", "z"], ["B", "A"])])
    assert model.predict([["x", "y", "z", "never seen"]]) == [["A", "A", "A", "A"]]
    other = Unigram().fit([*TINY, (["y"], ["B"])])
    assert other.predict([["y"]]) == [["B"]]
    assert other.marginals([["x"]])[0].probabilities[0] == pytest.approx([3 / 4, 1 / 4], abs=1e-5)
    total = sum(np.exp(other.log_probabilities([(["x"], [a])])[0]) for a in "AB")
    assert total == pytest.approx(np.exp(other.marginals([["x"]])[0].log_probability))


def test_all_models_share_what_they_promise() -> None:
    asked = [x for x, _ in SENTENCES[:20]] + [[], ["never seen"]]
    for model in models():
        assert model.fit(SENTENCES) is model
        found = model.marginals(asked)
        assert [len(answer.probabilities) for answer in found] == [len(x) for x in asked]
        for answer, labels in zip(found, model.predict(asked), strict=True):
            np.testing.assert_allclose(answer.probabilities.sum(1), 1.0)
            assert (answer.probabilities >= 0).all()
            assert labels == [model.names.labels[a] for a in answer.best()]
        assert found[-2].log_probability == 0.0
        again = model.marginals(asked, threads=2)
        assert all((a.raw == b.raw).all() for a, b in zip(found, again, strict=True))
        gold = [labels for _, labels in SENTENCES]
        right = sum(
            a == b
            for got, want in zip(model.predict([x for x, _ in SENTENCES]), gold, strict=True)
            for a, b in zip(got, want, strict=True)
        )
        assert model.measure_accuracy(SENTENCES) == pytest.approx(100 * right / sum(map(len, gold)))
        assert [report.label for report in model.diagnostics.labels] == ["0", "1", "2"]
        assert sum(report.samples for report in model.diagnostics.labels) == sum(map(len, gold))


def test_label_sequences_add_up_to_the_observations() -> None:
    for model in models():
        model.fit(SENTENCES)
        x = SENTENCES[0][0][:3]
        every = [[str(a) for a in path] for path in reference.paths(3, 3)]
        logs = model.log_probabilities([(x, labels) for labels in every])
        if isinstance(model, SpectralRefinement) and np.isnan(logs).any():
            continue  # negative: said so
        assert np.exp(logs).sum() == pytest.approx(np.exp(model.marginals([x])[0].log_probability))
    assert model.log_probabilities([([], [])]).tolist() == [0.0]


def test_legal_sequences_with_the_most_labels_right() -> None:
    rng = np.random.default_rng(0)
    labels = ["B-N", "I-N", "O"]
    sentences = [
        ([str(x) for x in rng.integers(3, size=6)], [labels[a] for a in rng.integers(3, size=6)])
        for _ in range(50)
    ]
    model = PlainHmm().fit(sentences)
    legal = certus.bio(model.names.labels)
    asked = [x for x, _ in sentences]
    free, bound = model.predict(asked), model.predict(asked, legal=legal)
    ids = [model.names.find_label_ids(answer).tolist() for answer in bound]
    assert all(map(legal.accepts, ids))
    assert free != bound
    paths = [path for path in reference.paths(3, 6) if legal.accepts(path.tolist())]
    for n, x in enumerate(asked[:5]):
        pairs = [(x, [model.names.labels[a] for a in path]) for path in paths]
        mass = np.exp(model.log_probabilities(pairs))
        p = np.zeros((6, 3))  # of each label, given that the labels are legal
        for path, own in zip(paths, mass / mass.sum(), strict=True):
            p[np.arange(6), path] += own
        worth = [p[np.arange(6), path].sum() for path in paths]
        assert p[np.arange(6), ids[n]].sum() == pytest.approx(max(worth))
    with pytest.raises(InvalidInput, match="legal is over other labels"):
        model.predict(asked, legal=certus.bio(labels[::-1]))


def test_what_cannot_be_used_is_refused() -> None:
    for model in models():
        with pytest.raises(NotFitted, match=f"this {type(model).__name__} is not fitted"):
            model.predict([["x"]])
    model = PlainHmm()
    with pytest.raises(InvalidInput, match="nothing to learn from"):
        model.fit([([], [])])
    with pytest.raises(InvalidInput, match="sentence 1 has 2 observations, but 1 labels"):
        model.fit([(["x"], ["A"]), (["x", "y"], ["A"])])
    with pytest.raises(InvalidInput, match="sentence 0 is no pair"):
        model.fit(["x"])  # type: ignore[list-item]
    with pytest.raises(InvalidInput, match="sentence 0 has a string where a list"):
        model.fit([("xy", "AB")])
    with pytest.raises(InvalidInput, match="weights must be 1 finite numbers"):
        model.fit([(["x"], ["A"])], weights=[-1])
    with pytest.raises(InvalidInput, match="'C' is not one of the 2 labels of the model: A, B"):
        model.fit(TINY).log_probabilities([(["x"], ["C"])])
    with pytest.raises(InvalidInput, match="sentence 0 has 1 observations, but 2 labels"):
        model.log_probabilities([(["x"], ["A", "B"])])
    with pytest.raises(InvalidInput, match="sentence 1 is the string 'xy'"):
        model.predict([["x"], "xy"])
    with pytest.raises(InvalidInput, match="smoothing must be a number"):
        PlainHmm(smoothing=float("nan"))


def test_what_a_model_rules_out_is_told() -> None:
    model = PlainHmm(smoothing=0.0).fit(TINY)
    (answer,) = model.marginals([["never seen"]])
    assert answer.log_probability == -np.inf
    assert answer.probabilities.tolist() == [[0.5, 0.5]]
