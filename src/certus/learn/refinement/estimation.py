"""Training taggers as hidden Markov models whose labels have hidden states: the learner ``refinement``."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from time import perf_counter

import numpy as np

from certus.errors import InvalidInput
from certus.learn import options
from certus.learn.features.data import Examples
from certus.learn.refinement import (
    EmRefinement,
    Labelled,
    Refinement,
    RefinementWarning,
    Smoothing,
    SpectralRefinement,
)
from certus.learn.refinement.em import Watch
from certus.learn.refinement.observer import UNKNOWN, Observer
from certus.learn.training import Progress

_MOST = 1 << 31  # bytes that the operators of a model may take
_SHARDS = 8  # in which em adds up what it expects


def make(
    chosen: options.Refinement,
    *,
    threads: int = 1,
    dev: Sequence[Labelled] | None = None,
    watch: Watch | None = None,
) -> Refinement:
    """Make the unfitted model that options ask for; what its labels lack is for the caller to tell."""
    if chosen.estimator == SpectralRefinement.estimator:
        smoothing = Smoothing(chosen.smooth_pairs, chosen.smooth_seen, chosen.smoothing)
        return SpectralRefinement(chosen.hidden, smoothing=smoothing, deficient="ignore", seed=chosen.seed)
    return EmRefinement(
        chosen.hidden,
        iterations=chosen.iterations,
        restarts=chosen.restarts,
        smoothing=chosen.smoothing,
        seed=chosen.seed,
        threads=threads,
        dev=dev,
        watch=watch,
    )


def estimate(
    examples: Examples,
    held_out: Examples | None,
    chosen: options.Refinement,
    observer: Observer,
    *,
    progress: Callable[[Progress], None],
    threads: int,
) -> Refinement:
    """Estimate a model from annotated sentences.

    Args:
        examples: to learn from.
        held_out: others; em takes the iteration that labels them best.
        chosen: the options.
        observer: what is observed.
        progress: is called after each iteration of em.
        threads: for em.
    """
    labels = sorted(set(examples.labels))
    _check_size(len(labels), chosen)
    observed = observer.learn(examples.cells, chosen.rare)
    known = {x for sentence in observed for x in sentence}
    dev = None if held_out is None else _pairs(_recognised(held_out, observer, known), held_out)
    model = make(chosen, threads=threads, dev=dev, watch=_watch(chosen, examples.tokens, progress))
    model.fit(_pairs(observed, examples), labels=labels)
    if model.diagnostics.problems:
        warnings.warn("\n".join(model.diagnostics.problems), RefinementWarning, stacklevel=5)
    return model


def _check_size(labels: int, chosen: options.Refinement) -> None:
    """Refuse more states than memory holds, before it is full."""

    def size(hidden: int) -> int:
        return 8 * (labels * hidden) ** 2 * (hidden if chosen.estimator == "spectral" else _SHARDS)

    if size(chosen.hidden) > _MOST:
        fits = max((h for h in range(1, chosen.hidden) if size(h) <= _MOST), default=0)
        advice = f"set hidden to {fits} at most" if fits else "take another learner, such as pruned-crf"
        raise InvalidInput(
            f"{labels:,} labels with {chosen.hidden} hidden states each take "
            f"{size(chosen.hidden) / 2**30:,.1f} GB: {advice}"
        )


def _pairs(observed: Sequence[Sequence[str]], examples: Examples) -> list[Labelled]:
    ends = np.cumsum(examples.lengths)
    begins = ends - examples.lengths
    return [
        (seen, examples.labels[begin:end])
        for seen, begin, end in zip(observed, begins.tolist(), ends.tolist(), strict=True)
    ]


def _recognised(examples: Examples, observer: Observer, known: set[str]) -> list[list[str]]:
    """Return the observations of sentences that were not learned from, by name."""
    names = [*known, UNKNOWN]
    numbers = {name: number for number, name in enumerate(names[:-1])}
    flat = [names[number] for number in observer.ids(examples.cells, numbers)]
    ends = np.cumsum(examples.lengths).tolist()
    return [flat[end - length : end] for end, length in zip(ends, examples.lengths.tolist(), strict=True)]


def _watch(
    chosen: options.Refinement, tokens: int, progress: Callable[[Progress], None]
) -> Callable[[int, int, float, EmRefinement], None]:
    began, total = perf_counter(), chosen.restarts * chosen.iterations

    def watch(restart: int, iteration: int, value: float, model: EmRefinement) -> None:
        done = restart * chosen.iterations + iteration
        seconds = perf_counter() - began
        left = seconds / done * (total - done)
        progress(Progress(done, total, -value / tokens, None, seconds, left))

    return watch
