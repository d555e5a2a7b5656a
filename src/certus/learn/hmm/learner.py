"""A hidden Markov model that is estimated by counting: the learner ``hmm``."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from certus.learn.decoder import Decoder
from certus.learn.hmm.decoder import HmmDecoder
from certus.learn.hmm.model import DECLARATION, Hmm, estimate
from certus.learn.learner import Learned, Learner, TrainingData, option
from certus.storage.declaration import Declaration

if TYPE_CHECKING:
    from certus.learn.progress import Progress


@dataclass(frozen=True, kw_only=True)
class HmmLearner(Learner):
    """A smoothed hidden Markov model with a suffix model for unknown words (Brants 2000)."""

    name: ClassVar[str] = "hmm"
    about: ClassVar[str] = "a smoothed Markov model, trains in a second; proven answers"
    shares_parts: ClassVar[bool] = False
    declaration: ClassVar[Declaration] = DECLARATION

    suffixes: int = option(10, "The longest ending of rare words to look at.", least=0)

    def fit(
        self,
        data: TrainingData,
        *,
        checkpoint: str | os.PathLike[str] | None,
        progress: Callable[[Progress], object],
        threads: int,
    ) -> Learned:
        """Count; there are no epochs to tell of, nor to go on from."""
        examples = data.examples
        inventory = self.list_labels(data.target, sorted(set(examples.labels)))
        labels = np.split(inventory.number_labels(examples.labels), np.cumsum(examples.lengths)[:-1])
        words = [cells[0] for cells in examples.cells]
        model = estimate(words, labels, len(inventory), rare=self.rare, suffixes=self.suffixes)
        accuracy = None
        if data.held_out is not None:
            gold = inventory.number_labels(data.held_out.labels)
            accuracy = HmmDecoder(model).measure_accuracy(data.held_out.cells, gold, threads)
        return Learned(inventory, model.to_arrays(), {"columns": ["word"]}, accuracy)

    def make_decoder(self, learned: Learned) -> Decoder:
        """Make what scores words by the model and decodes the scores."""
        return HmmDecoder(Hmm.from_arrays(learned.arrays))
