"""Trained chains: scores, best labels and probabilities against brute force, and what they refuse."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from certus.errors import InvalidInput
from certus.learn.crf.model import ChainCRF, ItemCorpus, make_trainer, train_crf
from tests.learn.corpora import Sample, named, sample
from tests.reference import crf as reference


def model_of(case: Sample, seed: int, scale: float = 1.0) -> ChainCRF:
    trainer = case.trainer(all_possible_transitions=True)
    trainer.weights = np.random.default_rng(seed).normal(size=trainer.size) * scale
    return ChainCRF.of_native(trainer.model())


CASES = [
    (sample(0, labels=3), 1.0),
    (sample(1, labels=2, weighted=True), 1.0),
    (sample(2, labels=9, lengths=(3, 0, 2)), 1.0),
    (sample(3, labels=1), 1.0),
    (sample(4, labels=3, weighted=True), 2000.0),
]


@pytest.mark.parametrize(("case", "scale"), CASES)
@pytest.mark.parametrize("threads", [1, 3])
def test_inference_is_that_of_brute_force(case: Sample, scale: float, threads: int) -> None:
    model = model_of(case, 5, scale)
    weights, corpus = named(model), case.corpus
    emissions = model.emissions(corpus, threads=threads)
    labels = model.decode(corpus, threads=threads)
    marginals = model.marginals(corpus, threads=threads)
    for s, tokens in enumerate(case.sentences):
        here = slice(*corpus.sentence_begin[s : s + 2])
        if not tokens:
            assert marginals.log_partitions[s] == 0
            continue
        _, logs, log_z = reference.log_probabilities(weights, tokens, case.labels)
        assert marginals.log_partitions[s] == pytest.approx(log_z, rel=1e-11)
        best = weights.score(tokens, labels[here])
        assert best == pytest.approx(logs.max() + log_z, rel=1e-12)
        assert marginals.probabilities[here] == pytest.approx(
            reference.marginals(weights, tokens, case.labels), abs=1e-9
        )
        for t, token in enumerate(tokens):
            for y in range(case.labels):
                score = sum(v * weights.state.get((f, y), 0.0) for f, v in token)
                assert emissions[here][t, y] == pytest.approx(score, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(("case", "scale"), CASES[:4])
def test_kbest_is_that_of_brute_force(case: Sample, scale: float) -> None:
    model = model_of(case, 6, scale)
    corpus = case.corpus
    for s, tokens in enumerate(case.sentences):
        best = model.decode_kbest(corpus, s, 7)
        found, logs = best.labels, best.log_probabilities
        if not tokens:
            assert found.shape == (1, 0)
            assert logs.tolist() == [0.0]
            continue
        paths, every, _ = reference.log_probabilities(named(model), tokens, case.labels)
        assert logs == pytest.approx(np.sort(every)[::-1][:7], abs=1e-9)
        of = {tuple(path): log for path, log in zip(paths.tolist(), every, strict=True)}
        assert [of[tuple(path)] for path in found.tolist()] == pytest.approx(logs.tolist(), abs=1e-9)
        assert len({tuple(path) for path in found.tolist()}) == min(7, len(paths))


def test_copies_are_the_same() -> None:
    case = CASES[0][0]
    model = model_of(case, 7)
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert np.array_equal(other.emissions(case.corpus), model.emissions(case.corpus))
        assert np.array_equal(other.decode(case.corpus), model.decode(case.corpus))
    assert repr(model) == f"ChainCRF(3 labels, 12 features, {len(model.row_weight)} weights)"


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        (([0, 1], [0, 1], [0], [np.nan]), "sentence 0, token 0: feature 0 has the value nan"),
        (
            ([0, 1, 3], [0, 1, 1, 2], [0, 4], [1.0, np.inf]),
            "sentence 1, token 1: feature 4 has the value inf",
        ),
        (([0, 2], [0, 1], [0]), "sentence_begin ends at token 2, but there are 1"),
        (([0, 1], [0, 2], [0]), "token_begin ends at feature 2, but there are 1"),
        (([1, 1], [0, 1], [0]), "sentence_begin must be"),
        (([0, 1], [0, 2, 1], [0]), "token_begin must be"),
        (([0, 1], [0, 1], [-1]), "from 0 to"),
        (([0, 1], [0, 1], [0.5]), "whole numbers"),
        (([0, 1], [0, 1], [0], [1.0, 2.0]), "values of shape"),
    ],
)
def test_bad_corpora_are_refused(arrays: tuple[Any, ...], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        ItemCorpus(*arrays)


def test_bad_labels_and_features_are_refused() -> None:
    corpus = ItemCorpus([0, 1], [0, 1], [3])
    with pytest.raises(InvalidInput, match="feature 3 is not one of 3"):
        make_trainer(corpus, [0], labels=1, features=3)
    with pytest.raises(InvalidInput, match="from 0 to 1"):
        make_trainer(corpus, [2], labels=2, features=4)
    with pytest.raises(InvalidInput, match="1 tokens, but gold labels of shape"):
        make_trainer(corpus, [0, 0], labels=2, features=4)
    with pytest.raises(InvalidInput, match="no tokens"):
        train_crf(ItemCorpus([0], [0], []), np.empty(0, int), labels=1, features=1)
    with pytest.raises(InvalidInput, match="threads must be"):
        train_crf(corpus, [0], labels=1, features=4, threads=0)
    model = train_crf(corpus, [0], labels=1, features=4)
    with pytest.raises(InvalidInput, match="feature 4 is unknown to a model of 4 features"):
        model.decode(ItemCorpus([0, 1], [0, 1], [4]))
    with pytest.raises(InvalidInput, match="sentence 1 is not one of the 1"):
        model.decode_kbest(corpus, 1, 1)
    with pytest.raises(InvalidInput, match="k must be"):
        model.decode_kbest(corpus, 0, 0)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (([0, 1], [2], [1.0], np.zeros((2, 2))), "outside of 0 to 1"),
        (([0, 2], [1, 0], [1.0, 1.0], np.zeros((2, 2))), "not increasing"),
        (([0, 2], [1, 1], [1.0, 1.0], np.zeros((2, 2))), "not increasing"),
        (([0, 2], [1], [1.0], np.zeros((2, 2))), "tells of 2 weights"),
        (([0, 1], [0], [np.inf], np.zeros((2, 2))), "not finite"),
        (([0, 1], [0], [1.0], np.zeros((2, 3))), "shape"),
        (([0, 0], [], [], np.zeros((0, 0))), "shape"),
    ],
)
def test_bad_weights_are_refused(rows: tuple[Any, ...], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        ChainCRF(*rows)


def test_rows_of_labels_may_start_anywhere() -> None:
    model = ChainCRF([0, 2, 2, 3], [0, 1, 0], [1.0, 2.0, 3.0], np.zeros((2, 2)))
    scores = model.emissions(ItemCorpus([0, 3], [0, 1, 2, 3], [0, 1, 2]))
    assert scores.tolist() == [[1.0, 2.0], [0.0, 0.0], [3.0, 0.0]]
