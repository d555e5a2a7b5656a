"""The loop that trains: epochs, dev accuracy, early stopping, checkpoints."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from certus import _native
from certus.errors import InvalidInput, ModelError
from certus.learn import options
from certus.learn.features.data import TrainingSet
from certus.learn.first_order import FirstOrder
from certus.learn.latent_crf import LatentCrf
from certus.storage import model_file

Arrays = dict[str, NDArray[Any]]

SLOW = 1.0  # seconds from which writing a checkpoint is held back,
SELDOM = 10.0  # until learning has gone on for so many times as long


@dataclass(frozen=True)
class Progress:
    """An epoch of training.

    Attributes:
        epoch: counted from 1.
        epochs: how many there may be.
        loss: what the learner calls its loss: of a CRF the negative log-likelihood a token, of a perceptron
            the share of tokens it got wrong, or right by less than the margin.
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


class Learner(Protocol):
    """What the loop needs of a learner."""

    @property
    def epochs(self) -> int:
        """How many were done."""

    @property
    def done(self) -> bool:
        """Whether there is nothing more to learn, however many epochs are left."""

    def epoch(self, order: NDArray[np.int64]) -> float:
        """Go once over the sentences in this order; return the loss."""

    @property
    def beginning(self) -> int:
        """How many times it has begun anew from other weights."""

    def again(self) -> bool:
        """Begin anew, where a learner can; tells whether it did."""

    def compiled(self) -> Arrays:
        """Return the weights as a model file holds them."""

    def state(self) -> Arrays:
        """Return everything that training goes on from."""

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on from there."""


class _InEpochs:
    """What the native learners that go on for as many epochs as they are given have in common."""

    _native: Any

    @property
    def epochs(self) -> int:
        """How many were done."""
        return int(self._native.epochs)

    @property
    def done(self) -> bool:
        """Never: every epoch changes weights."""
        return False

    @property
    def beginning(self) -> int:
        """The first: another would be the same."""
        return 0

    def again(self) -> bool:
        """Never."""
        return False

    def state(self) -> Arrays:
        """Return what training goes on from."""
        return dict(self._native.state())

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on from there."""
        self._native.restore(dict(state))


class PrunedCrf(_InEpochs):
    """The native learner of pruned CRFs, behind the protocol."""

    def __init__(self, data: TrainingSet, chosen: options.PrunedCrf) -> None:
        self._data, self._drop = data, chosen.drop
        self._native = _native.PrunedCrf(
            data.corpus,
            data.tagset,
            order=chosen.order,
            rate=chosen.rate,
            decay=chosen.decay,
            l1=chosen.l1,
            burn_in=chosen.burn_in,
            least=chosen.least,
            wanted=list(map(float, chosen.wanted)),
        )

    def epoch(self, order: NDArray[np.int64]) -> float:
        """Go once over the sentences."""
        return float(self._native.epoch(order)["loss"])

    def compiled(self) -> Arrays:
        """Return the weights."""
        return _arrays(self._native.compile(self._data.corpus, self._drop))


class Perceptron(_InEpochs):
    """The native averaged perceptron, behind the protocol."""

    def __init__(self, data: TrainingSet, chosen: options.Perceptron) -> None:
        self._data, self._drop = data, chosen.drop
        self._native = _native.Perceptron(data.corpus, data.tagset, _native.METHODS.index(chosen.decoder))
        # An update raises the right label and lowers the wrong one, by one for each feature and unit.
        units = float((data.inventory.table >= 0).sum(1).mean())
        self._native.margin = round(chosen.margin * 2 * units * data.corpus.occurrences / data.corpus.tokens)
        self._native.burn_in_epochs = chosen.burn_in

    def epoch(self, order: NDArray[np.int64]) -> float:
        """Go once over the sentences."""
        return int(self._native.epoch(order)["errors"]) / self._data.corpus.tokens

    def compiled(self) -> Arrays:
        """Return the weights."""
        return _arrays(self._native.compile(self._data.corpus, self._data.tagset, self._drop))


def _arrays(compiled: Mapping[str, Any]) -> Arrays:
    return {name: np.asarray(value) for name, value in compiled.items()}


