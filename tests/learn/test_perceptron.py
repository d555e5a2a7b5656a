"""The averaged perceptron equals a slow one exactly, resumes where it was, and refuses what it cannot do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import certus
from certus import _native
from certus.errors import InvalidInput
from certus.learn.perceptron import DECODERS
from tests.learn.problems import WORDS, Problem, Sentence, assert_same_state, features, learned
from tests.reference.perceptron import Floats, Perceptron

METHODS = [_native.METHODS.index(name) for name in DECODERS]
AUTO, VITERBI, CARPEDIEM, STAGGERED = METHODS


def decode(emissions: Floats, transitions: Floats, start: Floats, end: Floats) -> list[int]:
    """Many sequences score the same: this takes the one that the engine takes, proved best elsewhere."""
    chain = certus.Chain(transitions, start=start, end=end)
    labels: list[int] = chain.decode(emissions, method="viterbi").labels.tolist()
    return labels


def language(problem: Problem, sentences: int) -> tuple[list[Sentence], list[list[int]]]:
    """Labels that depend on the word and the place, but not always."""
    words = [problem.sentence(0, 6) for _ in range(sentences)]
    labels = problem.crf.labels
    gold = [
        [(WORDS.index(w) + t + int(problem.rng.random() < 0.2)) % labels for t, w in enumerate(sentence)]
        for sentence in words
    ]
    return words, gold


def keep_pairs(state: dict[str, Any]) -> dict[str, Any]:
    """What a state says of features of pairs, as it says it of others."""
    return {**state, **{name[5:]: array for name, array in state.items() if name.startswith("pair_")}}


@pytest.mark.parametrize("with_pairs", [False, True])
@pytest.mark.parametrize("seed", range(25))
def test_equals_the_slow_one(seed: int, with_pairs: bool) -> None:
    problem = Problem(seed, 1)
    crf = problem.crf
    words, gold = language(problem, 12)
    corpus = problem.corpus(words, gold)
    pairs = corpus if with_pairs else None  # all features, once more, of two labels in a row
    learner = _native.Perceptron(corpus, problem.tagset, VITERBI, pairs)
    slow = Perceptron(crf.parts, decode, with_pairs)
    for epoch in range(3):
        order = np.random.default_rng(epoch).permutation(12)
        report = learner.epoch(1 + order)
        errors = [slow.train(features(words[n]), gold[n]) for n in order]
        assert (report.errors, report.wrong) == (sum(errors), sum(e > 0 for e in errors))
    state = learner.state()
    rows = [("row", f, u) for f in range(5) for u in range(problem.units)]
    assert learned(state, rows) == {name: slow.rows.get((name[1], name[2]), 0) for name in rows}
    memories = {("row", f, u): slow.steps * w - slow.sums["row", f, u] for (f, u), w in slow.rows.items()}
    assert learned(state, rows, "memories") == {name: memories.get(name, 0) for name in rows}
    if with_pairs:
        steps = [("step", f, n) for f in range(5) for n in range(crf.labels**2)]
        names = {("row", f, n): slow.steps_of.get((f, n), 0) for _, f, n in steps}
        assert learned(keep_pairs(state), list(names)) == names
    compiled = learner.compile(corpus, problem.tagset, 0.0, pairs)
    columns = [compiled[f"transition_{name}"].tolist() for name in ("from", "to", "score")]
    transitions = {(a, b): w for a, b, w in zip(*columns, strict=True)}
    expected = {pair: slow.average("pair", *pair) for pair in slow.pairs}
    assert transitions == pytest.approx({pair: w for pair, w in expected.items() if w}, abs=1e-6)
    out = np.zeros((len(WORDS), crf.labels), np.float32)
    _native.Tagger(
        problem.extractor, problem.tagset, compiled["slots"], compiled["rows"], compiled["step"]
    ).emissions([[WORDS]], out)
    averages = [
        [sum(slow.average("row", f, u) for f in active for u in units) for units in crf.parts]
        for active in features(WORDS)
    ]
    np.testing.assert_allclose(out, averages, atol=12 * compiled["step"])


def trained(method: int, resume: int | None = None, with_pairs: bool = False) -> dict[str, Any]:
    problem = Problem(1, 1, labels=5)
    words, gold = language(problem, 60)
    corpus = problem.corpus(words, gold)
    pairs = corpus if with_pairs else None
    learner = _native.Perceptron(corpus, problem.tagset, method, pairs)
    for epoch in range(4):
        if epoch == resume:
            state = learner.state()
            learner = _native.Perceptron(corpus, problem.tagset, method, pairs)
            learner.epoch(np.arange(5)[::-1].copy())  # what it learned before must be forgotten
            learner.restore(state)
        learner.epoch(np.random.default_rng(epoch).permutation(61))
    assert learner.epochs == 4
    return learner.state()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("resume", [1, 3])
@pytest.mark.parametrize("with_pairs", [False, True])
def test_training_resumes_where_it_was(method: int, resume: int, with_pairs: bool) -> None:
    straight, resumed = trained(method, None, with_pairs), trained(method, resume, with_pairs)
    assert_same_state(straight, resumed)
    if with_pairs:
        assert_same_state(keep_pairs(straight), keep_pairs(resumed))


@pytest.mark.parametrize("method", METHODS)
def test_it_learns_what_can_be_learned(method: int) -> None:
    """A label is the word's number, but 4 after a 3: it takes transitions to say that."""
    problem = Problem(5, 1, labels=5)
    rng = np.random.default_rng(0)
    words = [rng.choice(WORDS, 6).tolist() for _ in range(100)]
    gold: list[list[int]] = [[] for _ in words]
    for sentence, labels in zip(words, gold, strict=True):
        for word in sentence:
            labels.append(4 if labels and labels[-1] == 3 else WORDS.index(word))
    corpus = problem.corpus(words, gold)
    learner = _native.Perceptron(corpus, problem.tagset, method)
    for _ in range(30):
        report = learner.epoch(1 + rng.permutation(100))
    assert (report.errors, report.wrong) == (0, 0)
    compiled = learner.compile(corpus, problem.tagset, 0.0)
    assert compiled["weights"] > 0


