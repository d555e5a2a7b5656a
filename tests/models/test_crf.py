"""certus.CRF, in place of sklearn_crfsuite.CRF."""

from __future__ import annotations

import copy
import inspect
import math
import pickle
from collections import OrderedDict, UserDict
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV, cross_val_predict, cross_val_score
from sklearn.utils.validation import check_is_fitted

import certus
from certus import CRF, InvalidInput, ModelError, NotFitted
from certus._native import CrfVocabulary

WORDS = {"the": "D", "a": "D", "dog": "N", "cat": "N", "house": "N", "barks": "V", "sleeps": "V", "sees": "V"}
TEXTS = [
    "the dog barks",
    "a cat sleeps",
    "the cat sees a dog",
    "a dog sees the house",
    "the house",
    "dog barks",
    "sleeps",
    "the cat sees the dog",
]


def features(words: list[str], t: int) -> dict[str, Any]:
    out: dict[str, Any] = {"word": words[t], "bias": 1.0, "first": t == 0, "suffix": {"2": words[t][-2:]}}
    if t:
        out["before"] = words[t - 1]
    return out


def sentence(text: str) -> list[dict[str, Any]]:
    words = text.split()
    return [features(words, t) for t in range(len(words))]


X = [sentence(text) for text in TEXTS]
Y = [[WORDS[word] for word in text.split()] for text in TEXTS]


@pytest.fixture(scope="module")
def fitted() -> CRF:
    return CRF(c1=0.05, c2=0.05).fit(X, Y)


def names_of(token: Any) -> dict[str, float]:
    """What the reader makes of a token."""
    vocabulary = CrfVocabulary()
    corpus = vocabulary.intern([[token]])
    numbers, values = corpus.numbers, corpus.values
    text, begin = vocabulary.text, vocabulary.begin
    names = [text[a:b].decode() for a, b in pairwise(begin)]
    weights = [1.0] * len(numbers) if values is None else values.tolist()
    return dict(zip([names[n] for n in numbers], weights, strict=True))


# --- the interface


def test_parameters_are_those_of_sklearn_crfsuite_and_two_more() -> None:
    theirs = (
        "algorithm min_freq all_possible_states all_possible_transitions c1 c2 max_iterations num_memories "
        "epsilon period delta linesearch max_linesearch calibration_eta calibration_rate calibration_samples "
        "calibration_candidates calibration_max_trials pa_type c error_sensitive averaging variance gamma "
        "verbose model_filename keep_tempfiles trainer_cls"
    )
    assert list(inspect.signature(CRF).parameters) == [*theirs.split(), "threads", "seed"]
    assert list(CRF().get_params()) == list(inspect.signature(CRF).parameters)


def test_parameters_are_kept_as_given() -> None:
    model = CRF(algorithm="nonsense", c1="wrong", linesearch=["x"])  # type: ignore[arg-type]
    assert model.get_params()["c1"] == "wrong"
    assert model.set_params(c1=0.5, algorithm="ap") is model
    assert repr(model) == "CRF(algorithm='ap', c1=0.5, linesearch=['x'])"
    with pytest.raises(InvalidInput, match="no parameter 'depth'"):
        model.set_params(depth=3)


def test_it_learns(fitted: CRF) -> None:
    predicted = fitted.predict(X)
    assert [list(labels) for labels in predicted] == Y
    assert fitted.score(X, Y) == 1.0
    assert fitted.predict_single(X[2]) == Y[2]
    assert all(type(label) is str for labels in predicted for label in labels)


def test_a_row_of_lists_even_where_lengths_agree(fitted: CRF) -> None:
    predicted = fitted.predict([X[0], X[1]])
    assert predicted.shape == (2,)
    assert predicted.dtype == object
    assert isinstance(predicted[0], list)
    assert fitted.predict([]).shape == (0,)
    assert fitted.predict([[]])[0] == []


def test_score_is_the_accuracy_of_tokens(fitted: CRF) -> None:
    wrong = [list(labels) for labels in Y]
    wrong[0][0] = "X"
    assert fitted.score(X, wrong) == pytest.approx(1 - 1 / sum(map(len, Y)))


def test_marginals_are_probabilities_of_the_model(fitted: CRF) -> None:
    rows = fitted.predict_marginals_single(X[2])
    best = fitted.predict_kbest([X[2]], k=3**5)[0]
    for t, row in enumerate(rows):
        assert list(row) == fitted.classes_
        assert sum(row.values()) == pytest.approx(1)
        for label, p in row.items():
            assert p == pytest.approx(sum(q for labels, q in best if labels[t] == label), abs=1e-12)
    assert fitted.predict_marginals(X)[2] == rows


