"""What is told of training while it goes on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """An epoch of training.

    Attributes:
        epoch: counted from 1.
        epochs: how many there may be.
        loss: what the learner calls its loss: for a CRF the negative log-likelihood per token, for a
            perceptron the share of tokens that it got wrong, or right by less than the margin.
        dev: accuracy on the dev data, or None without any.
        seconds: since training began, in this run.
        left: an estimate of the seconds still needed.
    """

    epoch: int
    epochs: int
    loss: float
    dev: float | None
    seconds: float
    left: float