def restored(problem: Problem, corpus: _native.Corpus, weights: Floats) -> _native.Perceptron:
    """A perceptron that decodes by staggered decoding, with these transitions."""
    learner = _native.Perceptron(corpus, problem.tagset, STAGGERED)
    origin, target = np.nonzero(weights)
    state = learner.state()
    state["ngram_keys"] = (origin * (len(weights) + 1) + target + 1).astype(np.uint64)
    state["ngram_weights"] = weights[origin, target]
    state["ngram_memories"] = np.zeros(len(origin), np.float32)
    learner.restore(state)
    return learner


def make_degenerate_labels(weights: Floats, order: list[int]) -> dict[str, Floats]:
    """The largest transitions from, into and between the labels that are inactive at each level."""
    labels = len(order)
    rests = [order[1 << level :] for level in range((labels - 1).bit_length())]
    return {
        "leave": np.array([weights[:, rest].max(1) for rest in rests]),
        "enter": np.array([weights[rest].max(0) for rest in rests]),
        "between": np.array([[weights[np.ix_(a, b)].max() for b in rests] for a in rests]),
    }


def assert_up_to_date(learner: _native.Perceptron, labels: int, gold: list[list[int]]) -> None:
    """What staggered decoding prunes by is what would be made from the weights of now."""
    state = learner.state()
    weights = np.zeros((labels + 1, labels + 1), np.float32)
    keys = state["ngram_keys"].astype(np.int64) - 1
    weights[keys // (labels + 1), keys % (labels + 1)] = state["ngram_weights"]
    kept = learner.degenerate_labels()
    assert kept is not None
    order = kept.pop("order").tolist()
    counts = np.bincount(np.array([0] * 5 + [y for labels in gold for y in labels]), minlength=labels)
    assert order == np.argsort(-counts, kind="stable").tolist()
    for name, table in make_degenerate_labels(weights[:-1, :-1], order).items():
        assert kept[name].tolist() == table.reshape(-1).tolist(), name


@pytest.mark.parametrize("seed", range(40))
def test_degenerate_labels_are_kept_up_to_date(seed: int) -> None:
    """Through training, where weights rise and fall in small steps, and when others take their place."""
    problem = Problem(seed, 1, labels=2 + seed % 39)
    labels, draw = problem.crf.labels, np.random.default_rng(seed)
    words = [problem.sentence(1, 8) for _ in range(15)]
    gold = [draw.integers(0, max(1, labels - 1), len(sentence)).tolist() for sentence in words]
    corpus = problem.corpus(words, gold)
    learner = _native.Perceptron(corpus, problem.tagset, STAGGERED)
    assert_up_to_date(learner, labels, gold)
    for _ in range(3):
        for n in draw.permutation(16):
            learner.epoch(np.array([n]))
            assert_up_to_date(learner, labels, gold)
    for _ in range(3):
        weights = draw.integers(-3, 4, (labels, labels)).astype(np.float32)
        learner = restored(problem, corpus, weights)
        assert_up_to_date(learner, labels, gold)
        learner.epoch(np.arange(16))
        assert_up_to_date(learner, labels, gold)
    assert _native.Perceptron(corpus, problem.tagset, AUTO).degenerate_labels() is None


@pytest.mark.parametrize("method", [AUTO, CARPEDIEM, STAGGERED])
@pytest.mark.parametrize("seed", range(10))
def test_all_decoders_find_the_best_labels_in_training(method: int, seed: int) -> None:
    """Where no two sequences score the same, for words differ and weights are odd, all learn the same."""
    problem = Problem(seed, 1, labels=6)
    words = [problem.rng.permutation(WORDS)[: 1 + n % 4].tolist() for n in range(30)]
    gold = [problem.rng.integers(0, 6, len(sentence)).tolist() for sentence in words]
    corpus = problem.corpus(words, gold)
    states = []
    for decoder in (VITERBI, method):
        learner = _native.Perceptron(corpus, problem.tagset, decoder)
        state = learner.state()
        sizes = np.full(corpus.features, problem.units, np.uint32)
        draw = np.random.default_rng(seed)
        state["row_sizes"] = sizes
        state["row_units"] = np.tile(np.arange(problem.units, dtype=np.uint32), corpus.features)
        state["row_weights"] = draw.normal(0, 1, int(sizes.sum())).astype(np.float32)
        state["row_memories"] = np.zeros(int(sizes.sum()), np.float32)
        learner.restore(state)
        for epoch in range(3):
            learner.epoch(np.random.default_rng(epoch).permutation(31))
        states.append(learner.state())
    assert_same_state(*states)


def test_too_many_labels_are_refused() -> None:
    problem = Problem(0, 1)
    parts = np.zeros((40_000, 1), np.int32)
    with pytest.raises(InvalidInput, match="40000 labels have too many: train a pruned CRF instead"):
        _native.Perceptron(problem.corpus([], []), _native.Tagset(parts, 1, 1), AUTO)


def test_many_labels_are_fine_for_a_cascade() -> None:
    """More than fit in 16 bits."""
    problem = Problem(0, 1)
    labels = 70_000
    parts = np.stack([np.arange(labels) % 7, 7 + np.arange(labels)], 1).astype(np.int32)
    problem.tagset = _native.Tagset(parts, 7, 7 + labels)
    sentences = [["a", "b"], ["c", "d"]]
    gold = [[69_999, 3], [65_536, 12]]
    corpus = problem.corpus(sentences, gold)
    learner = problem.learner(corpus, least=0.01, rate=0.5)
    for _ in range(6):
        learner.epoch(np.array([1, 2], np.int64))
    compiled = learner.compile(corpus, 0.0)
    tagger = _native.Tagger(
        problem.extractor, problem.tagset, compiled["slots"], compiled["rows"], compiled["step"]
    )
    tagger.use_cascade(1, compiled["ngram_keys"], compiled["ngram_weights"], [0.01, 0.01])
    assert tagger.tag([[s] for s in sentences]).labels.tolist() == [69_999, 3, 65_536, 12]


def test_bad_input() -> None:
    problem = Problem(0, 1, labels=3)
    corpus = problem.corpus([], [])
    with pytest.raises(InvalidInput, match='only "auto", "carpediem", "staggered" and "viterbi"'):
        _native.Perceptron(corpus, problem.tagset, _native.METHODS.index("beam"))
    with pytest.raises(InvalidInput, match="label 7 at token 5"):
        _native.Perceptron(problem.corpus([["a"]], [[7]]), problem.tagset, AUTO)
    other = problem.corpus([["a"]], [[1]])
    with pytest.raises(InvalidInput, match="features of pairs are of other sentences"):
        _native.Perceptron(corpus, problem.tagset, AUTO, other)
    with pytest.raises(InvalidInput, match="another corpus"):
        _native.Perceptron(corpus, problem.tagset, AUTO, corpus).compile(corpus, problem.tagset, 0.0)
    many = _native.Tagset(np.arange(15_000, dtype=np.int32)[:, None], 15_000, 15_000)
    with pytest.raises(InvalidInput, match="15000 labels and sentences of 5 tokens are too many"):
        _native.Perceptron(corpus, many, AUTO, corpus)
    learner = _native.Perceptron(corpus, problem.tagset, AUTO)
    with pytest.raises(InvalidInput, match="there is no sentence 9"):
        learner.epoch(np.array([9]))
    none = np.zeros(0, np.uint64)
    empty = _native.number_features(none, none, none.view(np.int64), np.zeros(0, np.int32), 1)
    with pytest.raises(InvalidInput, match="another corpus"):
        learner.compile(empty, problem.tagset, 0.0)
    with pytest.raises(InvalidInput, match="another tag set"):
        learner.compile(corpus, Problem(1, 1, labels=2).tagset, 0.0)
    state = learner.state()
    for change in (
        {"numbers": np.zeros(4)},
        {"row_sizes": np.zeros(1, np.uint32)},
        {
            f"ngram_{name}": np.full(1, 16, t)
            for name, t in (("keys", np.uint64), ("weights", np.float32), ("memories", np.float32))
        },
    ):
        with pytest.raises(InvalidInput, match="other features, labels or options"):
            learner.restore({**state, **change})