def test_kbest(fitted: CRF) -> None:
    every = fitted.predict_kbest(X, k=1000)
    for x, found in zip(X, every, strict=True):
        assert len(found) == min(1000, 3 ** len(x))
        assert sum(p for _, p in found) == pytest.approx(1)
        assert [p for _, p in found] == sorted((p for _, p in found), reverse=True)
        assert found[0][0] == fitted.predict_single(x)
        assert len({tuple(labels) for labels, _ in found}) == len(found)
        assert fitted.predict_kbest([x], k=2)[0] == found[:2]
    assert fitted.predict_kbest([[]], k=3) == [[([], 1.0)]]


def test_weights_by_name(fitted: CRF) -> None:
    states, steps = fitted.state_features_, fitted.transition_features_
    assert states["word:dog", "N"] > 0
    assert all(value != 0 for value in (*states.values(), *steps.values()))
    assert {label for _, label in states} <= set(fitted.classes_)
    assert set(steps) <= {("D", "N"), ("N", "V"), ("V", "D")}
    assert sorted({name for name, _ in states}) == sorted(fitted.attributes_)
    assert fitted.num_attributes_ == len(fitted.attributes_)
    assert fitted.size_ > 0
    assert fitted.classes_ == ["D", "N", "V"]  # as met


def test_weights_explain_the_scores(fitted: CRF) -> None:
    best = fitted.predict_kbest([X[0]], k=2)[0]

    def score(labels: list[str]) -> float:
        total = sum(fitted.transition_features_.get(pair, 0.0) for pair in pairwise(labels))
        for token, label in zip(X[0], labels, strict=True):
            total += sum(v * fitted.state_features_.get((n, label), 0.0) for n, v in names_of(token).items())
        return total

    assert math.log(best[0][1] / best[1][1]) == pytest.approx(score(best[0][0]) - score(best[1][0]))


def test_training_log(fitted: CRF) -> None:
    log = fitted.training_log_
    assert [entry["num"] for entry in log] == list(range(1, len(log) + 1))
    assert all(entry["time"] >= 0 for entry in log)
    assert log[-1]["loss"] < log[0]["loss"]


def test_development_sentences_are_scored_on_the_way(capsys: pytest.CaptureFixture[str]) -> None:
    model = CRF(max_iterations=5, verbose=True).fit(X, Y, X_dev=X[:3], y_dev=[*Y[:2], ["?"] * 5])
    assert model.training_log_[-1]["dev_accuracy"] == pytest.approx(6 / 11)
    assert len(capsys.readouterr().out.splitlines()) == len(model.training_log_) == 5


@pytest.mark.parametrize("algorithm", ["lbfgs", "l2sgd", "ap", "pa", "arow", "sgd", "averaged-perceptron"])
def test_every_algorithm(algorithm: str) -> None:
    assert CRF(algorithm=algorithm, max_iterations=20).fit(X, Y).score(X, Y) > 0.9


def test_options_reach_the_trainer() -> None:
    assert len(CRF(c1=1e3).fit(X, Y).state_features_) == 0
    few = CRF(min_freq=3).fit(X, Y)
    assert 0 < few.num_attributes_ < CRF().fit(X, Y).num_attributes_
    everything = CRF(all_possible_states=True, all_possible_transitions=True, c2=0.1).fit(X, Y)
    assert len(everything.transition_features_) == 9
    assert len(everything.state_features_) == 3 * everything.num_attributes_
    assert CRF(threads=3).fit(X, Y).state_features_ == CRF().fit(X, Y).state_features_
    assert CRF(algorithm="ap", seed=1, max_iterations=1).fit(X, Y).state_features_ != (
        CRF(algorithm="ap", seed=2, max_iterations=1).fit(X, Y).state_features_
    )


def test_fitting_again_forgets(fitted: CRF) -> None:
    model = CRF(c1=0.05, c2=0.05).fit(X[:1], Y[:1]).fit(X, Y)
    assert model.state_features_ == fitted.state_features_


def test_inputs_are_left_alone() -> None:
    before = copy.deepcopy((X, Y))
    CRF(max_iterations=2).fit(X, Y).predict(X)
    assert before == (X, Y)


# --- features


