"""Refinement HMMs estimated by expectation-maximisation, from several random starts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from certus.chain import Chain
from certus.errors import InvalidInput
from certus.learn.refinement.baselines import check_smoothing, report_labels
from certus.learn.refinement.counts import Counts
from certus.learn.refinement.data import Labelled, LabelledCorpus
from certus.learn.refinement.decoding import Summing
from certus.learn.refinement.diagnostics import Diagnostics, LabelReport, say_times
from certus.learn.refinement.expectation import Prior, compute_objective, expect, maximise, perturb
from certus.learn.refinement.model import Refinement
from certus.learn.refinement.parameters import Parameters
from certus.learn.refinement.storage import Arrays, declare_parameters, pack_parameters, read_parameters
from certus.solution import LabelSolution
from certus.storage.declaration import Array

Watch = Callable[[int, int, float, "EmRefinement"], Any]


class EmRefinement(Refinement):
    """A refinement HMM whose hidden states are found by EM; which ones depends on where it starts.

    Of the restarts the one with the highest objective is kept or, with ``dev``, the iteration of any of them
    that labels held-out sentences best.

    Args:
        hidden: m, the number of states per label.

    Other args:
        iterations: the most for each restart.
        restarts: from different random starts.
        tolerance: a restart ends when the objective rises by less than this a token.
        smoothing: pseudo-occurrences of each label; 0 for maximum likelihood.
        seed: of the starts; the same seed gives the same model, whatever ``threads``.
        threads: how many to use.
        dev: labelled sentences to choose the iteration by.
        every: iterations between two looks at ``dev``.
        watch: called after every iteration with restart, iteration, objective and the model so far.
    """

    parameters: Parameters
    estimator: ClassVar[str] = "em"
    declared: ClassVar[dict[str, Array]] = declare_parameters()

    def __init__(
        self,
        hidden: int,
        *,
        iterations: int = 200,
        restarts: int = 1,
        tolerance: float = 1e-6,
        smoothing: float = 0.1,
        seed: int = 0,
        threads: int = 1,
        dev: Sequence[Labelled] | None = None,
        every: int = 10,
        watch: Watch | None = None,
    ) -> None:
        for name, value in (("hidden", hidden), ("iterations", iterations), ("restarts", restarts),
                            ("threads", threads), ("every", every)):  # fmt: skip
            if value < 1:
                raise InvalidInput(f"{name} must be at least 1, not {value}")
        check_smoothing(smoothing)
        self.hidden, self.iterations, self.restarts, self.tolerance = hidden, iterations, restarts, tolerance
        self.smoothing, self.seed, self.threads = smoothing, seed, threads
        self.dev, self.every, self.watch = dev, every, watch
        self._starts: Sequence[int] = range(restarts)

    def keep_start(self, start: int) -> None:
        """Begin only where one of the restarts begins."""
        self._starts = [start]

    def _estimate(self, corpus: LabelledCorpus) -> None:
        counts = Counts.of(corpus)
        best, chosen, kept = -np.inf, (0, 0), None
        objectives = []
        for restart in self._starts:
            history: list[float] = []
            for value, model in self._climb(corpus, counts, restart, history):
                if value > best:
                    best, chosen, kept = value, (restart, len(history)), model
            objectives.append(tuple(history))
        assert kept is not None
        self.parameters = kept
        self.diagnostics = Diagnostics(self._report_labels(corpus), tuple(objectives), chosen)

    def _climb(
        self, corpus: LabelledCorpus, counts: Counts, restart: int, history: list[float]
    ) -> Iterator[tuple[float, Parameters]]:
        """Iterate from a random start; yield models to choose from, each with its worth."""
        prior = Prior(counts, self.hidden, self.smoothing)
        rng = np.random.default_rng([self.seed, restart])
        model = perturb(counts, self.hidden, self.smoothing, rng)
        enough = self.tolerance * float(corpus.weights.sum())
        for iteration in range(1, self.iterations + 1):
            found = expect(model, corpus, self.threads)
            value = compute_objective(found, corpus, prior, model)
            done = iteration == self.iterations or (bool(history) and value - history[-1] < enough)
            history.append(value)
            self.parameters = model
            if self.watch is not None:
                self.watch(restart, iteration, value, self)
            if self.dev is not None and (done or iteration % self.every == 0):
                yield self.measure_accuracy(self.dev, threads=self.threads), model
            elif self.dev is None and done:
                yield value, model
            if done:
                return
            model = maximise(found, corpus, prior)

    def _report_labels(self, corpus: LabelledCorpus) -> tuple[LabelReport, ...]:
        """Name the labels that occur less often than they have states: some of these say nothing."""
        return tuple(
            report
            if report.samples >= self.hidden
            else replace(
                report,
                problem=f"label {report.label!r} occurs {say_times(report.samples)}, fewer than its "
                f"{self.hidden} hidden states; lower hidden, or add sentences that have it",
            )
            for report in report_labels(corpus)
        )

    def _list_rungs(self) -> Sequence[Summing]:
        return [self.parameters.operators]

    def get_plain(self) -> Parameters:
        """Return the probabilities themselves."""
        return self.parameters

    def _pack_parts(self) -> dict[str, NDArray[Any]]:
        return pack_parameters(self.parameters)

    def _rebuild(self, arrays: Arrays) -> None:
        self.parameters = read_parameters(arrays)

    def _list_settings(self) -> dict[str, Any]:
        """Return the arguments; what only training needs, held-out sentences and a watcher, is left out."""
        names = ("hidden", "iterations", "restarts", "tolerance", "smoothing", "seed", "threads", "every")
        return {name: getattr(self, name) for name in names}

    def find_best_path(self, observations: Sequence[str]) -> LabelSolution[NDArray[np.int64]]:
        """Return the best sequence of labels and hidden states together, found exactly by ``certus.Chain``.

        A label of the Solution is label * hidden + state. It is the best path, not the best label sequence,
        which sums over hidden states.
        """
        ids = self._encode([observations]).observations
        p = self.parameters
        size = p.labels * p.hidden
        chain = Chain(
            _take_log(p.transition.reshape(size, size)),
            start=_take_log(p.initial.reshape(-1)),
            end=_take_log(p.stop.reshape(-1)),
        )
        return chain.decode(_take_log(p.emission.reshape(size, -1).T[ids]))


def _take_log(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(divide="ignore"):
        return np.log(probabilities)
