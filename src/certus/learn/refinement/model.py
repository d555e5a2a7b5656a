"""One interface for everything that labels sentences by p(labels, observations)."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certus.chain import Automaton
from certus.errors import InvalidInput, ModelError, NotFitted
from certus.learn.refinement.data import Labelled, LabelledCorpus, Names, Observed
from certus.learn.refinement.decoding import Beliefs, Summing, believe, find_best_legal, free
from certus.learn.refinement.diagnostics import Diagnostics
from certus.learn.refinement.parameters import Parameters
from certus.learn.refinement.storage import (
    DIAGNOSTICS,
    NAMES,
    Arrays,
    list_problems,
    pack_diagnostics,
    pack_names,
    read_diagnostics,
    read_names,
)
from certus.solution import LabelSolution
from certus.storage import model_file
from certus.storage.declaration import Array, Declaration

Self = TypeVar("Self", bound="Refinement")

KIND = "refinement"  # of model files
_KINDS: dict[str, type[Any]] = {}


@dataclass(frozen=True, eq=False)
class RefinementMarginals:
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
    estimator: ClassVar[str]  # what a model file calls it
    declared: ClassVar[dict[str, Array]]  # the arrays that the model is made of
    exact: ClassVar[bool] = True  # whether its probabilities are those of some model, not estimates of them

    def __init_subclass__(cls) -> None:
        """Let model files name a kind of model by its estimator."""
        _KINDS[cls.estimator] = cls

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
        corpus = LabelledCorpus.read(sentences, labels, weights)
        self.names = corpus.names
        self._estimate(corpus)
        return self

    @abstractmethod
    def _estimate(self, corpus: LabelledCorpus) -> None:
        """Set ``diagnostics`` and whatever ``_ladder`` needs."""

    @abstractmethod
    def _list_rungs(self) -> Sequence[Summing]:
        """Return the model, then what takes its place where it gives a sentence no positive total."""

    @abstractmethod
    def _pack_parts(self) -> dict[str, NDArray[Any]]:
        """Return the arrays that the model is made of."""

    @abstractmethod
    def _rebuild(self, arrays: Arrays) -> None:
        """Become the model that arrays are of."""

    def get_plain(self) -> Parameters:
        """Return the probabilities that are below everything the model says."""
        raise InvalidInput(f"a {type(self).__name__} has no probabilities of transitions")

    def pack(self) -> dict[str, NDArray[Any]]:
        """Return the arrays of a fitted model."""
        return {**self._pack_parts(), **pack_diagnostics(self.diagnostics), **pack_names(self.names)}

    def restore(
        self,
        labels: Sequence[str],
        arrays: Mapping[str, NDArray[Any]],
        problems: Mapping[str, str] | None = None,
    ) -> None:
        """Make an unfitted model the one that arrays were packed from.

        Args:
            labels: their names.
            arrays: what ``pack`` gave, of a model of the same kind and options.
            problems: what the diagnostics had to say, by label.
        """
        declaration = Declaration({**NAMES, **self.declared, **DIAGNOSTICS})
        declaration.check(arrays, labels=len(labels))
        self.names = read_names(labels, arrays)
        self._rebuild(arrays)
        self.diagnostics = read_diagnostics(self.names.labels, arrays, problems or {})

    @abstractmethod
    def _list_settings(self) -> dict[str, Any]:
        """Return the arguments that the model was made with, as JSON has them."""

    @classmethod
    def _make(cls: type[Self], settings: dict[str, Any]) -> Self:
        """Make an unfitted model of its settings."""
        return cls(**settings)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to one file, whole or not at all; ``certus.load`` opens it."""
        self._encode([])
        description = {
            "estimator": self.estimator,
            "settings": self._list_settings(),
            "labels": list(self.names.labels),
            "problems": list_problems(self.diagnostics),
        }
        model_file.write(path, KIND, self.pack(), description)

    @classmethod
    def load(cls: type[Self], path: str | os.PathLike[str]) -> Self:
        """Open a model that ``save`` wrote."""
        return cls.from_file(model_file.read(path))

    @classmethod
    def from_file(cls: type[Self], file: model_file.ModelFile) -> Self:
        """Make a model of an opened model file; any kind of refinement if asked of ``Refinement`` itself."""
        with model_file.blame_file(file, KIND) as about:
            kind = _KINDS[about["estimator"]]
            model = kind._make(about["settings"])
            model.restore(list(about["labels"]), file.arrays, about["problems"])
        if not isinstance(model, cls):
            raise ModelError(f"{file.path} holds a {kind.__name__}, not a {cls.__name__}")
        return model

    def marginals(self, sentences: Sequence[Sequence[str]], *, threads: int = 1) -> list[RefinementMarginals]:
        """Return the probability of each label at each position of some sentences."""
        found = self._believe(self._encode(sentences), threads)
        offsets = found.data.offsets
        return [
            RefinementMarginals(
                found.probabilities[begin:end], found.raw[begin:end], float(log_mass), int(level)
            )
            for begin, end, log_mass, level in zip(
                offsets[:-1], offsets[1:], found.log_mass, found.level, strict=True
            )
        ]

    def predict(
        self, sentences: Sequence[Sequence[str]], *, legal: Automaton | None = None, threads: int = 1
    ) -> list[list[str]]:
        """Return the labels of some sentences: at each position the most probable one.

        Args:
            sentences: of observations.

        Other args:
            legal: which sequences are legal, such as ``certus.bio(model.names.labels)``; then the legal
                sequence with the most labels right in expectation, found by ``certus.Chain``, given that
                the labels are legal.
            threads: how many to use.
        """
        data, names = self._encode(sentences), self.names.labels
        if legal is None:
            best = self._believe(data, threads).probabilities.argmax(axis=1)
            return [[names[a] for a in labels] for labels in np.split(best, data.offsets[1:-1])][
                : len(sentences)
            ]
        if tuple(legal.labels) != names:
            raise InvalidInput("legal is over other labels than the model, or in another order: "
                               "make it from model.names.labels")  # fmt: skip
        beliefs = believe([rung.constrain(legal) for rung in self._list_rungs()], data, threads)
        found = find_best_legal(beliefs, free(len(names), legal), None, threads)[: len(sentences)]
        return [
            [names[a] for a in self._refuse_impossible(n, answer).labels] for n, answer in enumerate(found)
        ]

    @staticmethod
    def _refuse_impossible(
        n: int, answer: LabelSolution[NDArray[np.int64]]
    ) -> LabelSolution[NDArray[np.int64]]:
        if answer.position is not None:
            raise InvalidInput(f"no label sequence of sentence {n} is legal")
        return answer

    def _believe(self, data: Observed, threads: int) -> Beliefs:
        return believe(self._list_rungs(), data, threads)

    def log_probabilities(self, sentences: Sequence[Labelled], *, threads: int = 1) -> NDArray[np.float64]:
        """Return log p(labels, observations) of labelled sentences, summed over hidden states.

        It is NaN where estimated operators make the probability negative.
        """
        data = self._encode([observations for observations, _ in sentences])
        for n, (observations, labels) in enumerate(sentences):
            if len(observations) != len(labels):
                raise InvalidInput(
                    f"sentence {n} has {len(observations)} observations, but {len(labels)} labels"
                )
        ids = self.names.find_label_ids(a for _, labels in sentences for a in labels)
        masses = self._list_rungs()[0].compute_masses(data, ids, threads)
        empty = data.lengths == 0
        return np.where(empty, 0.0, np.where(masses.sign < 0, np.nan, masses.log_mass))

    def measure_accuracy(self, sentences: Sequence[Labelled], *, threads: int = 1) -> float:
        """Return the share of tokens that get their own label, in percent; 0 if there are none."""
        predicted = self.predict([observations for observations, _ in sentences], threads=threads)
        right = sum(a == b for got, (_, labels) in zip(predicted, sentences, strict=True)
                    for a, b in zip(got, labels, strict=True))  # fmt: skip
        return 100 * right / max(1, sum(len(labels) for _, labels in sentences))

    def _encode(self, sentences: Sequence[Sequence[str]]) -> Observed:
        if not hasattr(self, "names"):
            raise NotFitted(f"this {type(self).__name__} is not fitted yet: call fit first")
        return self.names.encode(sentences)