@pytest.mark.parametrize(
    ("token", "names"),
    [
        ({"a": "b"}, {"a:b": 1.0}),
        ({"a": 2, "b": 0.5, "c": -1}, {"a": 2.0, "b": 0.5, "c": -1.0}),
        ({"a": True, "b": False}, {"a": 1.0, "b": 0.0}),
        ({"a": {"b": {"c": "d", "e": 2}}}, {"a:b:c:d": 1.0, "a:b:e": 2.0}),
        ({"a": ["b", "c"]}, {"a:b": 1.0, "a:c": 1.0}),
        ({"a": {"c", "b"}}, {"a:b": 1.0, "a:c": 1.0}),
        ({"a": {"b": ["c"], "d": {"e"}}, "f": "g"}, {"a:b:c": 1.0, "a:d:e": 1.0, "f:g": 1.0}),
        (["a", "b:c"], {"a": 1.0, "b:c": 1.0}),
        (("a",), {"a": 1.0}),
        ({"a", "b"}, {"a": 1.0, "b": 1.0}),
        ({b"a": b"b"}, {"a:b": 1.0}),
        ({"ä": "\N{SNOWMAN}"}, {"ä:\N{SNOWMAN}": 1.0}),
        ({"": ""}, {":": 1.0}),
        ({"a": np.float32(0.5), "b": np.int64(3), "c": np.bool_(True)}, {"a": 0.5, "b": 3.0, "c": 1.0}),
        ({"a": Fraction(1, 4)}, {"a": 0.25}),
        (OrderedDict(a="b"), {"a:b": 1.0}),
        (UserDict({"a": 2.0}), {"a": 2.0}),
        ({"a": []}, {}),
        ([], {}),
    ],
)
def test_features_by_name(token: Any, names: dict[str, float]) -> None:
    assert names_of(token) == names


def test_features_are_numbered_as_met_and_sets_in_order() -> None:
    vocabulary = CrfVocabulary()
    letters = {f"f{n}" for n in range(30)}
    vocabulary.intern([[{"z": "1"}, letters, {"z": "1"}]])
    text, begin = vocabulary.text.decode(), vocabulary.begin
    names = [text[a:b] for a, b in pairwise(begin)]
    assert names == ["z:1", *sorted(letters)]


def test_many_features_keep_their_numbers() -> None:
    vocabulary = CrfVocabulary()
    tokens = [[f"feature {n}", str(n)] for n in range(5000)]
    first = vocabulary.intern([tokens]).numbers
    assert np.array_equal(first, np.arange(10000))
    assert np.array_equal(vocabulary.lookup([tokens]).numbers, first)
    assert len(vocabulary.lookup([[["feature 5000", "feature", "", "feature 12"]]]).numbers) == 1
    assert len(vocabulary) == 10000


def test_unknown_features_are_ignored(fitted: CRF) -> None:
    strange = [{**token, "new": "thing", "score": 1e300} for token in X[0]]
    assert fitted.predict_marginals_single(strange) == fitted.predict_marginals_single(X[0])
    assert len(fitted.predict_single([{"nothing": "known"}, {}])) == 2


def test_lists_of_names_and_generators() -> None:
    names = [[list(names_of(token)) for token in tokens] for tokens in X]
    model = CRF(c2=0.1).fit((iter(tokens) for tokens in names), (iter(labels) for labels in Y))
    assert [list(labels) for labels in model.predict(iter(names))] == Y


def test_deep_nesting_does_not_crash() -> None:
    token: dict[str, Any] = {}
    for _ in range(100_000):
        token = {"a": token}
    with pytest.raises(RecursionError):
        names_of(token)


# --- bad input


def refused(message: str, *arguments: Any, **options: Any) -> None:
    with pytest.raises(InvalidInput, match=message):
        CRF(**options).fit(*arguments)


def test_lengths_that_differ() -> None:
    refused("X has 8 sentences, but there are labels for 7", X, Y[:-1])
    refused(r"sentence 2 has 5 tokens \(X\[2\]\) but 4 labels", X, [*Y[:2], Y[2][:-1], *Y[3:]])
    refused("sentence 0 has 3 tokens", (iter(x) for x in X), [Y[1][:1], *Y[1:]])
    refused("give both or neither", X, Y, X)
    refused("X_dev has 1 sentences, but there are labels for 2", X, Y, X[:1], Y[:2])
    refused(r"X_dev\[1\]", X, Y, X[:2], [Y[0], Y[0][:1]])


def test_nothing_to_learn_from() -> None:
    refused("X is empty", [], [])
    refused("no tokens", [[]], [[]])


