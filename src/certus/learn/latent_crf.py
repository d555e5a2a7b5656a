"""Training taggers as CRFs whose labels have latent states: the learner ``latent-crf``.

The likelihood of the labels, summed over their latent paths (Sun & Tsujii 2009, equation 4), has many local
optima: states of a label that begin alike stay alike. Weights therefore begin at random, and training may
begin again from others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certus.learn import options
from certus.learn.crf.algorithms import LBFGS
from certus.learn.features.data import TrainingSet
from certus.learn.first_order import compiled, trainer_of

Arrays = dict[str, NDArray[Any]]
_BEST, _NUMBERS = "restart.best", "restart.numbers"


class LatentCrf:
    """The native learner of latent-dynamic CRFs, behind the protocol of ``certus.learn.training``.

    An epoch is an iteration of L-BFGS. After the last one of a beginning, or when it has converged, the next
    one begins. When all are over, the weights are those of the beginning with the best objective.
    """

    def __init__(self, data: TrainingSet, chosen: options.LatentCrf, threads: int) -> None:
        self._data, self._chosen, self._threads = data, chosen, threads
        self._algorithm = LBFGS(c2=0.5 / chosen.variance)
        self._trainer = trainer_of(data, chosen.latent, chosen.pair_of == "labels")
        self._restart = self._before = 0  # which beginning this is, and the epochs of those before it
        self._least, self._best = np.inf, np.empty(0)
        self._over = False
        self._begin()

    def _begin(self) -> None:
        draw = np.random.default_rng((self._chosen.seed, self._restart))
        weights = np.zeros(self._trainer.size)
        singles = weights[: self._trainer.singles]
        singles[:] = draw.normal(scale=self._chosen.scale, size=len(singles))
        self._trainer.weights = weights
        self._native = self._algorithm.start(self._trainer, self._threads)

    @property
    def epochs(self) -> int:
        """How many were done, in all beginnings."""
        return self._before + self._native.epochs

    @property
    def done(self) -> bool:
        """Whether the last beginning has come to its end."""
        return self._over

    def epoch(self, order: NDArray[np.int64]) -> float:
        """Do an iteration, of the next beginning if this one is over."""
        if self._ended:
            self.again()
        objective = float(self._native.epoch(order))
        if self._ended:
            self._keep(objective)
            if self._restart + 1 == self._chosen.restarts:
                self._finish()
        return objective / self._data.corpus.tokens

    @property
    def _ended(self) -> bool:
        return self._native.done or self._native.epochs >= self._chosen.epochs

    @property
    def beginning(self) -> int:
        """How many times it has begun anew."""
        return self._restart

    def again(self) -> bool:
        """Begin anew from other weights; tells whether that was possible."""
        if self._restart + 1 >= self._chosen.restarts:
            return False
        self._before += self._native.epochs
        self._restart += 1
        self._begin()
        return True

    def _keep(self, objective: float) -> None:
        """Remember the weights of a beginning that is over, if they are the best so far."""
        if self._chosen.restarts > 1 and objective < self._least:
            self._least, self._best = objective, self._trainer.weights

    def _finish(self) -> None:
        if len(self._best):
            self._trainer.weights = self._best
        self._over = True

    def compiled(self) -> Arrays:
        """Return the weights."""
        chosen = self._chosen
        states = len(self._data.inventory) * chosen.latent
        paired = chosen.paired(len(self._data.inventory))
        return compiled(self._trainer, self._data, states, chosen.drop, paired)

    def state(self) -> Arrays:
        """Return what training goes on from."""
        numbers = [self._restart, self._before, self._least, self._over]
        return {**self._native.state(), _BEST: self._best, _NUMBERS: np.array(numbers, np.float64)}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on from there."""
        restart, before, least, over = state[_NUMBERS].tolist()
        self._restart, self._before, self._over = int(restart), int(before), bool(over)
        self._least, self._best = least, np.array(state[_BEST])
        self._native.restore({name: a for name, a in state.items() if name not in (_BEST, _NUMBERS)})
