"""The native tagger equals brute force, with and without constraints; test_pruned_proofs has pruned ones."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from certus import _native
from certus.errors import InvalidInput
from tests.learn.problems import WORDS, Problem, Sentence, features
from tests.reference.pruned_crf import Labels, log_partition, posterior

Scores = dict[Labels, float]


class Tagged(NamedTuple):
    labels: list[Labels]
    scores: list[float]
    bound: float
    optimal: bool
    confidences: list[float]
    log_partition: float
    position: int


def tag(tagger: _native.Tagger, sentence: Sentence, k: int = 1, **options: Any) -> Tagged:
    found = tagger.tag([[sentence]], k=k, confidence=True, **options)
    rows = found.labels.reshape(k, len(sentence))
    n = int(found.found[0])
    assert (rows[n:] == -1).all()
    return Tagged(
        [tuple(row) for row in rows[:n].tolist()],
        found.scores[:n].tolist(),
        float(found.bounds[0]),
        bool(found.optimal[0]),
        found.confidences.tolist(),
        float(found.log_partitions[0]),
        int(found.positions[0]),
    )


def assert_best(found: Tagged, scores: Scores, k: int) -> None:
    """The k best of the sequences listed; multiples of STEP add up exactly, so scores are equal."""
    ranked = sorted(scores.values(), reverse=True)
    assert found.scores == pytest.approx(ranked[:k], abs=1e-9)
    assert len(set(found.labels)) == len(found.labels)
    assert [scores[labels] for labels in found.labels] == pytest.approx(found.scores, abs=1e-9)
    assert found.log_partition == pytest.approx(log_partition(scores), abs=1e-4)
    for t, confidence in enumerate(found.confidences):
        assert confidence == pytest.approx(posterior(scores, t, found.labels[0][t]), abs=1e-4)


def chained(problem: Problem, scale: float = 0.0) -> tuple[_native.Tagger, Scores, Sentence]:
    """A tagger that decodes with the chain engine, and the scores of all sequences of a sentence."""
    L = problem.crf.labels
    transitions = np.round(problem.rng.normal(0, 2, (L + 2, L))).astype(np.float32)
    transitions[problem.rng.random((L + 2, L)) < scale] = -np.inf
    tagger = problem.tagger()
    tagger.use_chain(_native.Model32(transitions[None, :L].copy(), True, transitions[L], transitions[L + 1]))
    sentence = problem.sentence(1)
    problem.crf.weights = {name: w for name, w in problem.crf.weights.items() if name[0] == "row"}
    scores = {
        y: s
        + float(
            transitions[L, y[0]] + sum(transitions[a, b] for a, b in pairwise(y)) + transitions[L + 1, y[-1]]
        )
        for y, s in problem.crf.all_scores(features(sentence)).items()
    }
    return tagger, {y: s for y, s in scores.items() if s > -np.inf}, sentence


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("seed", range(70))
def test_unpruned_cascades_equal_brute_force(order: int, seed: int) -> None:
    problem = Problem(seed, order)
    tagger = problem.tagger()
    for k in (1, 3, 40):
        sentence = problem.sentence()
        scores = problem.crf.all_scores(features(sentence))
        found = tag(tagger, sentence, k)
        assert_best(found, scores, k)
        assert found.optimal
        assert found.bound == found.scores[0]
        assert found.position == -1


@pytest.mark.parametrize("seed", range(60))
def test_chains_equal_brute_force(seed: int) -> None:
    tagger, scores, sentence = chained(Problem(seed, 1))
    for k in (1, 7):
        found = tag(tagger, sentence, k)
        assert_best(found, scores, k)
        assert found.optimal
        assert found.bound == found.scores[0]


def random_allowed(problem: Problem, length: int) -> list[NDArray[np.int32] | None]:
    draw = problem.rng
    labels = problem.crf.labels
    return [
        None if draw.random() < 0.3 else draw.integers(0, labels, int(draw.integers(1, 4))).astype(np.int32)
        for _ in range(length)
    ]


def satisfies(labels: Labels, allowed: list[NDArray[np.int32] | None]) -> bool:
    return all(options is None or y in options for y, options in zip(labels, allowed, strict=True))


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("seed", range(40))
def test_allowed_labels(order: int, seed: int) -> None:
    """Order 0 is a chain."""
    problem = Problem(seed, max(order, 1))
    if order:
        sentence = problem.sentence(1)
        tagger, scores = problem.tagger(), problem.crf.all_scores(features(sentence))
    else:
        tagger, scores, sentence = chained(problem)
    allowed = random_allowed(problem, len(sentence))
    found = tag(tagger, sentence, 4, allowed=[allowed])
    assert_best(found, {y: s for y, s in scores.items() if satisfies(y, allowed)}, 4)
    if order:
        pruned = tag(problem.tagger([0.2] * (1 + order)), sentence, 4, allowed=[allowed])
        assert pruned.scores == pytest.approx(found.scores, abs=1e-9)


def is_legal(labels: Labels, legal: NDArray[np.bool_]) -> bool:
    edge = len(legal) - 1
    return all(legal[a, b] for a, b in pairwise([edge, *labels, edge]))


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("seed", range(60))
def test_legal_sequences(order: int, seed: int) -> None:
    """With and without pruning: what is found is legal, and nothing is found only where nothing is legal."""
    problem = Problem(seed, order)
    legal = problem.rng.random((problem.crf.labels + 1,) * 2) < 0.5
    sentence = problem.sentence(1)
    scores = {y: s for y, s in problem.crf.all_scores(features(sentence)).items() if is_legal(y, legal)}
    found = tag(problem.tagger(), sentence, 4, legal=legal)
    pruned = tag(problem.tagger([0.3] * (1 + order)), sentence, 4, legal=legal)
    if scores:
        assert_best(found, scores, 4)
        assert found.optimal
        assert pruned.scores == pytest.approx(found.scores, abs=1e-9)
        assert all(is_legal(y, legal) for y in pruned.labels)
    else:
        assert found.labels == pruned.labels == []
        assert found.bound == -np.inf
        assert found.log_partition == -np.inf
        assert not found.optimal
        reached = [
            t
            for t in range(len(sentence))
            if any(is_start(y[: t + 1], legal) for y in problem.crf.all_scores(features(sentence)))
        ]
        assert found.position == min(len(reached), len(sentence) - 1)


def is_start(labels: Labels, legal: NDArray[np.bool_]) -> bool:
    return all(legal[a, b] for a, b in pairwise([len(legal) - 1, *labels]))


@pytest.mark.parametrize("seed", range(20))
def test_chains_with_forbidden_transitions(seed: int) -> None:
    tagger, scores, sentence = chained(Problem(seed, 1), scale=0.5)
    found = tag(tagger, sentence, 3)
    if scores:
        assert_best(found, scores, 3)
    else:
        assert found.labels == []
        assert 0 <= found.position < len(sentence)


@pytest.mark.parametrize("chain", [False, True])
def test_a_token_without_allowed_labels(chain: bool) -> None:
    problem = Problem(0, 1)
    tagger = chained(problem)[0] if chain else problem.tagger()
    nothing = np.zeros(0, np.int32)
    found = tag(tagger, ["a", "b", "c"], 2, allowed=[[None, None, nothing]])
    assert found.labels == []
    assert found.position == 2
    assert found.bound == -np.inf
    assert found.confidences == [0.0] * 3


@pytest.mark.parametrize("chain", [False, True])
def test_a_sentence_without_tokens(chain: bool) -> None:
    problem = Problem(1, 2)
    tagger = chained(problem)[0] if chain else problem.tagger()
    found = tag(tagger, [], 3, allowed=[[]])
    assert found == Tagged([()], [0.0], 0.0, True, [], 0.0, -1)
    assert tagger.tag([]).found.tolist() == []


@pytest.mark.parametrize("chain", [False, True])
def test_threads_change_nothing(chain: bool) -> None:
    problem = Problem(3, 2)
    tagger = chained(problem)[0] if chain else problem.tagger([0.1] * 3)
    sentences = [[problem.sentence()] for _ in range(50)]
    allowed = [None if problem.rng.random() < 0.5 else random_allowed(problem, len(s[0])) for s in sentences]
    one, two = (tagger.tag(sentences, k=3, confidence=True, threads=n, allowed=allowed) for n in (1, 2))
    fields = ["labels", "found", "scores", "bounds", "optimal", "confidences", "log_partitions", "positions"]
    for name in fields:
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    for n, sentence in enumerate(sentences):
        alone = tagger.tag([sentence], k=3, confidence=True, allowed=[allowed[n]])
        np.testing.assert_array_equal(alone.scores, one.scores[3 * n : 3 * n + 3])


@pytest.mark.parametrize("order", [1, 2])
def test_scores_far_apart(order: int) -> None:
    """Over a hundred nats at a position: nothing underflows, and the answer is still that of brute force."""
    problem = Problem(5, order, labels=4, spread=1.0)
    problem.crf.weights = {n: w if n[0] == "row" else 64 * w for n, w in problem.crf.weights.items()}
    pairs = [w for name, w in problem.crf.weights.items() if len(name) == 3 and name[0] == "full"]
    assert max(pairs) - min(pairs) > 150
    sentence = ["a", "b", "c", "d"]
    assert_best(tag(problem.tagger(), sentence, 5), problem.crf.all_scores(features(sentence)), 5)


def test_unknown_features_are_ignored() -> None:
    problem = Problem(7, 1)
    out = np.zeros((2, problem.crf.labels), np.float32)
    problem.tagger().emissions([[["unheard", "a"]]], out)
    expected = [[problem.crf.weights.get(("row", 0, u), 0.0) for u in units] for units in problem.crf.parts]
    np.testing.assert_allclose(out[0], [sum(weights) for weights in expected], atol=1e-6)
    assert (out[0] != out[1]).any()


@pytest.mark.parametrize("units", [40, 5_000, 70_000, 200_000])
def test_compiled_weights_equal_the_rows(units: int) -> None:
    """Within the step that weights are rounded to, whether rows are lists or not, with any units."""
    rng = np.random.default_rng(units)
    labels = 30
    parts = np.stack([np.zeros(labels), rng.choice(np.arange(1, units), labels)], 1).astype(np.int32)
    parts[0, 1] = units - 1
    problem = Problem(0, 1)
    problem.tagset = tagset = _native.Tagset(parts, 1, units)
    corpus = problem.corpus([], [])
    learner = problem.learner(corpus)
    state = learner.state()
    sizes = [1, units, units // 100 + 1, 7, 0, 2]
    rows = [rng.choice(units, size, replace=False) for size in sizes]
    rows[0][0] = units - 1
    weights = [rng.normal(0, 1, size).astype(np.float32) for size in sizes]
    state |= {
        "row_sizes": np.array(sizes, np.uint32),
        "row_units": np.concatenate(rows).astype(np.uint32),
        "row_weights": np.concatenate(weights),
        "row_memories": np.zeros(sum(sizes), np.float32),
    }
    learner.restore(state)
    compiled = learner.compile(corpus, 0.0)
    assert compiled["features"] == 5
    dense = np.zeros((len(sizes), units))
    for f, (row, weight) in enumerate(zip(rows, weights, strict=True)):
        dense[f, row] = weight
    tagger = _native.Tagger(problem.extractor, tagset, compiled["slots"], compiled["rows"], compiled["step"])
    out = np.zeros((len(WORDS), labels), np.float32)
    tagger.emissions([[WORDS]], out)
    expected = (dense[0] + dense[1 : 1 + len(WORDS)])[:, parts].sum(2)
    np.testing.assert_allclose(out, expected, atol=2.1 * compiled["step"])
    assert np.abs(expected).max() > 0.1


def test_weights_too_small_are_left_out() -> None:
    problem = Problem(0, 1)
    corpus = problem.corpus([], [])
    learner = problem.learner(corpus)
    learner.restore(problem.state())
    everything, some = learner.compile(corpus, 0.0), learner.compile(corpus, 1.0)
    assert everything["weights"] == sum(name[0] == "row" for name in problem.crf.weights) + 1
    assert (
        some["weights"]
        == sum(name[0] == "row" and abs(w) >= 1 for name, w in problem.crf.weights.items()) + 1
    )
    assert np.abs(some["ngram_weights"][some["ngram_weights"] != 0]).min() >= 1


PROBLEM = Problem(2, 2, labels=3)
TAGGER = PROBLEM.tagger()
GOOD = [[["a", "b"]]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 0}, "k must be at least 1"),
        ({"threads": 0}, "threads must be at least 1"),
        ({"allowed": []}, "allowed has 0 items, but there are 1 sentences"),
        ({"allowed": 3}, "allowed must be a list, not int"),
        ({"allowed": [[None]]}, "sentence 0: allowed has 1 items, but there are 2 tokens"),
        ({"allowed": [[None, "x"]]}, "sentence 0, token 1: the allowed labels of a token"),
        ({"allowed": [[None, np.array([3], np.int32)]]}, "sentence 0, token 1: label 3 is not one of the 3"),
        ({"allowed": [[np.array([-1], np.int32), None]]}, "sentence 0, token 0: label -1"),
        ({"legal": np.ones((3, 3), bool)}, "legal must have 4 rows"),
    ],
)
def test_bad_requests(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        TAGGER.tag(GOOD, **options)


def test_bad_sentences() -> None:
    for sentences in ("ab", [["a"]], [[["a"], ["b"]]], [[[1]]]):
        with pytest.raises(InvalidInput):
            TAGGER.tag(sentences)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="a row per token"):
        TAGGER.emissions([[["a"]]], np.zeros((2, 3), np.float32))


def test_chains_take_no_legal() -> None:
    tagger = chained(Problem(2, 1, labels=3))[0]
    with pytest.raises(InvalidInput, match="use_chain"):
        tagger.tag(GOOD, legal=np.ones((4, 4), bool))


def test_taggers_need_a_decoder_that_fits() -> None:
    problem = Problem(2, 1, labels=3)
    corpus = problem.corpus([], [])
    compiled = problem.learner(corpus).compile(corpus, 0.0)
    tagger = _native.Tagger(problem.extractor, problem.tagset, compiled["slots"], compiled["rows"], 1.0)
    with pytest.raises(InvalidInput, match="use_chain or use_cascade"):
        tagger.tag(GOOD)
    with pytest.raises(InvalidInput, match="the tagger's 3 labels"):
        tagger.use_chain(_native.Model32(np.zeros((1, 4, 4), np.float32), True, None, None))
    keys, weights = compiled["ngram_keys"], compiled["ngram_weights"]
    for order, k, w, thresholds, message in (
        (0, keys, weights, [0.0], "order must be between 1"),
        (_native.MOST_ORDER + 1, keys, weights, [0.0] * 7, "order must be between 1"),
        (1, keys, weights, [0.0], "there must be 2 thresholds"),
        (1, keys, weights, [0.0, np.nan], "thresholds must be between 0 and 1"),
        (1, keys[:-1], weights[:-1], [0.0, 0.0], "not the compiled label sequences"),
        (1, keys, weights[:-1], [0.0, 0.0], "not the compiled label sequences"),
        (1, keys[:0], weights[:0], [0.0, 0.0], "not the compiled label sequences"),
        (1, np.ones_like(keys), weights, [0.0, 0.0], "not the compiled label sequences"),
    ):
        with pytest.raises(InvalidInput, match=message):
            tagger.use_cascade(order, k, w, thresholds)


def test_damaged_tables_are_refused() -> None:
    """Whatever word is damaged, the tagger refuses the table or reads only what there is."""
    problem = Problem(2, 1, labels=3)
    corpus = problem.corpus([], [])
    learner = problem.learner(corpus)
    learner.restore(problem.state())
    compiled = learner.compile(corpus, 0.0)
    slots, rows = compiled["slots"], compiled["rows"]
    out = np.zeros((len(WORDS), 3), np.float32)
    refused = 0
    for name, array in (("slots", slots), ("rows", rows)):
        for i in range(len(array)):
            damaged = {"slots": slots.copy(), "rows": rows.copy()}
            damaged[name][i] ^= 0x40000001
            try:
                _native.Tagger(problem.extractor, problem.tagset, **damaged, step=1.0).emissions(
                    [[WORDS]], out
                )
            except InvalidInput:
                refused += 1
    assert refused > len(slots) / 2
    for bad in (
        {"slots": slots[:0], "rows": rows},
        {"slots": slots, "rows": rows[:-1]},
        {"slots": slots[:3], "rows": rows},
    ):
        with pytest.raises(InvalidInput, match="not the compiled features"):
            _native.Tagger(problem.extractor, problem.tagset, **bad, step=1.0)
    with pytest.raises(InvalidInput, match="not the compiled features"):
        _native.Tagger(problem.extractor, problem.tagset, slots, rows, float("inf"))
