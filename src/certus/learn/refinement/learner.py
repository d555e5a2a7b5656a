"""Hidden Markov models whose labels have hidden states: the learner ``refinement``."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from itertools import count
from time import perf_counter
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from certus.errors import InvalidInput, RefinementWarning
from certus.learn.features.inventory import Inventory
from certus.learn.learner import Learned, Learner, TrainingData, option
from certus.learn.progress import Progress
from certus.learn.refinement.data import Labelled
from certus.learn.refinement.decoder import RefinementDecoder
from certus.learn.refinement.decoding import Beliefs
from certus.learn.refinement.em import EmRefinement, Watch
from certus.learn.refinement.model import Refinement
from certus.learn.refinement.observer import UNKNOWN, Observer, choose_observed
from certus.learn.refinement.spectral import Smoothing
from certus.learn.refinement.spectral_model import SpectralRefinement
from certus.learn.refinement.storage import list_problems

if TYPE_CHECKING:
    from certus.annotation.targets import Target
    from certus.learn.features.data import Examples
    from certus.learn.features.templates import Templates

_MOST = 1 << 31  # bytes that the operators of a model may take
_SHARDS = 8  # in which em adds up what it expects
_LOOKED_AT = 1000  # training sentences whose marginals are looked at where there are no others


@dataclass(frozen=True, kw_only=True)
class RefinementLearner(Learner):
    """A hidden Markov model whose labels have hidden states (Stratos et al. 2013)."""

    name: ClassVar[str] = "refinement"
    papers: ClassVar[tuple[str, ...]] = ("stratos2013",)
    about: ClassVar[str] = "a hidden Markov model with hidden states for each label; trains in seconds"
    proves: ClassVar[bool] = False
    shares_parts: ClassVar[bool] = False
    looks_at: ClassVar[str] = "the columns of observe"

    observe: str = option(
        "auto",
        "The column that is observed, or COLUMN+word; auto takes pos+word if there is a pos, else word.",
    )
    suffixes: int = option(4, "The longest ending of rare words to look at.", least=0)
    hidden: int = option(8, "Hidden states of each label.", least=1)
    estimator: str = option("spectral", "How hidden states are found: spectral or em.")
    smoothing: float = option(0.1, "Occurrences that are added to those of each label.", least=1e-9)
    smooth_pairs: float = option(20.0, "How strongly spectral smooths pairs of labels.", least=0)
    smooth_seen: float = option(5.0, "How strongly spectral smooths observations.", least=0)
    restarts: int = option(1, "How many times em begins, each time elsewhere.", least=1)
    iterations: int = option(100, "The most iterations of em from each beginning.", least=1)
    seed: int = option(0, "The seed of where em begins, and of the random ranges of spectral.", least=0)

    def __post_init__(self) -> None:
        """Refuse values out of range, and options of the other estimator."""
        super().__post_init__()
        others = {"spectral": ("restarts", "iterations"), "em": ("smooth_pairs", "smooth_seen")}
        if self.estimator not in others:
            raise InvalidInput(f"estimator is {self.estimator!r}; there are spectral and em")
        defaults = {f.name: f.default for f in fields(self)}
        wrong = next((n for n in others[self.estimator] if getattr(self, n) != defaults[n]), None)
        if wrong is not None:
            raise InvalidInput(f"{wrong} is no option of the estimator {self.estimator}: leave it out")

    def choose_columns(
        self, available: Sequence[str], target: Target, templates: Templates | None
    ) -> tuple[str, ...]:
        """Return the words, and the column that is observed."""
        return Observer(choose_observed(self.observe, available, target), 0).columns

    def fit(
        self,
        data: TrainingData,
        *,
        checkpoint: str | os.PathLike[str] | None,
        progress: Callable[[Progress], object],
        threads: int,
    ) -> Learned:
        """Estimate a model; spectral has no iterations to tell of, and neither keeps a checkpoint."""
        observe = choose_observed(self.observe, data.available, data.target)
        observer = Observer(observe, self.suffixes)
        model = self._estimate(data, observer, progress, threads)
        inventory, accuracy = Inventory(model.names.labels), None
        held_out = data.held_out
        looked_at = data.examples.cells[:_LOOKED_AT] if held_out is None else held_out.cells
        beliefs = RefinementDecoder(model, observer).believe(looked_at, threads)
        if held_out is not None:
            right = beliefs.probabilities.argmax(axis=1) == inventory.number_labels(held_out.labels)
            accuracy = float(right.mean())
        notes: dict[str, Any] = {
            "observe": observe,
            "columns": list(observer.columns),
            "observations": len(model.names.observations),
            "problems": list_problems(model.diagnostics),
        }
        if not model.exact:
            notes["marginals"] = {"of": "training" if held_out is None else "dev", **_count_mended(beliefs)}
        return Learned(inventory, model.pack(), notes, accuracy)

    def make_decoder(self, learned: Learned) -> RefinementDecoder:
        """Make what finds the most probable label of each position."""
        notes = learned.notes
        observer = Observer(notes["observe"], self.suffixes)
        if tuple(notes["columns"]) != observer.columns:
            raise InvalidInput(f"it observes {notes['observe']}, not {notes['columns']}")
        model = self._make_model()
        model.restore(learned.inventory.labels, learned.arrays, notes["problems"])
        return RefinementDecoder(model, observer)

    def _estimate(
        self, data: TrainingData, observer: Observer, progress: Callable[[Progress], object], threads: int
    ) -> Refinement:
        """Estimate a model; em takes the iteration that labels held-out sentences best."""
        examples, held_out = data.examples, data.held_out
        labels = sorted(set(examples.labels))
        self._check_size(len(labels))
        observed = observer.learn(examples.cells, self.rare)
        known = {x for sentence in observed for x in sentence}
        dev = None if held_out is None else _pair(_recognise(held_out, observer, known), held_out)
        model = self._make_model(threads=threads, dev=dev, watch=self._watch(examples.tokens, progress))
        model.fit(_pair(observed, examples), labels=labels)
        if model.diagnostics.problems:
            warnings.warn("\n".join(model.diagnostics.problems), RefinementWarning, stacklevel=5)
        return model

    def _make_model(
        self, *, threads: int = 1, dev: Sequence[Labelled] | None = None, watch: Watch | None = None
    ) -> Refinement:
        """Make the unfitted model; what its labels lack is for the caller to tell."""
        if self.estimator == SpectralRefinement.estimator:
            smoothing = Smoothing(self.smooth_pairs, self.smooth_seen, self.smoothing)
            return SpectralRefinement(self.hidden, smoothing=smoothing, deficient="ignore", seed=self.seed)
        return EmRefinement(
            self.hidden,
            iterations=self.iterations,
            restarts=self.restarts,
            smoothing=self.smoothing,
            seed=self.seed,
            threads=threads,
            dev=dev,
            watch=watch,
        )

    def _check_size(self, labels: int) -> None:
        """Refuse more states than memory holds, before it is full."""

        def size(hidden: int) -> int:
            return 8 * (labels * hidden) ** 2 * (hidden if self.estimator == "spectral" else _SHARDS)

        if size(self.hidden) > _MOST:
            fits = next(h for h in count() if size(h + 1) > _MOST)
            advice = f"set hidden to {fits} at most" if fits else "take another learner, such as pruned-crf"
            raise InvalidInput(
                f"{labels:,} labels with {self.hidden} hidden states each take "
                f"{size(self.hidden) / 2**30:,.1f} GB: {advice}"
            )

    def _watch(
        self, tokens: int, progress: Callable[[Progress], object]
    ) -> Callable[[int, int, float, EmRefinement], None]:
        began, total = perf_counter(), self.restarts * self.iterations

        def watch(restart: int, iteration: int, value: float, model: EmRefinement) -> None:
            done = restart * self.iterations + iteration
            seconds = perf_counter() - began
            left = seconds / done * (total - done)
            progress(Progress(done, total, -value / tokens, None, seconds, left))

        return watch


def _pair(observed: Sequence[Sequence[str]], examples: Examples) -> list[Labelled]:
    """Return the observations of each sentence with its labels."""
    ends = np.cumsum(examples.lengths)
    begins = ends - examples.lengths
    return [
        (seen, examples.labels[begin:end])
        for seen, begin, end in zip(observed, begins.tolist(), ends.tolist(), strict=True)
    ]


def _recognise(examples: Examples, observer: Observer, known: set[str]) -> list[list[str]]:
    """Return the observations of sentences that were not learned from, by name."""
    names = [*known, UNKNOWN]
    numbers = {name: number for number, name in enumerate(names[:-1])}
    flat = [names[number] for number in observer.number_tokens(examples.cells, numbers)]
    ends = np.cumsum(examples.lengths).tolist()
    return [flat[end - length : end] for end, length in zip(ends, examples.lengths.tolist(), strict=True)]


def _count_mended(beliefs: Beliefs) -> dict[str, Any]:
    """Count the sentences whose marginals are not those of any model, and how they were mended."""
    mended = np.bincount(beliefs.level, minlength=3).tolist()
    return {
        "sentences": len(beliefs.level),
        "negative": int((beliefs.negative > 0).sum()),
        "damped": mended[1],
        "plain": mended[2],
    }
