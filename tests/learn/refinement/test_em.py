"""EM for refinement HMMs: expectations against enumeration, the objective, restarts, baselines."""

from __future__ import annotations

import numpy as np
import pytest

from certus.errors import InvalidInput
from certus.learn.refinement import EmRefinement, LabelledCorpus, Parameters, PlainHmm
from certus.learn.refinement.counts import Counts
from certus.learn.refinement.expectation import Prior, compute_objective, expect, maximise, perturb
from certus.learn.refinement.sampling import sample
from tests.reference import refinement as reference

TRUE = Parameters.random(3, 2, 5, seed=1, concentration=0.4)
SENTENCES = sample(TRUE, 200, seed=2).list_sentences()


@pytest.mark.parametrize("hidden", [1, 2, 3])
def test_expectations_equal_enumeration(hidden: int) -> None:
    sentences = [(x[:5], a[:5]) for x, a in SENTENCES[:30]]
    weights = np.random.default_rng(0).integers(1, 4, 30).astype(float)
    corpus = LabelledCorpus.read(sentences, weights=weights)
    model = Parameters.random(len(corpus.names.labels), hidden, corpus.names.unseen, seed=3)
    found = expect(model, corpus)
    pairs = np.zeros_like(model.transition)
    for n, (begin, end) in enumerate(zip(corpus.offsets[:-1], corpus.offsets[1:], strict=True)):
        labels, seen = corpus.labels[begin:end], corpus.observations[begin:end]
        total, single, pair = reference.walk(model, labels, seen)
        assert found.log_likelihood[n] == pytest.approx(np.log(total))
        np.testing.assert_allclose(found.posterior[begin:end], single / total, atol=1e-12)
        for t in range(len(labels) - 1):
            pairs[labels[t], :, labels[t + 1], :] += weights[n] * pair[t] / total
    np.testing.assert_allclose(found.pairs, pairs, atol=1e-10)


@pytest.mark.parametrize("hidden", [2, 4, 5, 8, 12, 16, 24, 32])
def test_every_width_sums_alike(hidden: int) -> None:
    """Hidden states that are copies of one another share the probability of the one."""
    corpus = LabelledCorpus.read(SENTENCES)
    plain = Counts.of(corpus).estimate_parameters(0.1)
    copies = Parameters(
        np.repeat(plain.initial, hidden, 1) / hidden,
        np.repeat(np.repeat(plain.transition, hidden, 1), hidden, 3) / hidden,
        np.repeat(plain.stop, hidden, 1),
        np.repeat(plain.emission, hidden, 1),
    )
    found = expect(copies, corpus)
    np.testing.assert_allclose(found.log_likelihood, expect(plain, corpus).log_likelihood)
    np.testing.assert_allclose(found.posterior, 1 / hidden)
    np.testing.assert_allclose(found.pairs.sum((1, 3)), Counts.of(corpus).follow[:, :-1], atol=1e-8)


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 5.0])
@pytest.mark.parametrize("hidden", [1, 2, 4])
def test_the_objective_never_falls(hidden: int, smoothing: float) -> None:
    model = EmRefinement(hidden, iterations=40, restarts=2, smoothing=smoothing, tolerance=-1.0).fit(
        SENTENCES
    )
    for history in model.diagnostics.objective:
        assert len(history) == 40
        assert (np.diff(history) >= -1e-9 * abs(history[0])).all()
        assert hidden == 1 or history[-1] > history[0] + 1


def test_one_state_is_the_plain_hmm_at_once() -> None:
    corpus = LabelledCorpus.read(SENTENCES)
    counts = Counts.of(corpus)
    prior = Prior(counts, 1, 0.1)
    once = maximise(expect(perturb(counts, 1, 0.1, np.random.default_rng(0)), corpus), corpus, prior)
    plain = counts.estimate_parameters(0.1)
    for name in ("initial", "transition", "stop", "emission"):
        np.testing.assert_allclose(getattr(once, name), getattr(plain, name), atol=1e-12)


