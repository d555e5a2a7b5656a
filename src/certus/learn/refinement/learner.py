"""Hidden Markov models whose labels have hidden states: the learner ``refinement``."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from itertools import count
from time import perf_counter
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from certus.errors import InvalidInput, RefinementWarning
from certus.learn.decoder import Request
from certus.learn.features.inventory import Inventory
from certus.learn.latent_decoder import STEPS, STEPS_HELP, check_inference, restore_inference
from certus.learn.learner import Learned, Learner, TrainingData, option
from certus.learn.progress import Progress
from certus.learn.refinement.choosing import (
    FEWEST,
    HELD_OUT,
    HIDDEN,
    LITTLE,
    STRENGTHS,
    Choice,
    choose_best,
)
from certus.learn.refinement.data import Labelled
from certus.learn.refinement.decoder import RefinementDecoder
from certus.learn.refinement.decoding import Beliefs
from certus.learn.refinement.em import EmRefinement, Watch
from certus.learn.refinement.em_decoder import EmDecoder
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
_QUICK = 20  # iterations of em that a choice is measured after
_SMOOTHING = 0.1  # occurrences added to those of each label, usually
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
    hidden: int = option(
        0,
        "Hidden states of each label; 0 takes 8, 4, 16 or 2, whichever labels held-out sentences best.",
        least=0,
    )
    estimator: str = option("spectral", "How hidden states are found: spectral or em.")
    smoothing: float = option(
        0.0,
        "Occurrences that are added to those of each label; 0 takes 0.1, and this and the strengths of "
        "spectral as they are, a tenth of them or none, whichever labels held-out sentences best.",
        least=0,
    )
    smooth_pairs: float = option(20.0, "How strongly spectral smooths pairs of labels.", least=0)
    smooth_seen: float = option(5.0, "How strongly spectral smooths observations.", least=0)
    restarts: int = option(3, "How many times em begins, each time elsewhere; the best is kept.", least=1)
    iterations: int = option(100, "The most iterations of em from each beginning.", least=1)
    seed: int = option(0, "The seed of where em begins, and of the random ranges of spectral.", least=0)
    inference: str = option("ldi", "How labels are found by em: ldi, bhp, bmp or mbr.")
    steps: int = option(STEPS, STEPS_HELP, least=0)

    def __post_init__(self) -> None:
        """Refuse values out of range, and options of the other estimator."""
        super().__post_init__()
        iterated = ("restarts", "iterations", "inference", "steps")
        others = {"spectral": iterated, "em": ("smooth_pairs", "smooth_seen")}
        if self.estimator not in others:
            raise InvalidInput(f"estimator is {self.estimator!r}; there are spectral and em")
        defaults = {f.name: f.default for f in fields(self)}
        wrong = next((n for n in others[self.estimator] if getattr(self, n) != defaults[n]), None)
        if wrong is not None:
            raise InvalidInput(f"{wrong} is no option of the estimator {self.estimator}: leave it out")
        check_inference(self.inference)

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
        chosen = self._choose(data, observer, threads)
        exact = replace(self, **chosen)
        model = exact._estimate(data, observer, progress, threads)
        inventory, accuracy = Inventory(model.names.labels), None
        held_out = data.held_out
        looked_at = data.examples.cells[:_LOOKED_AT] if held_out is None else held_out.cells
        decoder = exact._make_decoder(model, observer)
        beliefs = decoder.believe(looked_at, threads)
        if held_out is not None:
            accuracy = _measure_accuracy(decoder, held_out, inventory, threads)
        notes: dict[str, Any] = {
            "observe": observe,
            "columns": list(observer.columns),
            "observations": len(model.names.observations),
            "problems": list_problems(model.diagnostics),
            "chosen": chosen,
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
        exact = replace(self, **notes.get("chosen", {}))
        model = exact._make_model()
        model.restore(learned.inventory.labels, learned.arrays, notes["problems"])
        return exact._make_decoder(model, observer)

    def _make_decoder(self, model: Refinement, observer: Observer) -> RefinementDecoder:
        if not model.exact:
            return RefinementDecoder(model, observer)
        inference = restore_inference(self.inference, self.steps, model.names.labels)
        return EmDecoder(model, observer, inference)

    def _choose(self, data: TrainingData, observer: Observer, threads: int) -> dict[str, Any]:
        """Return the options that were left to held-out sentences, the last tenth where none are given."""
        labels = len(set(data.examples.labels))
        self._check_size(labels)
        hidden, strengths = self._list_hidden(labels), self._list_strengths()
        split = self._hold_out(data, observer)
        if split is None:
            return self._describe_choice(Choice(hidden[0], strengths[0]))
        train, dev = split

        def measure(choice: Choice) -> float:
            options = self._describe_choice(choice)
            if self.estimator == "em":
                options |= {"restarts": 1, "iterations": min(self.iterations, _QUICK)}
            tried = replace(self, **options)
            return tried._make_model(threads=threads).fit(train).measure_accuracy(dev, threads=threads)

        return self._describe_choice(choose_best(measure, hidden, strengths))

    def _hold_out(
        self, data: TrainingData, observer: Observer
    ) -> tuple[list[Labelled], list[Labelled]] | None:
        """Return sentences to learn from and others to choose by; None where there are too few."""
        cells, lengths = data.examples.cells, data.examples.lengths
        few = len(cells) // HELD_OUT if data.held_out is None else len(data.held_out.cells)
        if few < FEWEST // HELD_OUT or len(cells) < FEWEST:
            return None
        kept = len(cells) - few if data.held_out is None else len(cells)
        end = int(lengths[:kept].sum())
        train = _pair(observer.learn(cells[:kept], self.rare), data.examples.labels[:end], lengths[:kept])
        known = {x for sentence, _ in train for x in sentence}
        if data.held_out is None:
            others, right, sizes = cells[kept:], data.examples.labels[end:], lengths[kept:]
        else:
            others, right, sizes = data.held_out.cells, data.held_out.labels, data.held_out.lengths
        return train, _pair(_recognise(others, sizes, observer, known), right, sizes)

    def _list_hidden(self, labels: int) -> list[int]:
        """Return the numbers of hidden states to choose from, the usual first."""
        if self.hidden:
            return [self.hidden]
        fitting = [number for number in HIDDEN if self._find_size(labels, number) <= _MOST]
        return fitting or [1]

    def _list_strengths(self) -> list[float]:
        return list(STRENGTHS) if self.smoothing == 0 else [1.0]

    def _describe_choice(self, choice: Choice) -> dict[str, Any]:
        """Return the options of a choice."""
        chosen: dict[str, Any] = {"hidden": choice.hidden}
        if self.smoothing == 0:
            chosen["smoothing"] = max(_SMOOTHING * choice.strength, LITTLE)
            if self.estimator == "spectral":
                chosen["smooth_pairs"] = self.smooth_pairs * choice.strength
                chosen["smooth_seen"] = self.smooth_seen * choice.strength
        return chosen

    def _estimate(
        self, data: TrainingData, observer: Observer, progress: Callable[[Progress], object], threads: int
    ) -> Refinement:
        """Estimate a model; em takes the iteration that labels held-out sentences best."""
        examples, held_out = data.examples, data.held_out
        labels = sorted(set(examples.labels))
        self._check_size(len(labels))
        watch = self._watch(examples.tokens, progress)
        start = self._choose_start(data, observer, threads, watch)
        observed = observer.learn(examples.cells, self.rare)
        known = {x for sentence in observed for x in sentence}
        dev = None
        if held_out is not None:
            seen = _recognise(held_out.cells, held_out.lengths, observer, known)
            dev = _pair(seen, held_out.labels, held_out.lengths)
        model = self._make_model(threads=threads, dev=dev, watch=watch if start is None else None)
        if start is not None and isinstance(model, EmRefinement):
            model.keep_start(start)
        model.fit(_pair(observed, examples.labels, examples.lengths), labels=labels)
        if model.diagnostics.problems:
            warnings.warn("\n".join(model.diagnostics.problems), RefinementWarning, stacklevel=5)
        return model

    def _choose_start(self, data: TrainingData, observer: Observer, threads: int, watch: Watch) -> int | None:
        """Return the start of em that ends with the most of the last tenth right; None where dev chooses."""
        is_open = data.held_out is None and self.estimator == "em" and self.restarts > 1
        split = self._hold_out(data, observer) if is_open else None
        if split is None:
            return None
        train, dev = split
        pilot = self._make_model(threads=threads, dev=dev, watch=watch)
        if isinstance(pilot, EmRefinement):
            pilot.every = self.iterations  # starts are compared where they end
        chosen = pilot.fit(train).diagnostics.chosen
        return None if chosen is None else chosen[0]

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
        size = self._find_size(labels, self.hidden)
        if size > _MOST:
            fits = next(h for h in count() if self._find_size(labels, h + 1) > _MOST)
            advice = f"set hidden to {fits} at most" if fits else "take another learner, such as pruned-crf"
            raise InvalidInput(
                f"{labels:,} labels with {self.hidden} hidden states each take "
                f"{size / 2**30:,.1f} GB: {advice}"
            )

    def _find_size(self, labels: int, hidden: int) -> int:
        """Return how many bytes the operators take."""
        return 8 * (labels * hidden) ** 2 * (hidden if self.estimator == "spectral" else _SHARDS)

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


def _pair(
    observed: Sequence[Sequence[str]], labels: Sequence[str], lengths: NDArray[np.int64]
) -> list[Labelled]:
    """Return the observations of each sentence with its labels."""
    ends = np.cumsum(lengths)
    begins = ends - lengths
    return [
        (seen, labels[begin:end])
        for seen, begin, end in zip(observed, begins.tolist(), ends.tolist(), strict=True)
    ]


def _measure_accuracy(
    decoder: RefinementDecoder, held_out: Examples, inventory: Inventory, threads: int
) -> float:
    """Return the share of held-out tokens that get their own label."""
    found = decoder.decode(held_out.cells, Request(threads=threads))
    return float((found.labels == inventory.number_labels(held_out.labels)).mean())


def _recognise(
    cells: Sequence[list[list[str]]], lengths: NDArray[np.int64], observer: Observer, known: set[str]
) -> list[list[str]]:
    """Return the observations of sentences that were not learned from, by name."""
    names = [*known, UNKNOWN]
    numbers = {name: number for number, name in enumerate(names[:-1])}
    flat = [names[number] for number in observer.number_tokens(cells, numbers)]
    ends = np.cumsum(lengths).tolist()
    return [flat[end - length : end] for end, length in zip(ends, lengths.tolist(), strict=True)]


def _count_mended(beliefs: Beliefs) -> dict[str, Any]:
    """Count the sentences whose marginals are not those of any model, and how they were mended."""
    mended = np.bincount(beliefs.level, minlength=3).tolist()
    return {
        "sentences": len(beliefs.level),
        "negative": int((beliefs.negative > 0).sum()),
        "damped": mended[1],
        "plain": mended[2],
    }
