"""Training aligners: both directional models at once, in stages from simple to rich."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from certus import _native
from certus.errors import InvalidInput, ModelError
from certus.learn.bitext import Bitext
from certus.learn.progress import Progress
from certus.storage import model_file
from certus.version import __version__

Arrays: TypeAlias = dict[str, NDArray[Any]]
KIND = "checkpoint"  # of model files
CELLS_IN_MEMORY = 1 << 28  # of four bytes each

# The stages of each model: a simple one finds where the next one begins.
STAGES = {
    "ibm1": ("ibm1",),
    "diagonal": ("diagonal",),
    "hmm": ("ibm1", "hmm"),
    "fertility": ("ibm1", "hmm", "fertility"),
}


@dataclass(frozen=True, kw_only=True)
class AlignerOptions:
    """How an aligner learns.

    Attributes:
        model: "ibm1", "diagonal" (fast_align's prior), "hmm", or "fertility", the best: an HMM whose words
            have fertilities and whose directions listen to each other.
        iterations: over the data, for each stage.
        agreement: whether the directions learn from links that both of them choose (Liang et al. 2006).
        sparse: pseudo-count of each pair of words that occur together; 0 for plain EM.
        spelling: pseudo-count that words of the same spelling have on top, and similar ones a part of.
        stems: pseudo-count, times the probability of one word's first four letters given the other's.
        null: the probability that a word has no link.
        tension: of the diagonal prior.
        least: pairs of words that were linked less often than this are left out of the model.
        min_count: words that occur less often are learned as one and aligned by their spelling and stem, to
            save memory; 1 for none.
    """

    model: str = "fertility"
    iterations: int = 5
    agreement: bool = True
    sparse: float = 0.1
    spelling: float = 3.0
    stems: float = 100.0
    null: float = 0.1
    tension: float = 4.0
    least: float = 0.01
    min_count: int = 1

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        if self.model not in STAGES:
            raise InvalidInput(f"there is no model {self.model!r}; there are {', '.join(STAGES)}")
        if not isinstance(self.iterations, int) or self.iterations < 1:
            raise InvalidInput(f"iterations must be a whole number of at least 1, not {self.iterations!r}")
        if not isinstance(self.min_count, int) or self.min_count < 1:
            raise InvalidInput(f"min_count must be a whole number of at least 1, not {self.min_count!r}")
        for name in ("sparse", "spelling", "stems", "tension", "least"):
            if not 0 <= getattr(self, name) <= 1e6:
                raise InvalidInput(f"{name} is {getattr(self, name)}; a number from 0 to a million is needed")
        if not 0 < self.null < 1:
            raise InvalidInput(f"null is {self.null}; a probability between 0 and 1 is needed")

    def list_steps(self) -> list[str]:
        """Return the stage of each iteration."""
        return [stage for stage in STAGES[self.model] for _ in range(self.iterations)]


def train_aligner(
    bitext: Bitext,
    options: AlignerOptions,
    *,
    progress: Callable[[Progress], object] = lambda _: None,
    checkpoint: str | os.PathLike[str] | None = None,
    threads: int = 1,
    cells_in_memory: int = CELLS_IN_MEMORY,
) -> Arrays:
    """Return the arrays of a model (native/align/aligner.hpp describes them).

    Args:
        bitext: the pairs.
        options: how to learn.
        progress: is called after each iteration; its loss is the negative log-likelihood per word, both
            directions together.
        checkpoint: a file that keeps training between iterations; a run that finds one goes on there.
        threads: how many to use; what is learned does not depend on it.
        cells_in_memory: pairs of a source and a target word of a sentence pair beyond which their numbers
            are kept in a temporary file; what is learned does not depend on it.
    """
    if not len(bitext.times):
        raise InvalidInput("there is nothing to learn from: no pair has words on both sides")
    source, target = bitext.sides
    trainer = _native.AlignmentTrainer(
        np.frombuffer(source.ids, np.uint32),
        np.frombuffer(source.first, np.int64),
        np.frombuffer(target.ids, np.uint32),
        np.frombuffer(target.first, np.int64),
        bitext.times,
        source.list_words(),
        target.list_words(),
        options.sparse,
        options.spelling,
        options.stems,
        cells_in_memory,
        tempfile.gettempdir(),
    )
    kept = _Checkpoint(checkpoint, bitext, options)
    steps = options.list_steps()
    words = sum(len(side.ids) for side in bitext.sides)
    began, start = time.perf_counter(), kept.load(trainer)
    for n in range(start, len(steps)):
        likelihood = trainer.iterate(
            steps[n],
            options.null,
            options.tension,
            options.agreement,
            n > 0 and options.stems > 0,
            "fertility" in (steps[n], *steps[n + 1 : n + 2]),
            threads,
        )
        if n + 1 < len(steps):
            kept.save(trainer, n + 1)
        seconds = time.perf_counter() - began
        left = seconds / (n + 1 - start) * (len(steps) - n - 1)
        progress(Progress(n + 1, len(steps), -likelihood / words, None, seconds, left))
    return dict(trainer.export(options.least))


class _Checkpoint:
    """The file that keeps training between iterations."""

    def __init__(self, path: str | os.PathLike[str] | None, bitext: Bitext, options: AlignerOptions) -> None:
        self._path = path
        self._identity = (
            {}
            if path is None
            else {"certus": __version__, "options": asdict(options), "pairs": bitext.digest}
        )

    def load(self, trainer: _native.AlignmentTrainer) -> int:
        """Put a trainer where the last run left it; return how many iterations are done."""
        if self._path is None or not os.path.exists(self._path):
            return 0
        file = model_file.read(self._path)
        if file.kind != KIND or file.description.get("identity") != self._identity:
            raise ModelError(
                f"{os.fspath(self._path)} is of another training run (other data or options): "
                "remove it, or name another file"
            )
        with model_file.blame_file(file, KIND) as about:
            trainer.restore(dict(file.arrays))
            return int(about["iterations"])

    def save(self, trainer: _native.AlignmentTrainer, iterations: int) -> None:
        """Keep where training stands."""
        if self._path is not None:
            description = {"identity": self._identity, "iterations": iterations}
            model_file.write(self._path, KIND, trainer.state(), description)
