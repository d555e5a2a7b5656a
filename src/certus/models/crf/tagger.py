"""The trained model behind a CRF, with the methods of pycrfsuite.Tagger."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from certus.errors import InvalidInput
from certus.learn.crf.model import ItemCorpus
from certus.models.crf import inputs
from certus.models.crf.fitted import FittedCRF
from certus.models.crf.inputs import Item


@dataclass(frozen=True)
class CRFInfo:
    """What is in a trained CRF.

    Attributes:
        header: how much there is: ``size`` in bytes, ``num_labels``, ``num_attrs``.
        labels: the number of each label.
        attributes: the number of each feature.
        transitions: the weights of two labels in a row, except those that are 0.
        state_features: the weights of features with labels, except those that are 0.
    """

    header: dict[str, Any]
    labels: dict[str, int]
    attributes: dict[str, int]
    transitions: dict[tuple[str, str], float]
    state_features: dict[tuple[str, str], float]


class CRFTagger:
    """Labels one sentence at a time; ``crf.tagger_`` is one."""

    def __init__(self, model: FittedCRF) -> None:
        self._model = model
        self._corpus: ItemCorpus | None = None

    def labels(self) -> list[str]:
        """Return the labels."""
        return list(self._model.labels)

    def set(self, xseq: Iterable[Item]) -> None:
        """Take the sentence that the other methods are about."""
        self._corpus = self._model.read(inputs.as_list("X", [xseq]))

    def tag(self, xseq: Iterable[Item] | None = None) -> list[str]:
        """Return the best labels of a sentence; without one, of that which ``set`` was given."""
        if xseq is not None:
            self.set(xseq)
        return [self._model.labels[y] for y in self._model.chain.decode(self._get_sentence()).tolist()]

    def probability(self, yseq: Sequence[str]) -> float:
        """Return the probability of a label sequence of the sentence."""
        corpus, chain = self._get_sentence(), self._model.chain
        if len(yseq) != corpus.tokens:
            raise InvalidInput(f"there are {len(yseq)} labels for {corpus.tokens} tokens")
        ids = np.array([self._find(label) for label in yseq], np.int64)
        score = chain.emissions(corpus)[np.arange(len(ids)), ids].sum()
        score += chain.transitions[ids[:-1], ids[1:]].sum()
        return float(np.exp(score - chain.marginals(corpus).log_partitions[0]))

    def marginal(self, y: str, pos: int) -> float:
        """Return the probability of a label at a position of the sentence."""
        corpus = self._get_sentence()
        if not 0 <= pos < corpus.tokens:
            raise InvalidInput(f"position {pos} is not one of the {corpus.tokens} of the sentence")
        return float(self._model.chain.marginals(corpus).probabilities[pos, self._find(y)])

    def info(self) -> CRFInfo:
        """Return what is in the model."""
        model, names = self._model, self._model.list_attributes()
        return CRFInfo(
            {"size": model.nbytes, "num_labels": len(model.labels), "num_attrs": len(names)},
            {label: number for number, label in enumerate(model.labels)},
            {name: number for number, name in enumerate(names)},
            model.list_transitions(),
            model.list_states(),
        )

    def _get_sentence(self) -> ItemCorpus:
        if self._corpus is None:
            raise InvalidInput("there is no sentence yet: call set(xseq) first")
        return self._corpus

    def _find(self, label: str) -> int:
        if label not in self._model.labels:
            raise InvalidInput(f"{label!r} is no label of this CRF; it has {', '.join(self._model.labels)}")
        return self._model.labels.index(label)