def test_the_same_seed_gives_the_same_model_on_any_threads() -> None:
    one, two, other = (
        EmRefinement(3, iterations=15, seed=seed, threads=threads).fit(SENTENCES)
        for seed, threads in ((4, 1), (4, 3), (5, 1))
    )
    assert (one.parameters.transition == two.parameters.transition).all()
    assert one.diagnostics.objective == two.diagnostics.objective
    assert one.diagnostics.objective != other.diagnostics.objective


def test_the_best_restart_is_kept() -> None:
    model = EmRefinement(3, iterations=20, restarts=4, tolerance=-1.0).fit(SENTENCES)
    ends = [history[-1] for history in model.diagnostics.objective]
    assert model.diagnostics.chosen == (int(np.argmax(ends)), 20)
    corpus = LabelledCorpus.read(SENTENCES)
    prior = Prior(Counts.of(corpus), 3, 0.1)
    value = compute_objective(expect(model.parameters, corpus), corpus, prior, model.parameters)
    assert value == pytest.approx(max(ends))


def test_dev_chooses_the_iteration() -> None:
    dev = sample(TRUE, 100, seed=9).list_sentences()
    looks: list[tuple[int, int, float]] = []

    def watch(restart: int, iteration: int, value: float, model: EmRefinement) -> None:
        if iteration % 5 == 0:
            looks.append((restart, iteration, model.measure_accuracy(dev)))

    model = EmRefinement(4, iterations=30, restarts=2, tolerance=-1.0, dev=dev, every=5, watch=watch).fit(
        SENTENCES
    )
    best = max(looks, key=lambda look: look[2])
    assert model.diagnostics.chosen == best[:2]
    assert model.measure_accuracy(dev) == best[2]


def test_em_learns_what_the_plain_hmm_cannot() -> None:
    """Two kinds of sentences: what x says about a depends on a state that the label before hides."""
    rng = np.random.default_rng(0)
    sentences = []
    for _ in range(300):
        kind = int(rng.integers(2))
        labels = ["s", "m", "pq"[kind]]
        sentences.append(([f"k{kind}", "x", "y"], labels))
    em, plain = EmRefinement(2, restarts=3).fit(sentences), PlainHmm().fit(sentences)
    assert em.measure_accuracy(sentences) == 100
    assert plain.measure_accuracy(sentences) < 95
    assert em.predict([["k1", "x", "y"]]) == [["s", "m", "q"]]


def test_the_best_path_is_exact() -> None:
    model = EmRefinement(2, iterations=10).fit(SENTENCES)
    operators = model.parameters.operators
    for x, _ in SENTENCES[:20]:
        x = x[:4]
        ids = model.names.encode([x]).observations
        every = reference.paths(6, len(x))
        weights = reference.path_weights(operators, ids, every)
        best = model.find_best_path(x)
        assert best.optimal
        assert best.score == pytest.approx(np.log(weights.max()))
        assert reference.path_weights(operators, ids, best.labels[None])[0] == pytest.approx(weights.max())


def test_labels_with_fewer_samples_than_states_are_named() -> None:
    rare = [*SENTENCES, (["0"], ["rare"])]
    model = EmRefinement(2, iterations=3).fit(rare)
    (problem,) = model.diagnostics.problems
    assert "label 'rare' occurs once, fewer than its 2 hidden states; lower hidden" in problem


def test_what_cannot_be_is_refused() -> None:
    for options in ({"hidden": 0}, {"hidden": 2, "restarts": 0}, {"hidden": 2, "smoothing": -1.0}):
        with pytest.raises(InvalidInput, match="must be"):
            EmRefinement(**options)
    corpus = LabelledCorpus.read(SENTENCES)
    model = Parameters.random(3, 1, corpus.names.unseen, seed=0)
    emission = np.zeros_like(model.emission)
    emission[:, :, 0] = 1.0
    blind = Parameters(model.initial, model.transition, model.stop, emission)
    with pytest.raises(InvalidInput, match="is impossible under the model; a smoothing above 0"):
        compute_objective(expect(blind, corpus), corpus, Prior(Counts.of(corpus), 1, 0.0), blind)
