"""Training pruned CRFs: gradients equal brute force, lost gold sequences are updated where they were lost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from certus import _native
from certus.errors import InvalidInput
from certus.lattice import TagLattices
from tests.learn.problems import WORDS, Problem, Sentence, assert_same_state, cascade, features, learned
from tests.reference.pruned_crf import Crf, CumulativePenalty, Name, log_partition, probabilities


def one_step(
    problem: Problem, sentence: Sentence, gold: Sequence[int], thresholds: Sequence[float] = ()
) -> tuple[_native.PrunedCrf, _native.PrunedCrfEpoch]:
    """A learner with the problem's weights after one step of rate 1, and what it reported."""
    learner = problem.learner(problem.corpus([sentence], [gold]))
    learner.restore(problem.state(thresholds, largest=False))
    return learner, learner.epoch(np.array([1], np.int64))


def assert_changed_by(learner: _native.PrunedCrf, crf: Crf, gradient: dict[Name, float]) -> None:
    """No weight but those of the gradient changed, and those did by what it says."""
    names = list({**crf.weights, **gradient})
    after = learned(learner.state(), names)
    changes = np.array([after[name] - crf.weights.get(name, 0.0) for name in names])
    np.testing.assert_allclose(changes, [gradient.get(name, 0.0) for name in names], atol=1e-5)
    assert np.abs(changes).max() > 5e-5


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("seed", range(40))
def test_a_step_is_the_gradient(order: int, seed: int) -> None:
    problem = Problem(seed, order, spread=1.0, labels=2 + seed % 3)
    sentence = problem.sentence(1, 4)
    gold = problem.rng.integers(0, problem.crf.labels, len(sentence)).tolist()
    learner, report = one_step(problem, sentence, gold)
    assert report.updates == (0,) * (order + 1) + (1,)
    assert_changed_by(learner, problem.crf, problem.crf.gradient(features(sentence), gold))
    scores = problem.crf.all_scores(features(sentence))
    loss = log_partition(scores) - scores[tuple(gold)]
    assert report.loss == pytest.approx(loss / len(sentence), abs=1e-4)


def worst(crf: Crf, sentence: Sentence) -> list[int]:
    """The least probable sequence: pruning is sure to lose it."""
    scores = crf.all_scores(features(sentence))
    return list(min(scores.items(), key=lambda item: item[1])[0])


def problems(order: int, count: int = 8) -> list[Problem]:
    """With several coarse tags, and labels that share them."""
    found = [Problem(seed, order, labels=4, spread=1.5) for seed in range(200)]
    return [problem for problem in found if 1 < problem.crf.groups < 4][:count]


def test_a_lost_coarse_tag_is_an_update_of_coarse_tags() -> None:
    lost = 0
    for problem in problems(2, 20):
        crf, sentence = problem.crf, problem.sentence(1, 4)
        gold = worst(crf, sentence)
        learner, report = one_step(problem, sentence, gold, [0.5])
        if report.updates != (1, 0, 0, 0):
            continue
        lost += 1
        tags = [crf.tag(y) for y in gold]
        assert_changed_by(
            learner, crf, crf.local_gradient(features(sentence), tags, [[g] for g in range(crf.groups)])
        )
    assert lost > 5


def test_a_lost_label_is_an_update_of_labels() -> None:
    for problem in problems(2):
        crf, sentence = problem.crf, problem.sentence(3, 4)
        scores = [[label_score(crf, active, y) for y in range(4)] for active in features(sentence)]
        gold = [int(np.argmin(row)) for row in scores]
        learner, report = one_step(problem, sentence, gold, [0.0, 0.5])
        assert report.updates == (0, 1, 0, 0)
        assert_changed_by(learner, crf, crf.local_gradient(features(sentence), gold, crf.parts))


def label_score(crf: Crf, active: list[int], label: int) -> float:
    return sum(crf.weights.get(("row", f, u), 0.0) for f in active for u in crf.parts[label])


