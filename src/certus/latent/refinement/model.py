"""One interface for everything that labels sentences by p(labels, observations)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certus.chain import Automaton, Chain
from certus.errors import InvalidInput, NotFitted
from certus.latent.refinement.data import Corpus, Labelled, Names, Observed, offsets_of
from certus.latent.refinement.diagnostics import Diagnostics
from certus.latent.refinement.operators import Sums

Self = TypeVar("Self", bound="Refinement")


class Summing(Protocol):
    """What can sum over label sequences: ``Operators`` and ``Tensors``."""

    def sums(self, data: Observed, threads: int = 1) -> Sums:
        """Sum over all label sequences of each sentence."""

    def sums_of(self, data: Observed, labels: NDArray[np.int64], threads: int = 1) -> Sums:
        """Sum over the hidden states of one label sequence for each sentence."""


@dataclass(frozen=True, eq=False)
class Marginals:
    """The labels of one sentence, position by position.

    Attributes:
        probabilities: (T, L) of each label, none below 0, each row adding up to 1.
        raw: (T, L) as the operators have them; estimated ones can make them negative.
        log_probability: log p(observations); -inf where the model rules them out, and then the
            probabilities are uniform.
        level: how they were come by: 0, by the model; 1, by the model with its memory damped, since it gave
            the sentence a total that is not above 0; 2, by the plain HMM, since that did not help.
    """

    probabilities: NDArray[np.float64]
    raw: NDArray[np.float64]
    log_probability: float
    level: int = 0

    @property
    def negative(self) -> float:
        """The most negative of the raw marginals, as a positive number: 0 if none is below 0."""
        return float(max(0.0, -self.raw.min(initial=0.0)))

    def best(self) -> NDArray[np.int64]:
        """Return the most probable label of each position."""
        labels: NDArray[np.int64] = self.probabilities.argmax(axis=1)
        return labels


class Refinement(ABC):
    """A model of labels and observations; ``fit`` estimates it, ``predict`` labels sentences."""

    names: Names
    diagnostics: Diagnostics

    def fit(
        self: Self,
        sentences: Iterable[Labelled],
        *,
        labels: Sequence[str] | None = None,
        weights: ArrayLike | None = None,
    ) -> Self:
        """Estimate the model.

        Args:
            sentences: pairs of observations and labels, both sequences of strings.

        Other args:
            labels: all labels, in the order of their ids; those of the sentences by name if not given.
            weights: (sentences,) how often each sentence counts; 1 if not given.
        """
        corpus = Corpus.read(sentences, labels, weights)
        self.names = corpus.names
        self._estimate(corpus)
        return self

    @abstractmethod
    def _estimate(self, corpus: Corpus) -> None:
        """Set ``diagnostics`` and whatever ``_ladder`` needs."""

    @abstractmethod
    def _ladder(self) -> Iterator[Summing]:
        """Yield the model, then what takes its place where it gives a sentence no positive total."""

    def marginals(self, sentences: Sequence[Sequence[str]], *, threads: int = 1) -> list[Marginals]:
        """Return the probability of each label at each position of some sentences."""
        data = self._encoded(sentences)
        sums, level = _reliable(self._ladder(), data, threads)
        return [
            Marginals(
                _distribution(sums.marginals[begin:end]),
                sums.marginals[begin:end],
                float(sums.log_mass[n]) if end > begin else 0.0,
                int(level[n]),
            )
            for n, (begin, end) in enumerate(zip(data.offsets[:-1], data.offsets[1:], strict=True))
        ]

    def predict(
        self, sentences: Sequence[Sequence[str]], *, legal: Automaton | None = None, threads: int = 1
    ) -> list[list[str]]:
        """Return the labels of some sentences: at each position the most probable one.

        Args:
            sentences: of observations.

        Other args:
            legal: which sequences are legal, such as ``certus.bio(model.names.labels)``; then the legal
                sequence with the most labels right in expectation, found by ``certus.Chain``.
            threads: how many to use.
        """
        found = self.marginals(sentences, threads=threads)
        if legal is None:
            best = [answer.best() for answer in found]
        else:
            size = len(self.names.labels)
            if tuple(legal.labels) != self.names.labels:
                raise InvalidInput("legal is over other labels than the model, or in another order: "
                                   "make it from model.names.labels")  # fmt: skip
            chain = Chain(np.zeros((size, size)))
            best = [chain.decode(answer.probabilities, allowed=legal).labels for answer in found]
        return [[self.names.labels[a] for a in labels] for labels in best]

    def log_probabilities(self, sentences: Sequence[Labelled], *, threads: int = 1) -> NDArray[np.float64]:
        """Return log p(labels, observations) of labelled sentences, summed over hidden states.

        It is NaN where estimated operators make the probability negative.
        """
        data = self._encoded([observations for observations, _ in sentences])
        for n, (observations, labels) in enumerate(sentences):
            if len(observations) != len(labels):
                raise InvalidInput(
                    f"sentence {n} has {len(observations)} observations, but {len(labels)} labels"
                )
        ids = self.names.label_ids(a for _, labels in sentences for a in labels)
        sums = next(self._ladder()).sums_of(data, ids, threads)
        empty = data.lengths == 0
        return np.where(empty, 0.0, np.where(sums.sign < 0, np.nan, sums.log_mass))

    def accuracy(self, sentences: Sequence[Labelled], *, threads: int = 1) -> float:
        """Return the share of tokens that get their own label, in percent; 0 if there are none."""
        predicted = self.predict([observations for observations, _ in sentences], threads=threads)
        right = sum(a == b for got, (_, labels) in zip(predicted, sentences, strict=True)
                    for a, b in zip(got, labels, strict=True))  # fmt: skip
        return 100 * right / max(1, sum(len(labels) for _, labels in sentences))

    def _encoded(self, sentences: Sequence[Sequence[str]]) -> Observed:
        if not hasattr(self, "names"):
            raise NotFitted(f"this {type(self).__name__} is not fitted yet: call fit first")
        return self.names.encode(sentences)


def _reliable(ladder: Iterator[Summing], data: Observed, threads: int) -> tuple[Sums, NDArray[np.int64]]:
    """Sum by the first rung, and sentences without a positive total by the next ones."""
    sums = next(ladder).sums(data, threads)
    level = np.zeros(len(data.offsets) - 1, np.int64)
    rung = 0
    while (bad := np.flatnonzero((sums.sign <= 0) & (data.lengths > 0))).size:
        model = next(ladder, None)
        if model is None:
            break
        rung += 1
        tokens = np.concatenate([np.arange(data.offsets[n], data.offsets[n + 1]) for n in bad])
        part = Observed(data.observations[tokens], offsets_of(data.lengths[bad].tolist()))
        other = model.sums(part, threads)
        sums.marginals[tokens] = other.marginals
        sums.log_mass[bad], sums.sign[bad], sums.drift[bad] = other.log_mass, other.sign, other.drift
        level[bad] = rung
    return sums, level


def _distribution(raw: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return marginals without what is negative, adding up to 1; uniform where nothing is left."""
    kept = np.maximum(raw, 0.0)
    total = kept.sum(axis=1, keepdims=True)
    probabilities: NDArray[np.float64] = np.divide(
        kept, total, out=np.full_like(kept, 1 / max(1, raw.shape[1])), where=total > 0
    )
    return probabilities
