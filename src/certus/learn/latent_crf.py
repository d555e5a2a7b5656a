"""CRFs whose labels have latent states: the learner ``latent-crf``.

The likelihood of the labels, summed over their latent paths (Sun & Tsujii 2009, equation 4), has many local
optima: states of a label that begin alike stay alike. Weights therefore begin at random, and training may
begin again from others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from certus import _native
from certus.errors import InvalidInput
from certus.learn.crf.learner import compile_weights, lay_out_weights
from certus.learn.decoder import Decoder
from certus.learn.feature_learner import FeatureLearner
from certus.learn.features.inventory import Inventory
from certus.learn.latent_decoder import (
    STEPS,
    STEPS_HELP,
    LatentDecoder,
    check_inference,
    restore_inference,
)
from certus.learn.learner import option
from certus.learn.trainer import Arrays, Trainer

if TYPE_CHECKING:  # what training alone needs is imported when it is asked for: tagging starts sooner
    from certus.learn.features.data import TrainingSet

_MOST = 1 << 32  # bytes that the transitions of a model may take in training,
_VECTORS = 20  # which L-BFGS remembers this many times
_BEST, _NUMBERS = "restart.best", "restart.numbers"


@dataclass(frozen=True, kw_only=True)
class LatentCrfLearner(FeatureLearner):
    """A first-order CRF whose labels have latent states (Morency et al. 2007; Sun & Tsujii 2009)."""

    name: ClassVar[str] = "latent-crf"
    papers: ClassVar[tuple[str, ...]] = ("morency2007", "sun2009")
    about: ClassVar[str] = "with latent states, for few labels; mostly proven answers"
    proves: ClassVar[bool] = False
    shares_parts: ClassVar[bool] = False

    latent: int = option(4, "Latent states of each label.", least=1)
    epochs: int = option(100, "Iterations of L-BFGS from each beginning.", least=1)
    restarts: int = option(1, "How many times to begin, each time from other weights.", least=1)
    variance: float = option(1.0, "The variance of the Gaussian prior of weights.", least=1e-9)
    scale: float = option(0.1, "Standard deviation of the weights that training begins from.", least=1e-9)
    seed: int = option(0, "The seed of the weights that training begins from.", least=0)
    patience: int = option(
        10, "Begin again, or stop, after this many epochs without a better dev accuracy.", least=1
    )
    pair_of: str = option("labels", "What templates of pairs look at: labels or latent states.")
    inference: str = option("ldi", "How labels are found: ldi, bhp, bmp or mbr.")
    steps: int = option(STEPS, STEPS_HELP, least=0)

    def __post_init__(self) -> None:
        """Refuse values out of range."""
        super().__post_init__()
        check_inference(self.inference)
        if self.pair_of not in ("labels", "states"):
            raise InvalidInput(f"pair_of is {self.pair_of!r}; pairs are of labels or of states")

    @property
    def pairs(self) -> bool:
        """Whether it learns features of two labels in a row."""
        return True

    @property
    def total(self) -> int:
        """How many epochs there may be in all."""
        return self.epochs * self.restarts

    def count_paired(self, labels: int) -> int:
        """Return how many labels or states features of pairs are of."""
        return labels if self.pair_of == "labels" else labels * self.latent

    def list_sizes(self, labels: int) -> dict[str, int]:
        """Return the sizes that arrays of a model with so many labels have."""
        paired = self.count_paired(labels)
        return {"labels": labels, "states": labels * self.latent, "pairs": paired**2}

    def check_size(self, labels: int) -> None:
        """Refuse more states than memory holds, before it is full."""

        def size(latent: int) -> int:
            return _VECTORS * 8 * (labels * latent) ** 2

        if size(self.latent) > _MOST:
            fits = next(latent for latent in count() if size(latent + 1) > _MOST)
            advice = f"set latent to {fits} at most" if fits else "take another learner, such as pruned-crf"
            raise InvalidInput(
                f"{labels:,} labels with {self.latent:,} latent states each take "
                f"{size(self.latent) / 2**30:,.1f} GB for their transitions alone: {advice}"
            )

    def start(self, data: TrainingSet, threads: int) -> LatentCrfTrainer:
        """Make what learns the weights."""
        return LatentCrfTrainer(data, self, threads)

    def decode_by(
        self,
        inventory: Inventory,
        tagset: _native.Tagset,
        weights: Mapping[str, NDArray[Any]],
        extractor: _native.Extractor,
        pair_extractor: _native.Extractor | None,
    ) -> Decoder:
        """Make the decoder of some weights."""
        return LatentDecoder(
            extractor,
            pair_extractor,
            inventory,
            weights,
            latent=self.latent,
            paired=self.count_paired(len(inventory)),
            inference=restore_inference(self.inference, self.steps, inventory.labels),
        )


class LatentCrfTrainer(Trainer):
    """The native learner of latent-dynamic CRFs, an epoch at a time.

    An epoch is an iteration of L-BFGS. After the last one of a beginning, or when it has converged, the next
    one begins. When all are over, the weights are those of the beginning with the best objective.
    """

    def __init__(self, data: TrainingSet, learner: LatentCrfLearner, threads: int) -> None:
        from certus.learn.crf.algorithms import LBFGS

        learner.check_size(len(data.inventory))
        self._data, self._learner, self._threads = data, learner, threads
        self._algorithm = LBFGS(c2=0.5 / learner.variance)
        self._trainer = lay_out_weights(data, learner.latent, learner.pair_of == "labels")
        self._restart = self._before = 0  # which beginning this is, and the epochs of those before it
        self._least, self._best = np.inf, np.empty(0)
        self._over = False
        self._begin()

    def _begin(self) -> None:
        draw = np.random.default_rng((self._learner.seed, self._restart))
        weights = np.zeros(self._trainer.size)
        singles = weights[: self._trainer.singles]
        singles[:] = draw.normal(scale=self._learner.scale, size=len(singles))
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
            self.restart()
        objective = float(self._native.epoch(order))
        if self._ended:
            self._keep(objective)
            if self._restart + 1 == self._learner.restarts:
                self._finish()
        return objective / self._data.corpus.tokens

    @property
    def _ended(self) -> bool:
        return self._native.done or self._native.epochs >= self._learner.epochs

    @property
    def restarts(self) -> int:
        """How many times it has begun anew."""
        return self._restart

    def restart(self) -> bool:
        """Begin anew from other weights; tells whether that was possible."""
        if self._restart + 1 >= self._learner.restarts:
            return False
        self._before += self._native.epochs
        self._restart += 1
        self._begin()
        return True

    def _keep(self, objective: float) -> None:
        """Remember the weights of a beginning that is over, if they are the best so far."""
        if self._learner.restarts > 1 and objective < self._least:
            self._least, self._best = objective, self._trainer.weights

    def _finish(self) -> None:
        if len(self._best):
            self._trainer.weights = self._best
        self._over = True

    def compile(self) -> Arrays:
        """Return the weights."""
        labels, learner = len(self._data.inventory), self._learner
        paired = learner.count_paired(labels)
        return compile_weights(self._trainer, self._data, labels * learner.latent, learner.drop, paired)

    def state(self) -> Arrays:
        """Return what training goes on from."""
        numbers = [self._restart, self._before, self._least, self._over]
        return {**self._native.state(), _BEST: self._best, _NUMBERS: np.array(numbers, np.float64)}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on from there."""
        restart, before, least, over = state[_NUMBERS].tolist()
        if len(state[_BEST]) not in (0, self._trainer.size) or not np.isfinite(state[_BEST]).all():
            raise InvalidInput("the weights of the best beginning are not those of this model")
        self._restart, self._before, self._over = int(restart), int(before), bool(over)
        self._least, self._best = least, np.array(state[_BEST])
        self._native.restore({name: a for name, a in state.items() if name not in (_BEST, _NUMBERS)})