@pytest.mark.parametrize("lost", [1, 2])
def test_a_lost_state_is_an_update_of_its_lattice(lost: int) -> None:
    """The cascade goes up to order 3, the gold sequence is lost after the lattice of order 1 or 2."""
    for problem in problems(3):
        crf, sentence = problem.crf, problem.sentence(2, 4)
        lower = Crf(crf.parts, crf.groups, lost, crf.weights)
        gold = worst(lower, sentence)
        learner, report = one_step(problem, sentence, gold, [0.0] * (1 + lost) + [0.6])
        expected = [0] * 5
        expected[1 + lost] = 1
        assert report.updates == tuple(expected)
        assert_changed_by(learner, crf, lower.gradient(features(sentence), gold))


def test_gold_that_stays_is_an_update_of_the_last_lattice() -> None:
    """With pruning that keeps the best path: the gradient then is that of what is left."""
    for problem in problems(2):
        crf, sentence = problem.crf, problem.sentence(2, 4)
        lattices = TagLattices(
            _native.search_all(problem.tagger([0.4, 0.4, 0.4]), [[sentence]], 1.0, 1), "abcd"[: crf.labels]
        )
        gold = lattices.decode()[0].tolist()
        _, report = one_step(problem, sentence, gold, [0.4, 0.4, 0.4])
        assert report.updates == (0, 0, 0, 1)
        everything = crf.all_scores(features(sentence))
        assert report.loss * len(sentence) <= log_partition(everything) - everything[tuple(gold)] + 1e-4


@pytest.mark.parametrize("seed", range(10))
def test_small_gradients_make_no_weights(seed: int) -> None:
    problem = Problem(seed, 2, labels=4, spread=1.0)
    sentence = problem.sentence(2, 4)
    gold = problem.rng.integers(0, 4, len(sentence)).tolist()
    learner = problem.learner(problem.corpus([sentence], [gold]), least=0.2)
    before = problem.state(largest=False)
    learner.restore(before)
    learner.epoch(np.array([1], np.int64))
    gradient = problem.crf.gradient(features(sentence), gold)
    after = learner.state()
    rows = {name: g for name, g in gradient.items() if name[0] == "row" and name not in problem.crf.weights}
    # A pair of features and units may come from several tokens, of which each counts for itself.
    once = {
        name: g for name, g in rows.items() if sum(name[1] in active for active in features(sentence)) == 1
    }
    new = learned(after, list(once))
    for name, g in once.items():
        assert (new[name] == 0) == (abs(g) < 0.2)


@pytest.mark.parametrize("seed", range(6))
def test_cumulative_penalty(seed: int) -> None:
    """Twelve steps, coarse tags and labels the same, so that every transition is changed in a known order."""
    rng = np.random.default_rng(seed)
    problem = Problem(seed, 1, labels=3)
    crf = problem.crf = Crf([[0, 3], [1, 4], [2, 5, 6]], 3, 1)
    problem.tagset = _native.Tagset(np.array([[0, 3, -1], [1, 4, -1], [2, 5, 6]], np.int32), 3, 7)
    sentences = [problem.sentence(1, 3) for _ in range(6)]
    gold = [rng.integers(0, 3, len(sentence)).tolist() for sentence in sentences]
    learner = problem.learner(problem.corpus(sentences, gold), l1=0.06, rate=0.5)
    learner.restore(problem.state(largest=False))
    order = [*range(6), *range(6)]
    learner.epoch(np.array(order, np.int64) + 1)
    penalty = CumulativePenalty(crf.weights)
    for n in order:
        penalty.due += 0.5 * 0.06
        for name, g in pieces(crf, features(sentences[n]), gold[n]):
            penalty.change(name, 0.5 * g)
    names = list(penalty.weights)
    state = learner.state()
    expected = np.array([penalty.weights[name] for name in names])
    np.testing.assert_allclose([*learned(state, names).values()], expected, atol=1e-4)
    received = [penalty.received[name] for name in names]
    np.testing.assert_allclose([*learned(state, names, "memories").values()], received, atol=1e-4)
    assert (expected == 0).sum() > 2
    assert (np.abs(expected) > 0.1).sum() > 5


