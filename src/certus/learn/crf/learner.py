"""First-order CRFs over all labels: the learner ``crf``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from certus import _native
from certus.errors import InvalidInput
from certus.learn.feature_learner import FeatureLearner
from certus.learn.learner import option
from certus.learn.trainer import Arrays, EpochTrainer, as_arrays

if TYPE_CHECKING:  # what training alone needs is imported when it is asked for: tagging starts sooner
    from certus.learn.features.data import TrainingSet


@dataclass(frozen=True, kw_only=True)
class CrfLearner(FeatureLearner):
    """A first-order CRF over all labels, without pruning."""

    name: ClassVar[str] = "crf"
    papers: ClassVar[tuple[str, ...]] = ("lafferty2001",)
    about: ClassVar[str] = "first-order, for up to some hundred labels; proven answers"
    shares_parts: ClassVar[bool] = False

    epochs: int = option(30, "Passes over the training data, or iterations of L-BFGS.", least=1)
    algorithm: str = option("sgd", "How to optimise: sgd (cumulative L1 penalty) or lbfgs.")
    c1: float = option(0.1, "L1 penalty; with lbfgs by OWL-QN.", least=0)
    c2: float = option(0.0, "L2 penalty; only lbfgs has one.", least=0)

    def __post_init__(self) -> None:
        """Refuse values out of range."""
        super().__post_init__()
        if self.algorithm not in ("sgd", "lbfgs"):
            raise InvalidInput(f"algorithm is {self.algorithm!r}; there are sgd and lbfgs")
        if self.algorithm == "sgd" and self.c2:
            raise InvalidInput("c2 is a penalty of lbfgs; sgd has c1")

    @property
    def pairs(self) -> bool:
        """Whether it learns features of two labels in a row."""
        return self.algorithm == "lbfgs"

    def start(self, data: TrainingSet, threads: int) -> FirstOrderTrainer:
        """Make what learns the weights."""
        return FirstOrderTrainer(data, self, threads)


class FirstOrderTrainer(EpochTrainer[_native.CrfSgd | _native.CrfLbfgs]):
    """The native learners of first-order CRFs, an epoch at a time."""

    def __init__(self, data: TrainingSet, learner: CrfLearner, threads: int) -> None:
        from certus.learn.crf.algorithms import LBFGS, SGD

        self._data, self._drop = data, learner.drop
        self._weights = lay_out_weights(data)
        chosen = SGD(c1=learner.c1) if learner.algorithm == "sgd" else LBFGS(c1=learner.c1, c2=learner.c2)
        self._native = chosen.start(self._weights, threads)

    @property
    def done(self) -> bool:
        """Whether L-BFGS has converged."""
        return self._native.done

    def epoch(self, order: NDArray[np.int64]) -> float:
        """Go once over the sentences; L-BFGS looks at all of them, once or more, for each iteration."""
        return self._native.epoch(order) / self._data.corpus.tokens

    def compile(self) -> Arrays:
        """Return the weights."""
        return compile_weights(self._weights, self._data, self._data.inventory.units, self._drop)


def lay_out_weights(data: TrainingSet, latent: int = 1, shared_pairs: bool = False) -> _native.CrfTrainer:
    """Lay out the weights that training data give rise to."""
    from certus.learn.crf.model import ItemCorpus, make_trainer

    pairs = data.pair_corpus
    return make_trainer(
        ItemCorpus.of_native(data.corpus),
        data.labels,
        labels=len(data.inventory),
        features=data.corpus.features,
        latent=latent,
        pairs=None if pairs is None else ItemCorpus.of_native(pairs),
        pair_features=0 if pairs is None else pairs.features,
        shared_pairs=shared_pairs,
    )


def compile_weights(
    trainer: _native.CrfTrainer, data: TrainingSet, units: int, drop: float, paired: int = 0
) -> Arrays:
    """Return the weights as a model file holds them: the compiled features, and the transitions.

    ``paired`` is how many labels or states features of pairs are of, if not as many as there are units.
    """
    model = trainer.model()
    rows, transitions = model.rows(), model.transitions
    table: dict[str, Any] = dict(
        _native.compile_rows(data.corpus, units, rows.begin, rows.label, rows.weight, drop)
    )
    if data.pair_corpus is not None:
        rows = trainer.pair_rows()
        pairs = _native.compile_rows(
            data.pair_corpus, (paired or units) ** 2, rows.begin, rows.label, rows.weight, drop
        )
        table |= {f"pair_{name}": value for name, value in pairs.items()}
    origin, target = np.nonzero(transitions)
    table["transition_from"], table["transition_to"] = origin, target
    table["transition_score"] = transitions[origin, target].astype(np.float32)
    return as_arrays(table)
