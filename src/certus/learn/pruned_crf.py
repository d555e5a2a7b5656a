"""CRFs of any order over pruned lattices: the learner ``pruned-crf``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from certus import _native
from certus.errors import InvalidInput
from certus.learn.feature_decoder import CASCADE
from certus.learn.feature_learner import FeatureLearner
from certus.learn.learner import Learned, option
from certus.learn.trainer import Arrays, EpochTrainer, as_arrays
from certus.storage.declaration import Declaration

if TYPE_CHECKING:  # what training alone needs is imported when it is asked for: tagging starts sooner
    from certus.learn.features.data import TrainingSet


@dataclass(frozen=True, kw_only=True)
class PrunedCrfLearner(FeatureLearner):
    """A CRF of any order over lattices pruned by those of lower order (Müller, Schmid and Schütze 2013)."""

    name: ClassVar[str] = "pruned-crf"
    papers: ClassVar[tuple[str, ...]] = ("mueller2013",)
    about: ClassVar[str] = "of any order (as crf with --order 2); the best for morphology"
    declaration: ClassVar[Declaration] = CASCADE

    order: int = option(2, "How many labels back transitions look.", least=1)
    rate: float = option(0.1, "Learning rate of the first epoch.", least=1e-9)
    decay: float = option(0.3, "In epoch e the rate is rate / (1 + decay e).", least=0)
    l1: float = option(0.0, "L1 penalty, cumulative; weights are then not averaged.", least=0)
    burn_in: int = option(1, "Epochs that averaged weights leave out.", least=0)
    least: float = option(0.03, "Pairs get a weight from gradients at least this large.", least=0)
    wanted: tuple[float, ...] = option(
        (4, 4, 2, 1.5), "Coarse tags, labels, states of order 1, 2, ... to keep per position, on average."
    )

    def __post_init__(self) -> None:
        """Refuse values out of range."""
        super().__post_init__()
        if self.order > _native.MOST_ORDER:
            raise InvalidInput(f"order is {self.order}; orders go up to {_native.MOST_ORDER}")
        if len(self.wanted) < 2 or min(self.wanted) < 1:
            raise InvalidInput(f"wanted is {self.wanted}; at least two numbers, each at least 1, are needed")

    @property
    def history(self) -> int:
        """How many labels back transitions look."""
        return self.order

    def list_sizes(self, labels: int) -> dict[str, int]:
        """Return the sizes that arrays of a model with so many labels have."""
        return {"labels": labels, "order": self.order}

    def start(self, data: TrainingSet, threads: int) -> PrunedCrfTrainer:
        """Make what learns the weights; it works on one thread."""
        return PrunedCrfTrainer(data, self)

    def describe(self, learned: Learned) -> dict[str, Any]:
        """Return what a model file says about the model."""
        return {**super().describe(learned), "order": self.order}


class PrunedCrfTrainer(EpochTrainer[_native.PrunedCrf]):
    """The native learner of pruned CRFs, an epoch at a time.

    Attributes:
        lost: the share of sentences whose labels pruning dropped in the last epoch.
    """

    lost = 0.0

    def __init__(self, data: TrainingSet, learner: PrunedCrfLearner) -> None:
        self._data, self._drop = data, learner.drop
        self._native = _native.PrunedCrf(
            data.corpus,
            data.tagset,
            order=learner.order,
            rate=learner.rate,
            decay=learner.decay,
            l1=learner.l1,
            burn_in=learner.burn_in,
            least=learner.least,
            wanted=list(map(float, learner.wanted)),
        )

    def epoch(self, order: NDArray[np.int64]) -> float:
        """Go once over the sentences; return the negative log-likelihood per token."""
        found = self._native.epoch(order)
        self.lost = sum(found.updates[:-1]) / max(1, sum(found.updates))
        return found.loss

    @property
    def keep_gold(self) -> bool:
        """Whether pruning never drops the labels to be learned: only to see what it costs that it does."""
        return self._native.keep_gold

    @keep_gold.setter
    def keep_gold(self, keep: bool) -> None:
        self._native.keep_gold = keep

    def compile(self) -> Arrays:
        """Return the weights, averaged unless there is a penalty."""
        return as_arrays(self._native.compile(self._data.corpus, self._drop))
