"""Training taggers as first-order CRFs over all labels: the learner ``crf``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from certus import _native
from certus.learn import crf, options, training
from certus.learn.crf_algorithms import LBFGS, SGD, Algorithm
from certus.learn.data import TrainingSet
from certus.learn.training import Arrays


def algorithm(chosen: options.Crf) -> Algorithm:
    """Return the algorithm that the options name."""
    if chosen.algorithm == "sgd":
        return SGD(c1=chosen.c1, max_iterations=chosen.epochs)
    return LBFGS(c1=chosen.c1, c2=chosen.c2, max_iterations=chosen.epochs)


def train(
    data: TrainingSet,
    chosen: options.Crf,
    *,
    accuracy: Callable[[Arrays], float] | None,
    progress: Callable[[training.Progress], None],
    threads: int,
) -> tuple[Arrays, float | None]:
    """Train until the epochs are over or dev accuracy stops rising.

    Returns:
        The compiled weights of the best epoch, and their dev accuracy.
    """
    best: Arrays = {}
    best_dev: float | None = None
    since = 0

    def report(step: crf.Progress) -> bool:
        nonlocal best, best_dev, since
        dev = None
        if accuracy is not None:
            weights = arrays_of(step.model(), data, chosen.drop)
            dev = accuracy(weights)
            if best_dev is None or dev > best_dev:
                best, best_dev, since = weights, dev, 0
            else:
                since += 1
        left = step.seconds / step.iteration * (chosen.epochs - step.iteration)
        loss = step.loss / data.corpus.tokens
        progress(training.Progress(step.iteration, chosen.epochs, loss, dev, step.seconds, left))
        return since >= chosen.patience

    sentences, tokens, features = data.corpus.arrays()
    model = crf.train_crf(
        crf.Corpus(sentences, tokens, features),
        data.labels,
        labels=len(data.inventory),
        features=data.corpus.features,
        algorithm=algorithm(chosen),
        threads=threads,
        seed=chosen.seed,
        report=report,
    )
    return (best, best_dev) if best else (arrays_of(model, data, chosen.drop), None)


def arrays_of(model: crf.ChainCRF, data: TrainingSet, least: float) -> Arrays:
    """Return the weights as a model file holds them."""
    table: dict[str, Any] = dict(
        _native.compile_rows(
            data.corpus, data.inventory.units, model.row_begin, model.row_label, model.row_weight, least
        )
    )
    origin, target = np.nonzero(model.transitions)
    table["transition_from"], table["transition_to"] = origin, target
    table["transition_score"] = model.transitions[origin, target].astype(np.float32)
    return {name: np.asarray(value) for name, value in table.items()}
