"""Expectation-maximisation for refinement HMMs: labels are known, hidden states are not.

The E step runs natively, m² steps a token; sums over sentences are added up in a fixed number of parts, so
that no result depends on the number of threads. The M step divides expected counts, with the pseudo-counts
of ``certus.learn.refinement.counts`` shared out over the hidden states: the mode under a Dirichlet prior.
The objective, log-likelihood plus log-prior, never falls (but for rounding).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from certus import _native
from certus.errors import InvalidInput
from certus.learn.refinement.counts import Counts
from certus.learn.refinement.data import LabelledCorpus
from certus.learn.refinement.parameters import Parameters


@dataclass(frozen=True, eq=False)
class Expected:
    """What the E step finds.

    Attributes:
        log_likelihood: (sentences,) log p(labels, observations).
        posterior: (tokens, m) p(hidden state | sentence).
        pairs: (L, m, L, m) expected transitions.
    """

    log_likelihood: NDArray[np.float64]
    posterior: NDArray[np.float64]
    pairs: NDArray[np.float64]


def expect(model: Parameters, corpus: LabelledCorpus, threads: int = 1) -> Expected:
    """Sum over the hidden states of every sentence."""
    tokens, m = len(corpus.labels), model.hidden
    transition = np.ascontiguousarray(model.transition.transpose(0, 2, 1, 3))
    found = Expected(np.empty(len(corpus.offsets) - 1), np.empty((tokens, m)), np.empty_like(transition))
    _native.refinement_expectations(
        model.initial, transition, np.ascontiguousarray(transition.transpose(0, 1, 3, 2)),
        np.ascontiguousarray(model.emission.transpose(0, 2, 1)), model.stop,
        corpus.labels, corpus.observations, corpus.offsets, corpus.weights[corpus.first], threads,
        found.log_likelihood, found.posterior, found.pairs,
    )  # fmt: skip
    pairs = (found.pairs * transition).transpose(0, 2, 1, 3)
    return Expected(found.log_likelihood, found.posterior, pairs)


@dataclass(frozen=True)
class Prior:
    """Pseudo-counts of every state: ``smoothing`` occurrences, spread as the whole corpus is.

    Attributes:
        counts: of the corpus.
        hidden: states per label.
        smoothing: pseudo-counts a label.
    """

    counts: Counts
    hidden: int
    smoothing: float

    @property
    def first(self) -> NDArray[np.float64]:
        """(L, 1)."""
        return self.counts.base_first[:, None] * (self.smoothing / self.hidden)

    @property
    def follow(self) -> NDArray[np.float64]:
        """(L, 1)."""
        return self.counts.base_follow[:-1, None] * (self.smoothing / self.hidden)

    @property
    def stop(self) -> float:
        """Of the end."""
        return float(self.counts.base_follow[-1] * self.smoothing)

    @property
    def seen(self) -> NDArray[np.float64]:
        """(n + 1,)."""
        return self.counts.base_seen * self.smoothing

    def compute_log_density(self, model: Parameters) -> float:
        """Return the log of the prior at a model, less a constant."""
        if self.smoothing == 0:
            return 0.0
        parts = (
            (self.first, model.initial),
            (self.follow, model.transition),
            (np.float64(self.stop), model.stop),
            (self.seen, model.emission),
        )
        # What has no pseudo-counts may have no probability either: 0 log 0 is 0 here.
        return float(sum((pseudo * np.log(np.where(pseudo > 0, p, 1.0))).sum() for pseudo, p in parts))


def maximise(found: Expected, corpus: LabelledCorpus, prior: Prior) -> Parameters:
    """Return the parameters that the expected counts make most probable."""
    labels, n, m = len(corpus.names.labels), corpus.names.unseen + 1, prior.hidden
    initial = _sum_cells(found.posterior, corpus, corpus.labels, corpus.first, labels) + prior.first
    stop = _sum_cells(found.posterior, corpus, corpus.labels, corpus.last, labels) + prior.stop
    cells = corpus.labels * n + corpus.observations
    seen = _sum_cells(found.posterior, corpus, cells, None, labels * n)
    emission = seen.reshape(labels, n, m).transpose(0, 2, 1) + prior.seen
    transition = found.pairs + prior.follow
    total = transition.sum((2, 3)) + stop
    return Parameters(
        initial / initial.sum(),
        np.ascontiguousarray(_divide(transition, total[:, :, None, None])),
        _divide(stop, total, 1.0),
        np.ascontiguousarray(_divide(emission, emission.sum(2, keepdims=True), 1 / n)),
    )


def perturb(counts: Counts, hidden: int, smoothing: float, rng: np.random.Generator) -> Parameters:
    """Return the plain HMM with every label split into states that differ at random: where EM starts."""
    plain = counts.estimate_parameters(max(smoothing, 1e-3))
    l, n = plain.labels, plain.observations  # noqa: E741

    def noise(*shape: int) -> NDArray[np.float64]:
        return rng.uniform(0.5, 1.5, shape)

    initial = plain.initial * noise(l, hidden)
    stop = plain.stop * noise(l, hidden)
    transition = plain.transition * noise(l, hidden, l, hidden) / hidden
    emission = plain.emission * noise(l, hidden, n)
    total = transition.sum((2, 3)) + stop
    return Parameters(
        initial / initial.sum(),
        transition / total[:, :, None, None],
        stop / total,
        emission / emission.sum(2, keepdims=True),
    )


def compute_objective(found: Expected, corpus: LabelledCorpus, prior: Prior, model: Parameters) -> float:
    """Return what EM raises: weighted log-likelihood plus log-prior, of the model that was expected with."""
    impossible = np.flatnonzero(np.isneginf(found.log_likelihood))
    if impossible.size:
        raise InvalidInput(
            f"sentence {impossible[0]} is impossible under the model; a smoothing above 0 makes every one "
            "possible"
        )
    return float(found.log_likelihood @ corpus.weights[corpus.first]) + prior.compute_log_density(model)


def _sum_cells(
    posterior: NDArray[np.float64],
    corpus: LabelledCorpus,
    cells: NDArray[np.int64],
    rows: NDArray[np.int64] | None,
    size: int,
) -> NDArray[np.float64]:
    """Add up the posteriors of tokens that fall into the same cell: (size, m)."""
    weight = corpus.weights
    if rows is not None:
        posterior, cells, weight = posterior[rows], cells[rows], weight[rows]
    sums = np.empty((size, posterior.shape[1]))
    ids = cells[:, None].astype(np.int32)
    _native.indicator_transposed_times(ids, np.ascontiguousarray(weight), posterior, sums)
    return sums


def _divide(
    counts: NDArray[np.float64], total: NDArray[np.float64], empty: float = 0.0
) -> NDArray[np.float64]:
    """Divide, where a state that nothing was counted for gets a value of its own."""
    return np.divide(counts, total, out=np.full_like(counts, empty), where=total > 0)
