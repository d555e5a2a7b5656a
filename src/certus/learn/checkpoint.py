"""Where training is kept between epochs, so that a run that was killed can go on."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

import numpy as np

from certus.errors import InvalidInput, ModelError
from certus.learn.features.data import Examples
from certus.learn.features.templates import Templates
from certus.learn.learner import Learner, TrainingData
from certus.learn.trainer import Arrays, Trainer
from certus.storage import model_file
from certus.version import __version__

KIND = "checkpoint"  # of model files
_LOOP = {"accuracy": "dev", "since": "since", "peak": "peak"}  # what a file calls where the loop stands
SLOW = 1.0  # seconds from which writing a checkpoint is held back,
SELDOM = 10.0  # until learning has gone on for this many times as long


@dataclass(frozen=True)
class Standing:
    """Where the loop of training stands.

    Attributes:
        weights: of the best epoch so far, compiled; none yet if empty.
        accuracy: theirs on the dev data, or None.
        since: epochs since the dev accuracy last rose.
        peak: the best dev accuracy since weights last began anew, or None.
    """

    weights: Arrays
    accuracy: float | None = None
    since: int = 0
    peak: float | None = None

    def follow(self, weights: Arrays, accuracy: float | None) -> Standing:
        """Return where the loop stands after an epoch with these weights."""
        best = self
        if accuracy is None or self.accuracy is None or accuracy > self.accuracy:
            best = replace(self, weights=weights, accuracy=accuracy)
        if accuracy is None or self.peak is None or accuracy > self.peak:
            return replace(best, peak=accuracy, since=0)
        return replace(best, since=self.since + 1)


class Checkpoint:
    """The file that holds training between epochs.

    Args:
        path: the file; None keeps nothing.
        identity: what must be equal for a run to go on: data, templates, options.
        check: refuses the weights of the best epoch where they are damaged.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None,
        identity: Mapping[str, Any],
        check: Callable[[Arrays], object] = lambda _: None,
    ) -> None:
        self.path = path
        self._check = check
        self._identity = dict(identity)
        self._saved, self._took = -math.inf, 0.0  # when, and how long that took

    def load(self, trainer: Trainer) -> Standing | None:
        """Put a trainer where the last run left it; return where the loop stood, None if there is no file."""
        if self.path is None or not os.path.exists(self.path):
            return None
        kept = model_file.read(self.path)
        if kept.kind != KIND or kept.description.get("identity") != self._identity:
            raise ModelError(
                f"{os.fspath(self.path)} is of another training run (other data, templates or options): "
                "remove it, or name another file"
            )
        with model_file.blame_file(kept, KIND) as about:
            best = {name[5:]: np.array(a) for name, a in kept.arrays.items() if name.startswith("best.")}
            if best:
                self._check(best)
            trainer.restore({name: a for name, a in kept.arrays.items() if not name.startswith("best.")})
            loop = Standing(best, **{name: about["loop"][key] for name, key in _LOOP.items()})
            if not isinstance(loop.since, int):
                raise InvalidInput(f"{loop.since!r} is no number of epochs")
        return loop

    def save(self, trainer: Trainer, standing: Standing) -> None:
        """Keep where training stands; what takes seconds to write, not after every epoch."""
        began = time.perf_counter()
        if self.path is None or (self._took > SLOW and began - self._saved < SELDOM * self._took):
            return
        best = {f"best.{name}": array for name, array in standing.weights.items()}
        loop = {key: getattr(standing, name) for name, key in _LOOP.items()}
        description = {"identity": self._identity, "loop": loop}
        model_file.write(self.path, KIND, {**trainer.state(), **best}, description)
        self._saved = time.perf_counter()
        self._took = self._saved - began


def identify(learner: Learner, data: TrainingData, templates: Templates) -> dict[str, Any]:
    """Return what tells one training run from another: a checkpoint is of all this, or of another run."""
    return {
        "certus": __version__,
        "target": data.target.expression,
        "templates": str(templates),
        "learner": learner.name,
        "options": learner.export_options(),
        "train": _digest(data.examples),
        "dev": None if data.held_out is None else _digest(data.held_out),
    }


def _digest(examples: Examples) -> str:
    """Return a short name for all cells and labels, in their order."""
    digest = blake2b(digest_size=16)
    for cells in examples.cells:
        for column in cells:
            digest.update("\t".join([*column, "\n"]).encode(errors="surrogatepass"))
    digest.update("\t".join(examples.labels).encode(errors="surrogatepass"))
    return digest.hexdigest()
