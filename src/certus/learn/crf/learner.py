"""Training taggers as first-order CRFs over all labels: the learner ``crf``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certus import _native
from certus.learn import options
from certus.learn.crf import model as crf
from certus.learn.crf.algorithms import LBFGS, SGD
from certus.learn.features.data import TrainingSet


class FirstOrder:
    """The native learners of first-order CRFs, behind the protocol of ``certus.learn.training``."""

    def __init__(self, data: TrainingSet, chosen: options.Crf, threads: int) -> None:
        self._data, self._drop = data, chosen.drop
        self._trainer = trainer_of(data)
        self._native = algorithm(chosen).start(self._trainer, threads)

    @property
    def beginning(self) -> int:
        """The first: there is one optimum."""
        return 0

    def again(self) -> bool:
        """Never."""
        return False

    @property
    def epochs(self) -> int:
        """How many were done."""
        return self._native.epochs

    @property
    def done(self) -> bool:
        """Whether L-BFGS has converged."""
        return self._native.done

    def epoch(self, order: NDArray[np.int64]) -> float:
        """Go once over the sentences; L-BFGS looks at all of them, once or more, for each iteration."""
        return self._native.epoch(order) / self._data.corpus.tokens

    def compiled(self) -> dict[str, NDArray[Any]]:
        """Return the weights."""
        return compiled(self._trainer, self._data, self._data.inventory.units, self._drop)

    def state(self) -> dict[str, NDArray[Any]]:
        """Return what training goes on from."""
        return self._native.state()

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on from there."""
        self._native.restore(dict(state))


def trainer_of(data: TrainingSet, latent: int = 1, shared_pairs: bool = False) -> _native.CrfTrainer:
    """Lay out the weights of training data."""
    pairs = data.pair_corpus
    return crf.make_trainer(
        crf.Corpus(*data.corpus.arrays()),
        data.labels,
        labels=len(data.inventory),
        features=data.corpus.features,
        latent=latent,
        pairs=None if pairs is None else crf.Corpus(*pairs.arrays()),
        pair_features=0 if pairs is None else pairs.features,
        shared_pairs=shared_pairs,
    )


def compiled(
    trainer: _native.CrfTrainer, data: TrainingSet, units: int, drop: float, paired: int = 0
) -> dict[str, NDArray[Any]]:
    """Return the weights as a model file holds them: the compiled features, and the transitions.

    ``paired`` is how many labels or states features of pairs are of, if not as many as there are units.
    """
    row_begin, row_label, row_weight, transitions = trainer.model().rows()
    table: dict[str, Any] = dict(
        _native.compile_rows(data.corpus, units, row_begin, row_label, row_weight, drop)
    )
    if data.pair_corpus is not None:
        pairs = _native.compile_rows(data.pair_corpus, (paired or units) ** 2, *trainer.pair_rows(), drop)
        table |= {f"pair_{name}": value for name, value in pairs.items()}
    origin, target = np.nonzero(transitions)
    table["transition_from"], table["transition_to"] = origin, target
    table["transition_score"] = transitions[origin, target].astype(np.float32)
    return {name: np.asarray(value) for name, value in table.items()}


def algorithm(chosen: options.Crf) -> SGD | LBFGS:
    """Return the algorithm that the options name."""
    if chosen.algorithm == "sgd":
        return SGD(c1=chosen.c1)
    return LBFGS(c1=chosen.c1, c2=chosen.c2)
