"""The averaged structured perceptron: the learner ``perceptron``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from certus import _native
from certus.errors import InvalidInput
from certus.learn.feature_learner import FeatureLearner
from certus.learn.learner import option
from certus.learn.trainer import Arrays, EpochTrainer, as_arrays

if TYPE_CHECKING:  # what training alone needs is imported when it is asked for: tagging starts sooner
    from certus.learn.features.data import TrainingSet

DECODERS = ("auto", "viterbi", "carpediem", "staggered")
_NAMED = f"{', '.join(DECODERS[:-1])} or {DECODERS[-1]}"


@dataclass(frozen=True, kw_only=True)
class PerceptronLearner(FeatureLearner):
    """The averaged structured perceptron (Collins 2002), decoding exactly (Kaji et al. 2010)."""

    name: ClassVar[str] = "perceptron"
    papers: ClassVar[tuple[str, ...]] = ("collins2002", "kaji2010")
    about: ClassVar[str] = "averaged, decoding exactly; quick to train, proven answers"
    agreement_scale: ClassVar[float] = 6.0

    min_count: int = option(2, "Features that occur less often are left out.", least=1)
    margin: float = option(
        0.4,
        "How much better than any other the right label must score, measured in updates of one token.",
        least=0,
    )
    burn_in: int = option(1, "Epochs that averaged weights leave out.", least=0)
    decoder: str = option("auto", f"How sentences are decoded in training: {_NAMED}, which are all exact.")

    def __post_init__(self) -> None:
        """Refuse values out of range."""
        super().__post_init__()
        if self.decoder not in DECODERS:
            raise InvalidInput(f"decoder is {self.decoder!r}; there are {', '.join(DECODERS)} in training")

    @property
    def pairs(self) -> bool:
        """Whether it learns features of two labels in a row."""
        return True

    def start(self, data: TrainingSet, threads: int) -> PerceptronTrainer:
        """Make what learns the weights; it works on one thread."""
        return PerceptronTrainer(data, self)


class PerceptronTrainer(EpochTrainer[_native.Perceptron]):
    """The native averaged perceptron, an epoch at a time."""

    def __init__(self, data: TrainingSet, learner: PerceptronLearner) -> None:
        self._data, self._drop = data, learner.drop
        method = _native.METHODS.index(learner.decoder)
        native = _native.Perceptron(data.corpus, data.tagset, method, data.pair_corpus)
        # An update raises the right label and lowers the wrong one, by one for each feature and unit.
        units = float((data.inventory.table >= 0).sum(1).mean())
        native.margin = round(learner.margin * 2 * units * data.corpus.occurrences / data.corpus.tokens)
        native.burn_in_epochs = learner.burn_in
        self._native = native

    def epoch(self, order: NDArray[np.int64]) -> float:
        """Go once over the sentences; return the share of tokens that were wrong, or right by too little."""
        return self._native.epoch(order).errors / self._data.corpus.tokens

    def compile(self) -> Arrays:
        """Return the averaged weights."""
        data = self._data
        return as_arrays(self._native.compile(data.corpus, data.tagset, self._drop, data.pair_corpus))