@pytest.mark.parametrize(("value", "name"), [(math.nan, "nan"), (math.inf, "inf"), (-math.inf, "-inf")])
def test_values_that_are_not_finite(value: float, name: str, fitted: CRF) -> None:
    bad = [X[0], [X[1][0], {"deep": {"x": value}}, X[1][2]]]
    message = rf"X\[1\]\[1\]: feature 'deep:x' has the value {name}; values must be finite"
    refused(message, bad, Y[:2])
    with pytest.raises(InvalidInput, match=message):
        fitted.predict(bad)
    refused(r"X_dev\[1\]\[1\]", X, Y, bad, Y[:2])


@pytest.mark.parametrize(
    ("token", "message"),
    [
        ("word", r"X\[0\]\[0\] is a str; a token is a dict"),
        (3, r"X\[0\]\[0\] is a int; a token is a dict"),
        (None, r"X\[0\]\[0\] is a NoneType"),
        ({"a": None}, r"X\[0\]\[0\]: feature 'a' has a value of type NoneType; values are"),
        ({"a": {"b": object()}}, "feature 'a:b' has a value of type object"),
        ({1: "a"}, "name is a int; names are strings"),
        ([1], "name is a int"),
        ({"a": "\ud800"}, "lone surrogate"),
    ],
)
def test_tokens_that_are_none(token: Any, message: str) -> None:
    refused(message, [[token]], [["L"]])


def test_sentences_that_are_none() -> None:
    refused(r"X\[0\] is a str; a sentence is a list", ["text"], [["L"]])
    refused(r"X\[0\] is a dict; a sentence is a list", [{"a": "b"}], [["L"]])
    refused("X is a str", "text", [["L"]])
    refused("y is a int", X, 3)
    refused(r"y\[1\] is a str; it must be a list", X, [Y[0], "NNN", *Y[2:]])
    refused(r"y\[1\]\[2\] is 7, a int; labels must be strings", X, [Y[0], ["D", "N", 7], *Y[2:]])


def test_labels_may_be_numpy_strings() -> None:
    model = CRF(c2=0.1).fit(X, [np.array(labels) for labels in Y])
    assert all(type(label) is str for label in model.classes_)
    assert model.score(X, np.array([np.array(labels) for labels in Y], object)) == 1.0


def test_bad_parameters() -> None:
    refused("unknown algorithm 'svm'; choose one of: lbfgs, l2sgd, sgd, ap, pa, arow", X, Y, algorithm="svm")
    refused(
        "algorithm 'ap' has no c1, variance; it has epsilon, max_iterations",
        X,
        Y,
        algorithm="ap",
        c1=1,
        variance=2,
    )
    refused("c2 must be a number of at least 0, not -1", X, Y, c2=-1)
    refused("max_iterations must be a whole number", X, Y, max_iterations="10")
    refused("trainer_cls must be None", X, Y, trainer_cls=object)
    refused("threads must be", X, Y, threads=0)
    refused("seed must be", X, Y, seed=-1)
    refused("min_freq must be", X, Y, min_freq=-1)


def test_before_training() -> None:
    model = CRF()
    for ask in (
        lambda: model.predict(X),
        lambda: model.predict_marginals(X),
        lambda: model.predict_kbest(X, k=2),
        lambda: model.score(X, Y),
        lambda: model.save("never"),
    ):
        with pytest.raises(NotFitted, match="call fit"):
            ask()
    assert [getattr(model, name) for name in ("classes_", "training_log_")] == [None, None]


def test_bad_requests(fitted: CRF) -> None:
    with pytest.raises(InvalidInput, match="k must be a whole number of at least 1"):
        fitted.predict_kbest(X, k=0)
    with pytest.raises(InvalidInput, match="sentence 1 has 3 tokens"):
        fitted.score(X[:2], [Y[0], ["D"]])
    with pytest.raises(InvalidInput, match="X is a dict"):
        fitted.predict({"a": "b"})


# --- copies, files, threads


def test_copies_and_pickles(fitted: CRF) -> None:
    for other in (pickle.loads(pickle.dumps(fitted)), copy.deepcopy(fitted), copy.copy(fitted)):
        assert other.get_params() == fitted.get_params()
        assert other.state_features_ == fitted.state_features_
        assert list(other.predict_marginals(X)) == list(fitted.predict_marginals(X))
        assert other.training_log_ == fitted.training_log_
    assert pickle.loads(pickle.dumps(CRF(c1=2))).c1 == 2


