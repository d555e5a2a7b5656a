"""What happens while a CRF is trained."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certus import _native
from certus.learn.crf.model import ChainCRF, ItemCorpus
from certus.learn.progress import Progress
from certus.models.crf import inputs


class TrainingLog:
    """Keeps and prints what happens in training."""

    def __init__(
        self,
        verbose: bool,
        names: tuple[str, ...],
        vocabulary: _native.CrfVocabulary,
        dev: tuple[Sequence[Any], list[Sequence[str]]] | None,
    ) -> None:
        self.entries: list[dict[str, Any]] = []
        self._verbose = verbose
        self._before = 0.0
        self._dev: tuple[ItemCorpus, NDArray[np.int32]] | None = None
        if dev:
            corpus = ItemCorpus.of_native(vocabulary.lookup(dev[0], "X_dev"))
            inputs.check_same_lengths("X_dev", corpus, dev[1])
            numbers = {name: n for n, name in enumerate(names)}
            gold = [numbers.get(label, -1) for labels in dev[1] for label in labels]
            self._dev = corpus, np.array(gold, np.int32)

    @property
    def measure(self) -> Callable[[ChainCRF], float] | None:
        """What returns the accuracy of a model on the dev sentences; None without any."""
        if self._dev is None or not self._dev[0].tokens:
            return None
        corpus, gold = self._dev
        return lambda model: float(np.mean(model.decode(corpus) == gold))

    def __call__(self, progress: Progress) -> None:
        """Take down an iteration."""
        entry: dict[str, Any] = {
            "num": progress.epoch,
            "loss": progress.loss,
            "time": progress.seconds - self._before,
        }
        if progress.dev is not None:
            entry["dev_accuracy"] = progress.dev
        self._before = progress.seconds
        self.entries.append(entry)
        if self._verbose:
            dev = "" if progress.dev is None else f"  dev accuracy {progress.dev:.4f}"
            print(
                f"iteration {entry['num']}  loss {entry['loss']:.4f}  {entry['time']:.2f} s{dev}", flush=True
            )
