"""The loop that trains: epochs, dev accuracy, early stopping, checkpoints."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from certus.learn.checkpoint import Checkpoint, Standing
from certus.learn.progress import Progress
from certus.learn.trainer import Arrays, Trainer


@dataclass(frozen=True, eq=False)
class Outcome:
    """What training ends with.

    Attributes:
        weights: compiled, of the best epoch on the dev data; of the last one without any.
        accuracy: theirs on the dev data, or None.
    """

    weights: Arrays
    accuracy: float | None


def train(
    trainer: Trainer,
    *,
    epochs: int,
    order: Callable[[int], NDArray[np.int64]],
    progress: Callable[[Progress], object],
    patience: int | None = None,
    measure: Callable[[Arrays], float] | None = None,
    checkpoint: Checkpoint | None = None,
) -> Outcome:
    """Train until the epochs are over, dev accuracy stops rising or the trainer has converged.

    Args:
        trainer: learns the weights.
        epochs: the most there may be.
        order: returns the order of sentences in an epoch, counted from 0. It should depend on nothing else,
            so that a resumed run sees the same orders.
        progress: is told of each epoch, and ends training where it returns True.

    Other args:
        patience: epochs without a better dev accuracy after which to restart or to stop. None measures
            accuracy, but neither stops by it nor chooses an epoch.
        measure: returns the accuracy of compiled weights on dev data; None without any.
        checkpoint: where to keep the state.
    """
    checkpoint = checkpoint or Checkpoint(None, {})
    standing = checkpoint.load(trainer) or Standing({})
    began, first = time.perf_counter(), trainer.epochs
    for epoch in range(first, epochs):
        tired = patience is not None and standing.since >= patience
        if trainer.done or (tired and not trainer.restart()):
            break
        before = trainer.restarts
        loss = trainer.epoch(order(epoch))
        if loss is None:
            break
        last = trainer.done or epoch + 1 == epochs
        if tired or trainer.restarts != before:
            standing = replace(standing, since=0, peak=None)  # the dev accuracy begins from below, too
        dev = None
        if measure is not None or (last and patience is not None):
            weights = trainer.compile()
            dev = None if measure is None else measure(weights)
            standing = standing.follow(weights, dev)
        checkpoint.save(trainer, standing)
        seconds = time.perf_counter() - began
        left = 0.0 if last else seconds / (epoch + 1 - first) * (epochs - epoch - 1)
        if progress(Progress(epoch + 1, epochs, loss, dev, seconds, left)) is True:
            break
    if patience is not None and standing.weights:
        return Outcome(standing.weights, standing.accuracy)
    trainer.finish()
    return Outcome(trainer.compile(), None)
