"""Each algorithm reaches what it promises, and the same every time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from certus.errors import InvalidInput
from certus.learn.crf.algorithms import (
    ALGORITHMS,
    AROW,
    L2SGD,
    LBFGS,
    SGD,
    Algorithm,
    AveragedPerceptron,
    PassiveAggressive,
)
from certus.learn.crf.model import ChainCRF, train_crf
from certus.learn.progress import Progress
from tests.learn.corpora import Sample, learnable, named
from tests.reference import crf as reference

DATA = learnable(0)
EXACT: dict[str, Any] = {"epsilon": 1e-9, "delta": 0.0, "period": 0}


def train(data: Sample, algorithm: Algorithm, **options: Any) -> ChainCRF:
    return train_crf(
        data.corpus, data.ids, labels=data.labels, features=data.features, algorithm=algorithm, **options
    )


def objective(data: Sample, model: ChainCRF, c1: float, c2: float) -> float:
    trainer = data.trainer()
    weights = place(trainer, model)
    loss = trainer.objective(weights, np.empty(trainer.size), c2, 1)
    return loss + c1 * float(np.abs(weights).sum())


def place(trainer: Any, model: ChainCRF) -> Any:
    """The weights of a model where a trainer has them: it tells by which pair each place stands for."""
    wanted = named(model)
    out = np.zeros(trainer.size)
    for k in np.setdiff1d(np.arange(trainer.size), trainer.holes):
        trainer.weights = np.eye(1, trainer.size, k)[0]
        one = named(ChainCRF.of_native(trainer.model()))
        (pair,) = one.state or one.transition
        out[k] = (wanted.state if one.state else wanted.transition).get(pair, 0.0)
    return out


def gradient_at(data: Sample, model: ChainCRF, c2: float) -> tuple[Any, Any]:
    trainer = data.trainer()
    weights, gradient = place(trainer, model), np.empty(trainer.size)
    trainer.objective(weights, gradient, c2, 1)
    return weights, gradient


@pytest.mark.parametrize("linesearch", ["MoreThuente", "Backtracking", "StrongBacktracking"])
def test_lbfgs_ends_where_the_gradient_does(linesearch: str) -> None:
    model = train(DATA, LBFGS(c2=0.2, linesearch=linesearch, **EXACT))
    _, gradient = gradient_at(DATA, model, 0.2)
    assert np.linalg.norm(gradient) < 1e-5


@pytest.mark.parametrize("memories", [1, 2, 6])
def test_lbfgs_with_few_memories(memories: int) -> None:
    model = train(DATA, LBFGS(c2=0.2, num_memories=memories, **EXACT))
    assert np.linalg.norm(gradient_at(DATA, model, 0.2)[1]) < 1e-5


@pytest.mark.parametrize(("c1", "c2"), [(0.5, 0.0), (1.0, 0.1), (5.0, 0.0)])
def test_owlqn_ends_where_no_subgradient_falls(c1: float, c2: float) -> None:
    model = train(DATA, LBFGS(c1=c1, c2=c2, epsilon=1e-7, period=0))
    w, gradient = gradient_at(DATA, model, c2)
    on, off = w != 0, w == 0
    assert np.abs(gradient[on] + c1 * np.sign(w[on])).max() < 1e-4
    assert np.abs(gradient[off]).max() < c1 + 1e-4
    assert off.sum() > len(DATA.trainer().holes)  # some weights are exactly 0


def test_a_heavy_l1_term_leaves_nothing() -> None:
    model = train(DATA, LBFGS(c1=1e4, c2=0.0))
    assert len(model.row_weight) == 0
    assert not model.transitions.any()


def test_the_loss_falls_and_is_the_one_reported() -> None:
    losses: list[float] = []
    algorithm = LBFGS(c1=0.3, c2=0.2)
    model = train(DATA, algorithm, progress=lambda p: losses.append(p.loss))
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] == pytest.approx(objective(DATA, model, 0.3, 0.2))


def test_lbfgs_stops_when_told() -> None:
    counts = {}
    for name, algorithm in {
        "limit": LBFGS(max_iterations=3),
        "none": LBFGS(max_iterations=0),
        "loose": LBFGS(epsilon=0.5),
        "stalled": LBFGS(period=2, delta=0.05, epsilon=0),
        "tight": LBFGS(**EXACT),
    }.items():
        seen: list[Progress] = []
        train(DATA, algorithm, progress=seen.append)
        counts[name] = len(seen)
    assert counts["limit"] == 3
    assert counts["none"] == 0
    assert 0 < counts["loose"] < counts["tight"]
    assert 2 <= counts["stalled"] < counts["tight"]
    assert [p.epoch for p in seen] == list(range(1, len(seen) + 1))


@pytest.mark.parametrize("algorithm", [LBFGS(), L2SGD(max_iterations=5), AveragedPerceptron(), SGD(), AROW()])
def test_a_report_can_end_training(algorithm: Algorithm) -> None:
    seen: list[int] = []

    def report(progress: Progress) -> bool:
        seen.append(progress.epoch)
        return progress.epoch == 2

    train(DATA, algorithm, progress=report)
    assert seen == [1, 2]


def test_an_error_in_a_report_comes_through() -> None:
    def report(progress: Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(DATA, LBFGS(), progress=report)
    with pytest.raises(KeyboardInterrupt):
        train(DATA, AveragedPerceptron(), progress=report)


def test_the_model_of_a_report_is_the_one_so_far() -> None:
    models: list[ChainCRF] = []

    def measure(model: ChainCRF) -> float:
        models.append(model)
        return len(models) / 10

    told: list[Progress] = []
    last = train(DATA, LBFGS(max_iterations=4), measure=measure, progress=told.append)
    assert [report.dev for report in told] == [0.1, 0.2, 0.3, 0.4]
    assert np.array_equal(models[-1].row_weight, last.row_weight)
    assert not np.array_equal(models[0].row_weight, last.row_weight)


def test_l2sgd_comes_near_the_minimum() -> None:
    best = objective(DATA, train(DATA, LBFGS(c2=1.0, **EXACT)), 0.0, 1.0)
    idle = objective(DATA, train(DATA, LBFGS(max_iterations=0)), 0.0, 1.0)
    found = objective(DATA, train(DATA, L2SGD(c2=1.0, max_iterations=200)), 0.0, 1.0)
    assert best <= found < best + 0.01 * (idle - best)


def test_l2sgd_without_a_penalty() -> None:
    losses: list[float] = []
    train(DATA, L2SGD(c2=0.0, max_iterations=20), progress=lambda p: losses.append(p.loss))
    assert losses[-1] < 0.5 * losses[0]


def test_sgd_comes_near_the_minimum_and_is_sparse() -> None:
    c1 = 0.5
    best = train(DATA, LBFGS(c1=c1, c2=0.0, epsilon=1e-7, period=0))
    found = train(DATA, SGD(c1=c1, max_iterations=60, calibration_eta=0.5))
    low, high = objective(DATA, best, c1, 0.0), objective(DATA, train(DATA, LBFGS(max_iterations=0)), c1, 0.0)
    assert low <= objective(DATA, found, c1, 0.0) < low + 0.02 * (high - low)
    total = DATA.trainer().parameters
    assert len(found.row_weight) + np.count_nonzero(found.transitions) < 0.9 * total


def test_sgd_without_a_penalty_keeps_every_weight() -> None:
    model = train(DATA, SGD(c1=0.0, max_iterations=2))
    assert len(model.row_weight) + np.count_nonzero(model.transitions) == DATA.trainer().parameters


def perceptron(counts: reference.Weights, wrong: int, margin: float) -> reference.Weights:
    return counts


def passive_aggressive(options: PassiveAggressive) -> reference.Lesson:
    def lesson(counts: reference.Weights, wrong: int, margin: float) -> reference.Weights:
        cost = margin + (np.sqrt(wrong) if options.error_sensitive else 1.0)
        squares = sum(x * x for x in (*counts.state.values(), *counts.transition.values()))
        step = {0: cost / squares, 1: min(options.c, cost / squares), 2: cost / (squares + 0.5 / options.c)}
        t = float(step[options.pa_type])
        return reference.Weights(
            {p: t * x for p, x in counts.state.items()}, {p: t * x for p, x in counts.transition.items()}
        )

    return lesson


def arow(options: AROW) -> reference.Lesson:
    variance: dict[Any, float] = {}

    def lesson(counts: reference.Weights, wrong: int, margin: float) -> reference.Weights:
        moved = {
            **{("s", p): x for p, x in counts.state.items()},
            **{("t", p): x for p, x in counts.transition.items()},
        }
        spread = options.gamma + sum(variance.get(p, options.variance) * x * x for p, x in moved.items())
        step = (margin + wrong) / spread
        change = {p: step * variance.get(p, options.variance) * x for p, x in moved.items()}
        for p, x in moved.items():
            variance[p] = 1 / (1 / variance.get(p, options.variance) + x * x / options.gamma)
        return reference.Weights(
            {p: x for (kind, p), x in change.items() if kind == "s"},
            {p: x for (kind, p), x in change.items() if kind == "t"},
        )

    return lesson


def same(model: ChainCRF, weights: reference.Weights) -> None:
    ours = named(model)
    for a, b in ((ours.state, weights.state), (ours.transition, weights.transition)):
        for pair, value in b.items():
            assert a.get(pair, 0.0) == pytest.approx(value, rel=1e-9, abs=1e-9)
    assert any(weights.state.values())


def test_the_perceptron_is_the_obvious_one() -> None:
    model = train(DATA, AveragedPerceptron(max_iterations=3), seed=5)
    _, average = reference.learn(DATA.sentences, DATA.gold, DATA.labels, 3, perceptron, 5)
    same(model, average)


@pytest.mark.parametrize(
    "options",
    [
        PassiveAggressive(max_iterations=2, pa_type=0),
        PassiveAggressive(max_iterations=2, pa_type=1, c=0.05),
        PassiveAggressive(max_iterations=2, pa_type=2, c=0.5, error_sensitive=False),
        PassiveAggressive(max_iterations=2, averaging=False),
    ],
)
def test_passive_aggressive_is_the_obvious_one(options: PassiveAggressive) -> None:
    model = train(DATA, options, seed=6)
    now, average = reference.learn(DATA.sentences, DATA.gold, DATA.labels, 2, passive_aggressive(options), 6)
    same(model, average if options.averaging else now)


@pytest.mark.parametrize("options", [AROW(max_iterations=2), AROW(max_iterations=2, variance=0.3, gamma=4.0)])
def test_arow_is_the_obvious_one(options: AROW) -> None:
    now, _ = reference.learn(DATA.sentences, DATA.gold, DATA.labels, 2, arow(options), 7)
    same(train(DATA, options, seed=7), now)


def test_mistakes_end_where_there_are_few() -> None:
    passes: list[Progress] = []
    train(DATA, AveragedPerceptron(epsilon=0.5, max_iterations=50), progress=passes.append)
    assert len(passes) < 50
    assert passes[-1].loss < 0.5 * len(DATA.sentences)


@pytest.mark.parametrize("name", sorted(ALGORITHMS))
def test_every_algorithm_learns_and_repeats_itself(name: str) -> None:
    algorithm = ALGORITHMS[name](max_iterations=15)  # type: ignore[call-arg]
    model = train(DATA, algorithm, seed=3)
    least = 0.75 if name == "arow" else 0.85  # which the noise troubles more than the others
    assert np.mean(model.decode(DATA.corpus) == DATA.ids) > least
    again = train(DATA, algorithm, seed=3, threads=2)
    assert np.array_equal(model.row_weight, again.row_weight)
    assert np.array_equal(model.transitions, again.transitions)
    other = train(DATA, algorithm, seed=4)
    assert np.array_equal(model.row_weight, other.row_weight) == (name == "lbfgs")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: LBFGS(c1=-1), "c1 must be a number of at least 0"),
        (lambda: LBFGS(c2=float("nan")), "c2 must be"),
        (lambda: LBFGS(linesearch="Golden"), "MoreThuente, Backtracking, StrongBacktracking"),
        (lambda: LBFGS(num_memories=0), "num_memories must be a whole number of at least 1"),
        (lambda: LBFGS(max_iterations="5"), "whole number"),  # type: ignore[arg-type]
        (lambda: L2SGD(calibration_rate=1.0), "above 1"),
        (lambda: L2SGD(calibration_eta=0), "above 0"),
        (lambda: SGD(decay=1.1), "at most 1"),
        (lambda: PassiveAggressive(pa_type=3), "0, 1 or 2"),
        (lambda: PassiveAggressive(c=0), "above 0"),
        (lambda: AROW(variance=0), "above 0"),
        (lambda: AveragedPerceptron(epsilon=-1), "at least 0"),
    ],
)
def test_bad_options_are_refused(make: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        make()