def pieces(crf: Crf, sentence: list[list[int]], gold: list[int]) -> list[tuple[Name, float]]:
    """The gradient of a model of order 1, transition by transition, then token by token."""
    every = probabilities(crf.all_scores(sentence))
    T, L = len(sentence), crf.labels
    edges: list[tuple[Name, float]] = []
    for t in range(T + 1):
        for b in range(L) if t < T else [L]:
            for a in range(L) if t else [L]:
                p = sum(p for y, p in every.items() if ([L, *y, L])[t : t + 2] == [a, b])
                g = float(([L, *gold, L])[t : t + 2] == [a, b]) - p
                edges += [(("full", a, b), g), (("coarse", crf.tag(a), crf.tag(b)), g)]
    tokens: list[tuple[Name, float]] = []
    for t, active in enumerate(sentence):
        gradient: dict[int, float] = {}
        for y in range(L):
            g = float(gold[t] == y) - sum(p for labels, p in every.items() if labels[t] == y)
            for u in crf.parts[y]:
                gradient[u] = gradient.get(u, 0.0) + g
        tokens += [(("row", f, u), g) for f in active for u, g in gradient.items()]
    return edges + tokens


@pytest.mark.parametrize("burn_in", [0, 2])
def test_averages(burn_in: int) -> None:
    """Epochs of one step each: what is compiled is the mean of the weights after all steps but the first."""
    problem = Problem(4, 2, labels=3, spread=0.5)
    sentences = [problem.sentence(1, 4) for _ in range(7)]
    gold = [problem.rng.integers(0, 3, len(sentence)).tolist() for sentence in sentences]
    corpus = problem.corpus(sentences, gold)
    learner = problem.learner(corpus, burn_in=burn_in)
    emissions, sequences = [], []
    for n in range(7):
        learner.epoch(np.array([n + 1], np.int64))
        state = learner.state()
        names = [("row", f, u) for f in range(5) for u in range(problem.units)]
        rows = np.array([*learned(state, names).values()]).reshape(5, -1)
        emissions.append(
            [[(rows[0] + rows[1 + w])[units].sum() for units in problem.crf.parts] for w in range(4)]
        )
        sequences.append(
            dict(zip(state["ngram_keys"].tolist(), state["ngram_weights"].tolist(), strict=True))
        )
    compiled = learner.compile(corpus, 0.0)
    out = np.zeros((len(WORDS), 3), np.float32)
    cascade(problem, compiled, [0.0] * 3).emissions([[WORDS]], out)
    np.testing.assert_allclose(out, np.mean(emissions[burn_in:], 0), atol=1e-3)
    means = dict(zip(compiled["ngram_keys"].tolist(), compiled["ngram_weights"].tolist(), strict=True))
    for key in sequences[-1]:
        mean = np.mean([weights.get(key, 0.0) for weights in sequences[burn_in:]])
        assert means.get(key, 0.0) == pytest.approx(mean, abs=1e-4)


def trained(epochs: int, resume: int | None = None, **options: Any) -> dict[str, Any]:
    """The state after so many epochs, perhaps with a new learner from one on. Thresholds adapt meanwhile."""
    problem = Problem(9, 2, labels=5)
    sentences = [problem.sentence(1, 5) for _ in range(130)]
    gold = [[(WORDS.index(word) + (t % 2)) % 5 for t, word in enumerate(sentence)] for sentence in sentences]
    corpus = problem.corpus(sentences, gold)
    chosen = {"rate": 0.1, "decay": 0.3, "burn_in": 1, "least": 0.01, "wanted": [1.5, 2.0, 1.2], **options}
    learner = problem.learner(corpus, **chosen)
    for epoch in range(epochs):
        if epoch == resume:
            state = learner.state()
            learner = problem.learner(corpus, **chosen)
            learner.epoch(np.arange(3))  # what it learned before must be forgotten
            learner.restore(state)
        learner.epoch(np.random.default_rng(epoch).permutation(corpus.sentences))
    return learner.state()


