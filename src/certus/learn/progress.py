"""What training reports while it runs."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """An epoch of training that has ended, or a stage that begins.

    Attributes:
        epoch: counted from 1; 0 for a stage.
        epochs: how many there may be; 0 for a stage.
        loss: what the learner calls its loss: for a CRF the negative log-likelihood per token, for a
            perceptron the share of tokens that it got wrong, or right by less than the margin; NaN for a
            stage.
        dev: accuracy on the dev data, or None without any.
        seconds: since training began, in this run.
        left: an estimate of the seconds still needed; 0 for a stage.
        stage: what begins now, such as "estimating the language model"; None for an epoch.
    """

    epoch: int
    epochs: int
    loss: float
    dev: float | None
    seconds: float
    left: float
    stage: str | None = None

    @classmethod
    def begin(cls, stage: str, seconds: float) -> Progress:
        """Return the record of a stage that begins after so many seconds."""
        return cls(0, 0, math.nan, None, seconds, 0.0, stage)