def test_files(fitted: CRF, tmp_path: Path) -> None:
    path = tmp_path / "model.certus"
    fitted.save(path)
    other = CRF.load(path)
    assert other.state_features_ == fitted.state_features_
    assert list(other.predict_marginals(X)) == list(fitted.predict_marginals(X))
    assert other.get_params() == {**fitted.get_params(), "algorithm": "lbfgs"}
    written = CRF(c1=0.05, c2=0.05, model_filename=tmp_path / "too.certus").fit(X, Y)
    assert CRF.load(tmp_path / "too.certus").state_features_ == written.state_features_
    refused("folder", X, Y, model_filename=tmp_path / "no" / "model")


def test_files_that_are_no_model(fitted: CRF, tmp_path: Path) -> None:
    path = tmp_path / "model.certus"
    fitted.save(path)
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(ModelError):
        CRF.load(path)
    with pytest.raises(ModelError):
        CRF.load(tmp_path / "none")
    from certus.storage import model_file

    model_file.write(path, "tagger", {"x": np.zeros(1)}, {})
    with pytest.raises(ModelError, match="holds a tagger, not a crf"):
        CRF.load(path)
    model_file.write(path, "crf", {"x": np.zeros(1)}, {})
    with pytest.raises(ModelError, match="damaged or of another version"):
        CRF.load(path)
    good = {
        "names": np.frombuffer(b"ab", np.uint8),
        "names.begin": np.array([0, 1, 2]),
        "states.begin": np.array([0, 1, 2]),
        "states.label": np.array([0, 1], np.int32),
        "states.weight": np.ones(2),
        "transitions": np.zeros((2, 2)),
    }
    about = {"labels": ["A", "B"], "options": {}}
    model_file.write(path, "crf", good, about)
    assert CRF.load(path).attributes_ == ["a", "b"]
    for wrong in ({"names.begin": np.array([0, 1, 200])}, {"names.begin": np.array([0, 2])}):
        model_file.write(path, "crf", {**good, **wrong}, about)
        with pytest.raises(ModelError, match="damaged or of another version"):
            CRF.load(path)


def test_many_threads_at_once(fitted: CRF) -> None:
    expected = [list(labels) for labels in fitted.predict(X)]
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(fitted.predict, [X * 20] * 16):
            assert [list(labels) for labels in found] == expected * 20


def test_threads_change_nothing(fitted: CRF) -> None:
    other = copy.copy(fitted).set_params(threads=4)
    assert list(other.predict(X * 10)) == list(fitted.predict(X * 10))
    assert list(other.predict_marginals(X * 10)) == list(fitted.predict_marginals(X * 10))


# --- scikit-learn


def test_clone() -> None:
    model = CRF(algorithm="lbfgs", c1=0.1, model_filename="x", threads=2)
    assert clone(model).get_params() == model.get_params()


def test_fitted_or_not(fitted: CRF) -> None:
    check_is_fitted(fitted)
    with pytest.raises(NotFittedError):
        check_is_fitted(CRF())


def test_grid_search() -> None:
    search = GridSearchCV(
        CRF(max_iterations=20), {"c1": [0.0, 1000.0], "c2": [0.1]}, cv=2, error_score="raise"
    )
    search.fit(X, Y)
    assert search.best_params_["c1"] == 0.0
    assert search.best_estimator_.score(X, Y) == 1.0
    assert len(search.predict(X)) == len(X)


def test_random_search() -> None:
    class Exponential:
        def rvs(self, random_state: Any = None) -> Any:
            return np.float64(random_state.exponential(0.1))

    class Count:
        def rvs(self, random_state: Any = None) -> Any:
            return np.int64(random_state.integers(5, 9) if hasattr(random_state, "integers") else 7)

    search = RandomizedSearchCV(
        CRF(),
        {"c1": Exponential(), "c2": Exponential(), "max_iterations": Count()},
        n_iter=3,
        cv=2,
        random_state=0,
        error_score="raise",
        scoring=lambda model, x, y: model.score(x, y),
    )
    assert search.fit(X, Y).best_score_ > 0.5


def test_cross_validation() -> None:
    assert len(cross_val_score(CRF(c2=0.1), X, Y, cv=2, error_score="raise")) == 2
    predicted = cross_val_predict(CRF(c2=0.1), X, Y, cv=2)
    assert [len(labels) for labels in predicted] == [len(labels) for labels in Y]


def test_it_is_exported() -> None:
    assert certus.CRF is CRF
    assert "CRF" in certus.__all__