@pytest.mark.parametrize("options", [{}, {"l1": 0.01}])
@pytest.mark.parametrize("resume", [1, 2])
def test_training_resumes_where_it_was(resume: int, options: dict[str, Any]) -> None:
    straight, resumed = trained(4, **options), trained(4, resume, **options)
    assert_same_state(straight, resumed)
    assert straight["numbers"][1] == 4


def test_it_learns() -> None:
    """A language in which the label depends on the word and on the label before."""
    problem = Problem(9, 1, labels=4)
    rng = np.random.default_rng(0)
    sentences = [rng.choice(WORDS, 6).tolist() for _ in range(200)]
    gold = []
    for sentence in sentences:
        labels = [0]
        for word in sentence:
            labels.append((WORDS.index(word) // 2 * 2 + labels[-1] % 2 + 1) % 4)
        gold.append(labels[1:])
    corpus = problem.corpus(sentences, gold)
    learner = problem.learner(corpus, rate=0.1)
    losses = [learner.epoch(1 + rng.permutation(200)).loss for _ in range(5)]
    compiled = learner.compile(corpus, 0.0)
    tagger = cascade(problem, compiled, [float(x) for x in compiled["thresholds"]])
    assert losses[-1] < 0.2 * losses[0]
    assert tagger.tag([[s] for s in sentences]).labels.tolist() == [y for labels in gold for y in labels]


def test_the_first_step_is_cheap() -> None:
    """Nothing was learned, all labels are equal: not all of them may go into lattices."""
    problem = Problem(0, 3)
    parts = np.stack([np.arange(3_000) % 5, 5 + np.arange(3_000)], 1).astype(np.int32)
    problem.tagset = _native.Tagset(parts, 5, 3_005)
    learner = problem.learner(problem.corpus([WORDS * 5], [[2_999] * 20]), rate=0.1)
    assert learner.epoch(np.array([1])).updates == (0, 1, 0, 0, 0)


def test_an_empty_corpus() -> None:
    problem = Problem(0, 2)
    empty = np.zeros(0, np.int64)
    corpus = _native.number_features(
        empty.view(np.uint64), empty.view(np.uint64), empty, empty.view(np.int32), 1
    )
    learner = problem.learner(corpus)
    assert learner.epoch(empty).loss == 0
    compiled = learner.compile(corpus, 0.0)
    assert compiled["features"] == 0
    assert cascade(problem, compiled, [0.0] * 3).tag([[["a"]]]).found.tolist() == [1]


def test_rare_features_are_left_out() -> None:
    problem = Problem(0, 1)
    keys = np.array([5, 6, 5, 7, 7, 5], np.uint64)
    corpus = _native.number_features(
        keys, np.array([2, 2, 6], np.uint64), np.array([1, 0, 2]), np.zeros(3, np.int32), 2
    )
    assert (corpus.sentences, corpus.tokens, corpus.features) == (3, 3, 2)
    learner = problem.learner(corpus)
    learner.epoch(np.arange(3))
    assert len(learner.state()["row_sizes"]) == 2


KEYS, ENDS, LENGTHS, LABELS = (
    np.arange(4, dtype=np.uint64),
    np.array([2, 4], np.uint64),
    np.array([2]),
    np.zeros(2, np.int32),
)


@pytest.mark.parametrize(
    ("keys", "ends", "lengths", "labels", "message"),
    [
        (KEYS[:3], ENDS, LENGTHS, LABELS, "the number of keys"),
        (KEYS, ENDS[::-1].copy(), LENGTHS, LABELS, "ends must not fall: at token 1"),
        (KEYS, ENDS, np.array([3]), LABELS, "lengths must be the tokens"),
        (KEYS, ENDS, np.array([1]), LABELS, "lengths must add up"),
        (KEYS, ENDS, np.array([-1, 3]), LABELS, "lengths must be the tokens"),
        (KEYS, ENDS, LENGTHS, LABELS[:1], "one label per token"),
        (KEYS, ENDS, LENGTHS, LABELS - 1, "label -1 at token 0"),
    ],
)
def test_bad_corpora(keys: Any, ends: Any, lengths: Any, labels: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        _native.number_features(keys, ends, lengths, labels, 1)


@pytest.mark.parametrize(
    ("parts", "groups", "units"),
    [
        ([[0]], 0, 1),
        ([[0]], 2, 1),
        ([[0]], 2, 2),
        ([[1]], 1, 2),
        ([[0, 2]], 1, 2),
        ([[-1]], 1, 1),
        (np.zeros((0, 2)), 1, 1),
    ],
)
def test_bad_tagsets(parts: Any, groups: int, units: int) -> None:
    with pytest.raises(InvalidInput):
        _native.Tagset(np.array(parts, np.int32), groups, units)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"order": 0}, "order must be between 1 and"),
        ({"order": _native.MOST_ORDER + 1}, "order must be between 1 and"),
        ({"rate": 0.0}, "rate must be a positive number"),
        ({"rate": float("nan")}, "rate must be a positive number"),
        ({"least": -1.0}, "must not be negative"),
        ({"wanted": []}, "wanted must say"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    problem = Problem(0, 1)
    good = {"order": 1, "rate": 0.1, "decay": 0.0, "l1": 0.0, "burn_in": 0, "least": 0.0, "wanted": [4.0]}
    with pytest.raises(InvalidInput, match=message):
        _native.PrunedCrf(problem.corpus([], []), problem.tagset, **{**good, **options})


def test_bad_labels_and_sentences() -> None:
    problem = Problem(0, 1, labels=3)
    with pytest.raises(InvalidInput, match="label 3 at token 5 is not one of the 3 labels"):
        problem.learner(problem.corpus([["a"]], [[3]]))
    learner = problem.learner(problem.corpus([], []))
    for number in (-1, 1):
        with pytest.raises(InvalidInput, match=f"there is no sentence {number} among 1"):
            learner.epoch(np.array([number]))
    other = _native.number_features(KEYS, ENDS, LENGTHS, LABELS, 1)
    with pytest.raises(InvalidInput, match="another corpus"):
        learner.compile(other, 0.0)


@pytest.mark.parametrize(
    "change",
    [
        {"row_sizes": np.zeros(5, np.uint32)},
        {"row_units": np.zeros(1, np.uint32)},
        {"row_weights": np.zeros(0, np.float32)},
        {"row_weights": "no array"},
        {"row_memories": None},
        {"ngram_weights": np.zeros(1, np.float32)},
        {"ngram_sequences": np.zeros(3, np.uint32)},
        {"numbers": np.zeros(3)},
    ],
)
def test_states_of_others_are_refused(change: dict[str, Any]) -> None:
    problem = Problem(0, 2)
    learner = problem.learner(problem.corpus([], []))
    state: dict[str, Any] = {**problem.state(), **change}
    with pytest.raises(InvalidInput, match="the state"):
        learner.restore(state)
    with pytest.raises(InvalidInput, match="the state"):
        learner.restore({name: array for name, array in problem.state().items() if name not in change})
    units = problem.state()
    units["row_units"] = units["row_units"] + np.uint32(problem.units)
    with pytest.raises(InvalidInput, match="other features, labels or options"):
        learner.restore(units)
    with pytest.raises(InvalidInput, match="other features, labels or options"):
        learner.restore(Problem(0, 1).state())
