"""certus.CRF has what sklearn_crfsuite.CRF has, before training, after it, and from a file."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import pytest

import certus
from certus import CRF, InvalidInput, NotFitted
from certus.models.crf.tagger import CRFTagger

X: list[list[dict[str, Any]]] = [
    [{"word": word, "bias": 1.0} for word in text.split()] for text in ["a b a", "b a", "a c"]
]
Y = [list(labels) for labels in ["XYX", "YX", "XY"]]
# Public names of sklearn_crfsuite.CRF 0.5, without what scikit-learn's own base class has.
METHODS = ["fit", "predict", "predict_single", "predict_marginals", "predict_marginals_single", "score"]
ATTRIBUTES = [
    *("tagger_", "classes_", "size_", "num_attributes_", "attributes_", "state_features_"),
    *("transition_features_", "training_log_"),
]


@pytest.fixture(scope="module")
def tagger() -> CRFTagger:
    return CRF(c2=0.1).fit(X, Y).tagger_


def test_nothing_of_the_interface_is_lacking() -> None:
    assert not [
        name for name in [*METHODS, *ATTRIBUTES, "get_params", "set_params"] if not hasattr(CRF(), name)
    ]


def test_attributes_are_none_before_training() -> None:
    assert all(getattr(CRF(), name) is None for name in ATTRIBUTES)
    with pytest.raises(NotFitted):
        CRF().predict(X)


def test_the_model_in_a_file_answers_until_the_next_training(tmp_path: Path) -> None:
    path = tmp_path / "m"
    fitted = CRF(c2=0.1, model_filename=path).fit(X, Y)
    other = CRF(model_filename=path)
    assert other.state_features_ == fitted.state_features_
    assert [*other.predict(X)] == [*fitted.predict(X)]
    assert other.fit(X[:1], Y[:1]).classes_ == CRF(model_filename=path).classes_ == ["X", "Y"]
    assert CRF(model_filename=tmp_path / "none").classes_ is None


def test_the_tagger_gives_probabilities(tagger: CRFTagger) -> None:
    crf = CRF(c2=0.1).fit(X, Y)
    assert tagger.labels() == crf.classes_
    for sentence in X:
        assert tagger.tag(sentence) == crf.predict_single(sentence) == tagger.tag()
        every = [tagger.probability(labels) for labels in product("XY", repeat=len(sentence))]
        assert sum(every) == pytest.approx(1)
        assert tagger.probability(tagger.tag()) == pytest.approx(max(every))
        marginals = crf.predict_marginals_single(sentence)
        assert [tagger.marginal("X", t) for t in range(len(sentence))] == [row["X"] for row in marginals]


def test_the_tagger_tells_what_is_in_the_model(tagger: CRFTagger) -> None:
    crf, info = CRF(c2=0.1).fit(X, Y), tagger.info()
    assert (info.transitions, info.state_features) == (crf.transition_features_, crf.state_features_)
    assert (list(info.labels), list(info.attributes)) == (crf.classes_, crf.attributes_)
    assert info.header["num_attrs"] == crf.num_attributes_


def test_the_tagger_refuses_what_it_cannot_answer(tagger: CRFTagger) -> None:
    with pytest.raises(InvalidInput, match="call set"):
        CRF(c2=0.1).fit(X, Y).tagger_.tag()
    tagger.set(X[1])
    with pytest.raises(InvalidInput, match="1 labels for 2 tokens"):
        tagger.probability(["X"])
    with pytest.raises(InvalidInput, match="'Z' is no label of this CRF; it has X, Y"):
        tagger.marginal("Z", 0)
    with pytest.raises(InvalidInput, match="position 2 is not one of the 2"):
        tagger.marginal("X", 2)


def test_everything_public_is_listed() -> None:
    assert {*certus.__all__, "corpus", "formats", "learn", "models"} <= set(dir(certus))
    assert not [name for name in dir(certus) if name.startswith("_") and not name.endswith("__")]
