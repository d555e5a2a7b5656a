"""Estimates from more and more sentences of a known model, whose marginals should approach the true ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from certus.learn.refinement import (
    EmRefinement,
    Features,
    Observed,
    Parameters,
    PlainHmm,
    Refinement,
    Smoothing,
    SpectralRefinement,
)
from certus.learn.refinement.sampling import sample
from certus_bench.refinement.plan import Error, Report

LABELS, HIDDEN, OBSERVATIONS = 4, 3, 12
_FEATURES = Features(
    future="a[1]*x[1] x[0] a[1]", past="a[-1]*x[-1] a[-1] x[-1]", destiny="a[-1]*x[-1] a[1]*x[1]"
)
_SEEDS = 3
_TEST = 500  # sentences that marginals are compared on

Tell = Callable[[str, float], None]


def known() -> Parameters:
    """Return the model that sentences are drawn from."""
    return Parameters.random(LABELS, HIDDEN, OBSERVATIONS, seed=1, concentration=0.3)


def spectral() -> Refinement:
    """Return the estimator without smoothing: nothing but the moments."""
    return SpectralRefinement(
        HIDDEN,
        features=_FEATURES,
        smoothing=Smoothing(pairs=0.0, seen=0.0),
        tolerance=1e-4,
        rare=0.0,
        deficient="ignore",
    )


def measure(report: Report, tell: Tell) -> None:
    """Estimate the model from samples of each size."""
    model = known()
    test = sample(model, _TEST, seed=10_000)
    asked = [observations for observations, _ in test.sentences()]
    truth = model.operators.sums(Observed(test.observations, test.offsets)).marginals
    makers: dict[str, Callable[[], Refinement]] = {
        "spectral": spectral,
        "EM": lambda: EmRefinement(HIDDEN, iterations=50),
        "plain HMM": PlainHmm,
    }
    steps = [(size, what) for size in report.plan.samples for what in makers]
    for n, (size, what) in enumerate(steps):
        tell(f"{what} from {size:,} drawn sentences", n / len(steps))
        errors, seconds = [], []
        for seed in range(_SEEDS):
            sentences = sample(model, size, seed=seed).sentences()
            begin = perf_counter()
            fitted = makers[what]().fit(sentences, labels=[str(a) for a in range(LABELS)])
            seconds.append(perf_counter() - begin)
            errors.append(_error(fitted, asked, truth))
        report.errors.append(Error(what, size, float(np.mean(errors)), float(np.mean(seconds))))


def _error(fitted: Refinement, asked: list[Sequence[str]], truth: NDArray[np.float64]) -> float:
    found = np.concatenate([answer.probabilities for answer in fitted.marginals(asked)])
    return float(np.linalg.norm(found - truth) / np.linalg.norm(truth))
