"""The marginalised likelihood and its gradient, against brute force, finite differences and the plain CRF."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from certus._native import CrfTrainer, crf_perceptron
from certus.errors import InvalidInput
from certus.learn.crf.model import ChainCRF, make_trainer
from tests.learn.corpora import Sample, at, named, random_weights, sample
from tests.reference import crf as reference

Ints = NDArray[np.int64]

CASES = [
    (sample(0, labels=2), 2),
    (sample(1, labels=2, weighted=True), 3),
    (sample(2, labels=3, lengths=(3, 2, 1), per_token=6), 2),
    (sample(3, labels=1), 4),
    (sample(4, labels=5, lengths=(2, 1, 2, 2)), 3),
]


def trainer_of(case: Sample, latent: int, everything: bool = False) -> CrfTrainer:
    return make_trainer(
        case.corpus,
        case.ids,
        labels=case.labels,
        features=case.features,
        all_possible_states=everything,
        all_possible_transitions=everything,
        latent=latent,
    )


def places(trainer: CrfTrainer) -> tuple[Ints, Ints, Ints, Ints]:
    """Where in the vector of weights each one stands: weights that are their own place, and 1."""
    trainer.weights = np.arange(1.0, trainer.size + 1.0)
    rows, transitions = trainer.model().rows(), trainer.model().transitions
    begin, label, place = rows.begin, rows.label, rows.weight
    return begin, label.astype(np.int64), place.astype(np.int64) - 1, transitions.astype(np.int64) - 1


def brute_force(trainer: CrfTrainer, case: Sample, latent: int, c2: float) -> float:
    """Minus the log of the share of all paths that belong to the gold labels, summed over sentences."""
    weights = named(ChainCRF.of_native(trainer.model()))
    total = c2 * sum(x * x for part in (weights.state, weights.transition) for x in part.values())
    for tokens, gold in zip(case.sentences, case.gold, strict=True):
        if not tokens:
            continue
        paths, logs, _ = reference.log_probabilities(weights, tokens, case.labels * latent)
        mine = (np.asarray(paths) // latent == np.array(gold)).all(1)
        total -= float(np.log(np.exp(logs[mine]).sum()))
    return total


@pytest.mark.parametrize(("case", "latent"), CASES)
@pytest.mark.parametrize("everything", [False, True])
def test_the_loss_is_that_of_brute_force(case: Sample, latent: int, everything: bool) -> None:
    trainer = trainer_of(case, latent, everything)
    w = random_weights(trainer, 7)
    assert at(trainer, w, 0.3)[0] == pytest.approx(brute_force(trainer, case, latent, 0.3), rel=1e-11)


@pytest.mark.parametrize(("case", "latent"), CASES)
@pytest.mark.parametrize("scale", [1.0, 300.0])  # the second spans too much for scaled probabilities
def test_the_gradient_is_that_of_finite_differences(case: Sample, latent: int, scale: float) -> None:
    trainer = trainer_of(case, latent)
    w = random_weights(trainer, 8, scale)
    _, gradient = at(trainer, w, c2=0.1)
    free = np.setdiff1d(np.arange(trainer.size), trainer.holes)
    assert (gradient[trainer.holes] == 0).all()
    h = 1e-6 * scale
    for k in free[:: max(1, len(free) // 40)]:
        step = np.zeros(trainer.size)
        step[k] = h
        slope = (at(trainer, w + step, 0.1)[0] - at(trainer, w - step, 0.1)[0]) / (2 * h)
        assert gradient[k] == pytest.approx(slope, rel=1e-4, abs=1e-5)


def test_log_space_and_scaled_probabilities_agree() -> None:
    """A feature that no other sentence has spans so much that one sentence alone goes through log space."""
    case = sample(6, labels=2, lengths=(4, 3, 4))
    case.sentences[1][1] = [(case.features, 1.0)]
    case.features += 1
    trainer = trainer_of(case, 2, everything=True)
    w = random_weights(trainer, 9)
    begin, label, place, _ = places(trainer)
    mine = place[begin[-2] : begin[-1]]
    w[mine[label[begin[-2] : begin[-1]] % 2 == 0]] = 700.0
    loss, gradient = at(trainer, w)
    trainer.weights = w
    assert loss == pytest.approx(brute_force(trainer, case, 2, 0.0), rel=1e-9)
    for k in range(0, trainer.size, 7):
        if k in trainer.holes:
            continue
        step = np.zeros(trainer.size)
        step[k] = 1e-5
        slope = (at(trainer, w + step)[0] - at(trainer, w - step)[0]) / 2e-5
        assert gradient[k] == pytest.approx(slope, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize(("case", "latent"), CASES)
def test_equal_states_are_a_plain_crf(case: Sample, latent: int) -> None:
    """Where all states of a label have the same weights, there is nothing latent."""
    plain, hidden = trainer_of(case, 1, everything=True), trainer_of(case, latent, everything=True)
    random_weights(plain, 3)
    weights = named(ChainCRF.of_native(plain.model()))
    begin, state, place, transitions = places(hidden)
    w = np.zeros(hidden.size)
    for f in range(len(begin) - 1):
        for n in range(begin[f], begin[f + 1]):
            w[place[n]] = weights.state.get((f, int(state[n]) // latent), 0.0)
    for i, row in enumerate(transitions):
        for j, at_place in enumerate(row):
            w[at_place] = weights.transition.get((i // latent, j // latent), 0.0)
    assert at(hidden, w)[0] == pytest.approx(at(plain, plain.weights)[0], rel=1e-11)


@pytest.mark.parametrize(("case", "latent"), CASES)
def test_the_number_of_threads_changes_nothing(case: Sample, latent: int) -> None:
    trainer = trainer_of(case, latent)
    w = random_weights(trainer, 5)
    loss, gradient = at(trainer, w, 0.2)
    for threads in (2, 3, 8):
        other_loss, other = at(trainer, w, 0.2, threads)
        assert other_loss == loss
        assert (other == gradient).all()


def test_every_state_of_a_label_has_the_weights_of_the_label() -> None:
    case = CASES[2][0]
    plain, hidden = trainer_of(case, 1), trainer_of(case, 4)
    states, steps = reference.observed(case.sentences, case.gold)
    assert plain.parameters == len(states) + len(steps)
    assert hidden.parameters == 4 * len(states) + 16 * len(steps)


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(InvalidInput, match="latent must be a whole number of at least 1, not 0"):
        trainer_of(CASES[0][0], 0)


# ------------------------------------------------------------------------------------- pairs of labels

PAIRS = [  # a sample, the features of pairs in the same sentences, and latent states
    (sample(0, labels=2), sample(10, labels=2, features=5), 1),
    (sample(0, labels=2), sample(10, labels=2, features=5), 2),
    (sample(1, labels=2, weighted=True), sample(11, labels=2, weighted=True, features=7), 3),
    (sample(2, labels=3, lengths=(3, 2, 1), per_token=6), sample(12, labels=3, lengths=(3, 2, 1)), 2),
    (sample(3, labels=1), sample(13, labels=1, per_token=1), 4),
    (sample(4, labels=5, lengths=(2, 1, 2, 2)), sample(14, labels=5, lengths=(2, 1, 2, 2)), 2),
]


def paired(case: Sample, pairs: Sample, latent: int, shared: bool = False) -> CrfTrainer:
    return make_trainer(
        case.corpus,
        case.ids,
        labels=case.labels,
        features=case.features,
        latent=latent,
        pairs=pairs.corpus,
        pair_features=pairs.features,
        shared_pairs=shared,
    )


@pytest.mark.parametrize(("case", "pairs", "latent"), PAIRS)
@pytest.mark.parametrize("scale", [1.0, 300.0])
@pytest.mark.parametrize("shared", [False, True])
def test_the_loss_with_pairs_is_that_of_brute_force(
    case: Sample, pairs: Sample, latent: int, scale: float, shared: bool
) -> None:
    trainer = paired(case, pairs, latent, shared)
    w = random_weights(trainer, 7, scale)
    weights, states = named(ChainCRF.of_native(trainer.model())), case.labels * latent
    rows = trainer.pair_rows()
    begin, column, value = rows.begin, rows.label, rows.weight
    each, of = (latent, case.labels) if shared else (1, states)  # all states of a label share its weights
    for f in range(pairs.features):
        for n in range(begin[f], begin[f + 1]):
            i, j = divmod(int(column[n]), of)
            for a, b in product(range(each), repeat=2):
                weights.pair[f, i * each + a, j * each + b] = float(value[n])
    squares = [x * x for part in (weights.state, weights.transition) for x in part.values()]
    total = 0.3 * (sum(squares) + float((value**2).sum()))
    for tokens, own, gold in zip(case.sentences, pairs.sentences, case.gold, strict=True):
        if tokens:
            paths, logs, _ = reference.log_probabilities(weights, tokens, states, own)
            mine = (np.asarray(paths) // latent == np.array(gold)).all(1)
            most = logs[mine].max()
            total -= float(most + np.log(np.exp(logs[mine] - most).sum()))
    assert at(trainer, w, 0.3)[0] == pytest.approx(total, rel=1e-11)


@pytest.mark.parametrize(("case", "pairs", "latent"), PAIRS)
@pytest.mark.parametrize("scale", [1.0, 300.0])
@pytest.mark.parametrize("shared", [False, True])
def test_the_gradient_with_pairs_is_that_of_finite_differences(
    case: Sample, pairs: Sample, latent: int, scale: float, shared: bool
) -> None:
    trainer = paired(case, pairs, latent, shared)
    w = random_weights(trainer, 8, scale)
    loss, gradient = at(trainer, w, c2=0.1)
    free = np.setdiff1d(np.arange(trainer.size), trainer.holes)
    assert (gradient[trainer.holes] == 0).all()
    h = 1e-6 * scale
    for k in free[:: max(1, len(free) // 60)]:
        step = np.zeros(trainer.size)
        step[k] = h
        slope = (at(trainer, w + step, 0.1)[0] - at(trainer, w - step, 0.1)[0]) / (2 * h)
        assert gradient[k] == pytest.approx(slope, rel=1e-4, abs=1e-5)
    for threads in (2, 5):
        other_loss, other = at(trainer, w, 0.1, threads)
        assert other_loss == loss
        assert (other == gradient).all()


def test_pairs_get_a_weight_where_they_were_seen() -> None:
    case, pairs, _ = PAIRS[3]
    plain, both = trainer_of(case, 2), paired(case, pairs, 2)
    seen = {
        (feature, *labels[t - 1 : t + 1])
        for tokens, labels in zip(pairs.sentences, case.gold, strict=True)
        for t in range(1, len(tokens))
        for feature, _ in tokens[t]
    }
    assert both.parameters - plain.parameters == 4 * len(seen)
    assert paired(case, pairs, 2, shared=True).parameters - plain.parameters == len(seen)
    assert both.size > both.singles == plain.size


def test_pairs_that_are_always_there_are_transitions() -> None:
    """A pair feature of every token, whatever it is, adds to all transitions alike."""
    case = sample(6, labels=3)
    always = sample(16, labels=3, features=1, per_token=1)
    plain, both = trainer_of(case, 2), paired(case, always, 2)
    w = random_weights(plain, 4)
    moved = np.zeros(both.size)
    moved[: plain.size] = w
    loss, gradient = at(both, moved)
    assert loss == pytest.approx(at(plain, w)[0], rel=1e-12)
    moved[: plain.size] = 0
    both.weights = np.arange(1.0, both.size + 1)
    place = both.pair_rows().weight
    *_, transitions = places(plain)
    singles = w.copy()
    singles[transitions.ravel()[transitions.ravel() >= 0]] = 0
    moved[: plain.size] = singles
    moved[place.astype(int) - 1] = w[transitions[transitions >= 0]]
    again, other = at(both, moved)
    assert again == pytest.approx(loss, rel=1e-12)
    assert other[: plain.size] == pytest.approx(gradient[: plain.size], abs=1e-12)


def test_pairs_of_other_sentences_are_refused() -> None:
    with pytest.raises(InvalidInput, match="the features of pairs are of other sentences"):
        paired(sample(0, labels=2), sample(0, labels=2, lengths=(4, 2)), 1)
    case = sample(0, labels=2)
    with pytest.raises(InvalidInput, match=r"pair feature 1[01] is not one of 3, numbered from 0"):
        make_trainer(case.corpus, case.ids, labels=2, features=12, pairs=case.corpus, pair_features=3)
    trainer = paired(*PAIRS[0])
    with pytest.raises(ValueError, match="features of pairs are learned by lbfgs alone"):
        crf_perceptron(trainer, epsilon=0.0, seed=0)
