"""What a CRF knows once it is trained: the names of labels and features, and the weights."""

from __future__ import annotations

import os
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certus import _native
from certus.learn.crf.model import ChainCRF, ItemCorpus
from certus.models.crf.inputs import Sentences
from certus.storage import model_file
from certus.storage.declaration import Declaration, keys, offsets, reals, whole

KIND = "crf"
DECLARATION = Declaration({
    "names": keys("text", types="uint8"),
    "names.begin": offsets("features", into="text"),
    "states.begin": offsets("features", into="weights"),
    "states.label": whole("weights", types="int32", below="labels"),
    "states.weight": reals("weights", types="float64"),
    "transitions": reals("labels", "labels", types="float64"),
})  # fmt: skip


class FittedCRF:
    """A chain with names.

    Attributes:
        labels: their names, by number.
        vocabulary: the names of the features.
        chain: the weights.
    """

    def __init__(self, labels: tuple[str, ...], vocabulary: _native.CrfVocabulary, chain: ChainCRF) -> None:
        self.labels = labels
        self.vocabulary = vocabulary
        self.chain = chain

    @classmethod
    def of_training(
        cls, labels: tuple[str, ...], vocabulary: _native.CrfVocabulary, chain: ChainCRF
    ) -> FittedCRF:
        """Leave out the features that ended up without a weight."""
        counts = np.diff(chain.row_begin)
        kept = np.flatnonzero(counts)
        begin = np.concatenate([[0], np.cumsum(counts[kept])])
        slim = ChainCRF(begin, chain.row_label, chain.row_weight, chain.transitions)
        return cls(labels, vocabulary.only(kept), slim)

    def read(self, X: Sentences) -> ItemCorpus:
        """Turn features into their numbers, leaving out those that are unknown."""
        return ItemCorpus.of_native(self.vocabulary.lookup(X))

    def list_attributes(self) -> list[str]:
        """Name the features, by number."""
        text, begin = self.vocabulary.text, self.vocabulary.begin.tolist()
        # Names given as bytes need not be text.
        return [text[a:b].decode("utf-8", "backslashreplace") for a, b in pairwise(begin)]

    def list_states(self) -> dict[tuple[str, str], float]:
        """List the weights of features with labels, by their names."""
        chain = self.chain
        features = np.repeat(np.arange(chain.features), np.diff(chain.row_begin)).tolist()
        names, labels = self.list_attributes(), self.labels
        return {
            (names[f], labels[y]): w
            for f, y, w in zip(features, chain.row_label.tolist(), chain.row_weight.tolist(), strict=True)
        }

    def list_transitions(self) -> dict[tuple[str, str], float]:
        """List the weights of labels in a row, by their names."""
        table = self.chain.transitions
        return {
            (self.labels[i], self.labels[j]): float(table[i, j]) for i, j in np.argwhere(table != 0).tolist()
        }

    @property
    def nbytes(self) -> int:
        """The memory that names and weights take."""
        chain = self.chain
        arrays = (
            chain.row_begin,
            chain.row_label,
            chain.row_weight,
            chain.transitions,
            self.vocabulary.begin,
        )
        return sum(array.nbytes for array in arrays) + len(self.vocabulary.text)

    def save(self, path: str | os.PathLike[str], options: Mapping[str, Any]) -> None:
        """Write a model file."""
        arrays: dict[str, NDArray[Any]] = {
            "names": np.frombuffer(self.vocabulary.text, np.uint8),
            "names.begin": self.vocabulary.begin,
            "states.begin": self.chain.row_begin,
            "states.label": self.chain.row_label,
            "states.weight": self.chain.row_weight,
            "transitions": self.chain.transitions,
        }
        model_file.write(
            path,
            KIND,
            arrays,
            {"labels": list(self.labels), "features": self.chain.features, "options": dict(options)},
        )

    @classmethod
    def from_file(cls, file: model_file.ModelFile) -> tuple[FittedCRF, dict[str, Any]]:
        """Return what an opened model file holds, and the options stored with it."""
        with model_file.blame_file(file, KIND) as about:
            a = file.arrays
            labels = tuple(str(label) for label in about["labels"])
            DECLARATION.check(a, labels=len(labels))
            vocabulary = _native.CrfVocabulary(a["names"].tobytes(), np.ascontiguousarray(a["names.begin"]))
            chain = ChainCRF(a["states.begin"], a["states.label"], a["states.weight"], a["transitions"])
            options = dict(about["options"])
        return cls(labels, vocabulary, chain), options

    def __reduce__(self) -> Any:
        return _restore, (self.labels, self.vocabulary.text, self.vocabulary.begin, self.chain)


def _restore(labels: tuple[str, ...], text: bytes, begin: Any, chain: ChainCRF) -> FittedCRF:
    return FittedCRF(labels, _native.CrfVocabulary(text, begin), chain)
