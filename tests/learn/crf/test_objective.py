"""The loss and its gradient, against brute force and finite differences."""

from __future__ import annotations

import numpy as np
import pytest

from certus._native import CrfTrainer
from certus.learn.crf.model import ChainCRF
from tests.learn.corpora import Floats, Sample, at, named, random_weights, sample
from tests.reference import crf as reference

CASES = [
    sample(0, labels=3),
    sample(1, labels=3, weighted=True),
    sample(2, labels=9, lengths=(3, 2, 1), per_token=6),
    sample(3, labels=1),
    sample(4, labels=2, features=60, weighted=True),
    sample(5, labels=20, lengths=(2, 1, 2, 2)),
]


def as_pairs(trainer: CrfTrainer, values: Floats) -> reference.Weights:
    trainer.weights = values
    return named(ChainCRF.of_native(trainer.model()))


def close(ours: reference.Weights, theirs: reference.Weights) -> None:
    for a, b in ((ours.state, theirs.state), (ours.transition, theirs.transition)):
        assert set(a) <= set(b)
        for pair, value in b.items():
            assert a.get(pair, 0.0) == pytest.approx(value, rel=1e-9, abs=1e-10)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("everything", [False, True])
def test_loss_and_gradient_are_those_of_brute_force(case: Sample, everything: bool) -> None:
    trainer = case.trainer(all_possible_states=everything, all_possible_transitions=everything)
    w = random_weights(trainer, 7)
    weights = as_pairs(trainer, w)
    loss, gradient = at(trainer, w, c2=0.3)
    arguments = (weights, case.sentences, case.gold, case.labels, 0.3)
    assert loss == pytest.approx(reference.loss(*arguments), rel=1e-11)
    close(as_pairs(trainer, gradient), reference.gradient(*arguments))


@pytest.mark.parametrize("case", CASES)
def test_gradient_is_that_of_finite_differences(case: Sample) -> None:
    trainer = case.trainer()
    w = random_weights(trainer, 8)
    _, gradient = at(trainer, w, c2=0.1)
    free = np.setdiff1d(np.arange(trainer.size), trainer.holes)
    for k in free[:: max(1, len(free) // 40)]:
        step = np.zeros(trainer.size)
        step[k] = 1e-6
        slope = (at(trainer, w + step, 0.1)[0] - at(trainer, w - step, 0.1)[0]) / 2e-6
        assert gradient[k] == pytest.approx(slope, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("case", CASES)
def test_weights_are_given_to_what_was_seen(case: Sample) -> None:
    trainer = case.trainer()
    states, steps = reference.observed(case.sentences, case.gold)
    trainer.weights = np.ones(trainer.size)
    weights = named(ChainCRF.of_native(trainer.model()))
    assert set(weights.state) == states
    assert set(weights.transition) == steps
    assert trainer.parameters == len(states) + len(steps) == trainer.size - len(trainer.holes)


def test_all_pairs_on_demand() -> None:
    case = CASES[0]
    trainer = case.trainer(all_possible_states=True, all_possible_transitions=True)
    met = {feature for tokens in case.sentences for token in tokens for feature, _ in token}
    assert trainer.parameters == len(met) * case.labels + case.labels**2


def test_rare_pairs_get_no_weight() -> None:
    case = sample(9, labels=3, lengths=(30, 20))
    seen: dict[tuple[int, int], int] = {}
    for tokens, labels in zip(case.sentences, case.gold, strict=True):
        for token, y in zip(tokens, labels, strict=True):
            for feature, _ in token:
                seen[feature, y] = seen.get((feature, y), 0) + 1
    trainer = case.trainer(min_freq=5)
    trainer.weights = np.ones(trainer.size)
    found = set(named(ChainCRF.of_native(trainer.model())).state)
    assert found == {pair for pair, count in seen.items() if count >= 5} != set(seen)


def test_negative_values_count_towards_min_freq() -> None:
    case = Sample([[[(0, -2.0)], [(1, 0.5)]]], [[0, 1]], 2, 2, True)
    trainer = case.trainer(min_freq=1)
    trainer.weights = np.ones(trainer.size)
    assert set(named(ChainCRF.of_native(trainer.model())).state) == {(0, 0)}


@pytest.mark.parametrize("scale", [300.0, 1e4])
def test_scores_that_no_exponential_can_hold(scale: float) -> None:
    case = sample(10, labels=3, weighted=True)
    trainer = case.trainer(all_possible_transitions=True)
    w = random_weights(trainer, 11, scale)
    weights = as_pairs(trainer, w)
    loss, gradient = at(trainer, w)
    arguments = (weights, case.sentences, case.gold, case.labels, 0.0)
    assert loss == pytest.approx(reference.loss(*arguments), rel=1e-9, abs=1e-6)
    close(as_pairs(trainer, gradient), reference.gradient(*arguments))


def test_one_sentence_beyond_range_does_not_spoil_the_others() -> None:
    case = sample(12, labels=3, lengths=(3, 3, 3, 3), weighted=True)
    case.sentences[1][1][0] = (case.sentences[1][1][0][0], 2000.0)
    trainer = case.trainer()
    w = random_weights(trainer, 13)
    arguments = (as_pairs(trainer, w), case.sentences, case.gold, case.labels, 0.0)
    loss, gradient = at(trainer, w)
    assert loss == pytest.approx(reference.loss(*arguments), rel=1e-9)
    close(as_pairs(trainer, gradient), reference.gradient(*arguments))


@pytest.mark.parametrize("labels", [3, 70])
def test_the_number_of_threads_changes_no_digit(labels: int) -> None:
    rng = np.random.default_rng(14)
    lengths = tuple(int(n) for n in rng.integers(0, 30, size=300))
    trainer = sample(15, labels=labels, features=3000, lengths=lengths, weighted=True).trainer()
    w = random_weights(trainer, 16)
    loss, gradient = at(trainer, w)
    for threads in (2, 3, 8):
        again, same = at(trainer, w, threads=threads)
        assert again == loss
        assert np.array_equal(same, gradient)


def test_holes_stay_empty() -> None:
    trainer = CASES[0].trainer()
    _, gradient = at(trainer, random_weights(trainer, 17), c2=1.0)
    assert len(trainer.holes)
    assert not gradient[trainer.holes].any()


def test_a_feature_that_is_zero_still_gives_rise_to_a_weight() -> None:
    # Seen with label 0 only as 0: the pair is seen, and says something where the feature is not 0.
    case = Sample([[[(0, 0.0)], [(0, 1.0)]]], [[0, 1]], 2, 1, True)
    trainer = case.trainer()
    w = random_weights(trainer, 18)
    weights = as_pairs(trainer, w)
    assert set(weights.state) == {(0, 0), (0, 1)}
    loss, gradient = at(trainer, w)
    assert loss == pytest.approx(reference.loss(weights, case.sentences, case.gold, 2, 0.0))
    close(as_pairs(trainer, gradient), reference.gradient(weights, case.sentences, case.gold, 2, 0.0))