def start(data: TrainingSet, chosen: options.Options, threads: int = 1) -> Learner:
    """Make the learner that the options are of."""
    if isinstance(chosen, options.PrunedCrf):
        return PrunedCrf(data, chosen)
    if isinstance(chosen, options.Perceptron):
        return Perceptron(data, chosen)
    if isinstance(chosen, options.Crf):
        return FirstOrder(data, chosen, threads)
    if isinstance(chosen, options.LatentCrf):
        return LatentCrf(data, chosen, threads)
    raise InvalidInput(f"the learner {chosen.name} does not learn in epochs")


class Checkpoint:
    """Where training is kept between epochs, so that a run that was killed can go on.

    Args:
        path: the file; None keeps nothing.
        identity: what must be equal for a run to go on: data, templates, options.
    """

    def __init__(self, path: str | os.PathLike[str] | None, identity: Mapping[str, Any]) -> None:
        self.path = path
        self._identity = dict(identity)
        self._saved, self._took = -math.inf, 0.0  # when, and how long that took

    def load(self, learner: Learner) -> Mapping[str, Any] | None:
        """Put a learner where the last run left it; return what else was kept, None if nothing was."""
        if self.path is None or not os.path.exists(self.path):
            return None
        kept = model_file.read(self.path)
        if kept.kind != "checkpoint" or kept.description.get("identity") != self._identity:
            raise ModelError(
                f"{os.fspath(self.path)} is of another training run (other data, templates or options): "
                "remove it, or name another file"
            )
        learner.restore({name: a for name, a in kept.arrays.items() if not name.startswith("best.")})
        best = {name[5:]: np.array(a) for name, a in kept.arrays.items() if name.startswith("best.")}
        return {**kept.description["loop"], "best": best}

    def save(self, learner: Learner, best: Arrays, loop: Mapping[str, Any]) -> None:
        """Keep where training stands; what takes seconds to write, not after every epoch."""
        began = time.perf_counter()
        if self.path is None or (self._took > SLOW and began - self._saved < SELDOM * self._took):
            return
        arrays = {**learner.state(), **{f"best.{name}": array for name, array in best.items()}}
        model_file.write(self.path, "checkpoint", arrays, {"identity": self._identity, "loop": dict(loop)})
        self._saved = time.perf_counter()
        self._took = self._saved - began

    def remove(self) -> None:
        """Forget everything, once the model is safe."""
        if self.path is not None and os.path.exists(self.path):
            os.unlink(self.path)


def train(
    data: TrainingSet,
    chosen: Any,
    *,
    accuracy: Callable[[Arrays], float] | None,
    checkpoint: Checkpoint,
    progress: Callable[[Progress], None],
    threads: int = 1,
) -> tuple[Arrays, float | None]:
    """Train until the epochs are over, dev accuracy stops rising or the learner has converged.

    Args:
        data: what to learn from.
        chosen: the learner's options.
        accuracy: measures compiled weights on dev data; None without any: then the last epoch's are taken.
        checkpoint: where to keep the state.
        progress: is told of each epoch.
        threads: for learners that can use more than one; the weights do not depend on them.

    Returns:
        The compiled weights of the best epoch, and their dev accuracy.
    """
    learner = start(data, chosen, threads)
    kept = checkpoint.load(learner) or {"best": {}, "dev": None, "since": 0, "peak": None}
    best, best_dev, since, peak = (kept[name] for name in ("best", "dev", "since", "peak"))
    began, first = time.perf_counter(), learner.epochs
    for epoch in range(first, chosen.total):
        if learner.done or (since >= chosen.patience and not learner.again()):
            break
        beginning = learner.beginning
        # Seeded by epoch, so that a resumed run sees the same orders.
        loss = learner.epoch(data.order(np.random.default_rng((chosen.seed, epoch))))
        dev, last = None, learner.done or epoch + 1 == chosen.total
        if since >= chosen.patience or learner.beginning != beginning:
            since, peak = 0, None  # the dev accuracy begins from below, too
        if accuracy is not None or last:
            weights = learner.compiled()
            dev = None if accuracy is None else accuracy(weights)
            if dev is None or best_dev is None or dev > best_dev:
                best, best_dev = weights, dev
            if dev is None or peak is None or dev > peak:
                peak, since = dev, 0
            else:
                since += 1
        checkpoint.save(learner, best, {"dev": best_dev, "since": since, "peak": peak})
        seconds = time.perf_counter() - began
        left = 0.0 if last else seconds / (epoch + 1 - first) * (chosen.total - epoch - 1)
        progress(Progress(epoch + 1, chosen.total, loss, dev, seconds, left))
    return best, best_dev
