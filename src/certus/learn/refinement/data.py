"""Sentences as numbers: one flat array of labels, one of observations, and where sentences begin."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certus.errors import InvalidInput
from certus.ragged import offsets_of

Labelled: TypeAlias = "tuple[Sequence[str], Sequence[str]]"
"""A sentence to learn from: its observations, and as many labels."""


@dataclass(frozen=True, eq=False)
class Names:
    """The labels and observations of a model, by id.

    Attributes:
        labels: by id.
        observations: the id of each; one that is not there gets the id ``unseen``.
    """

    labels: tuple[str, ...]
    observations: dict[str, int]

    @property
    def unseen(self) -> int:
        """The id of every observation that was not in training: one more than the last."""
        return len(self.observations)

    def encode(self, sentences: Sequence[Sequence[str]]) -> Observed:
        """Return the ids of the observations of some sentences."""
        for n, sentence in enumerate(sentences):
            if isinstance(sentence, str):
                raise InvalidInput(f"sentence {n} is the string {sentence!r}; give a list of observations")
        known, unseen = self.observations, self.unseen
        ids = [known.get(x, unseen) for sentence in sentences for x in sentence]
        return Observed(np.array(ids, np.int64), offsets_of(list(map(len, sentences))))

    def find_label_ids(self, labels: Iterable[str]) -> NDArray[np.int64]:
        """Return the ids of labels, or name one that is unknown."""
        ids = {name: i for i, name in enumerate(self.labels)}
        try:
            return np.array([ids[label] for label in labels], np.int64)
        except KeyError as error:
            raise InvalidInput(
                f"{error} is not one of the {len(ids)} labels of the model: {', '.join(self.labels)}"
            ) from None


@dataclass(frozen=True, eq=False)
class Observed:
    """Observations of sentences, one after the other.

    Attributes:
        observations: (tokens,) ids.
        offsets: (sentences + 1,) where each sentence begins.
    """

    observations: NDArray[np.int64]
    offsets: NDArray[np.int64]

    def __post_init__(self) -> None:
        """Refuse offsets that do not part the observations into sentences."""
        offsets = self.offsets
        if (
            len(offsets) == 0
            or offsets[0] != 0
            or offsets[-1] != len(self.observations)
            or (np.diff(offsets) < 0).any()
        ):
            raise InvalidInput(
                f"offsets must rise from 0 to the number of observations, {len(self.observations)}"
            )

    @property
    def lengths(self) -> NDArray[np.int64]:
        """(sentences,)."""
        return np.diff(self.offsets)


@dataclass(frozen=True, eq=False)
class LabelledCorpus:
    """Labelled sentences to learn from; empty ones are left out.

    Attributes:
        names: what the ids stand for.
        labels: (tokens,) ids.
        observations: (tokens,) ids.
        offsets: (sentences + 1,) where each sentence begins.
        weights: (tokens,) how often the sentence of each token counts; 1 unless given.
    """

    names: Names
    labels: NDArray[np.int64]
    observations: NDArray[np.int64]
    offsets: NDArray[np.int64]
    weights: NDArray[np.float64]

    @classmethod
    def read(
        cls,
        sentences: Iterable[Labelled],
        labels: Sequence[str] | None = None,
        weights: ArrayLike | None = None,
    ) -> LabelledCorpus:
        """Give the labels and observations of sentences their ids.

        Args:
            sentences: pairs of observations and labels.
            labels: all labels, in the order of their ids; in the order of their names if not given.
            weights: (sentences,) how often each one counts, such as its probability; 1 if not given.
        """
        pairs = [_check_sentence(n, sentence) for n, sentence in enumerate(sentences)]
        own = _check_weights(weights, len(pairs))
        kept = [n for n, (seen, _) in enumerate(pairs) if len(seen) > 0 and own[n] > 0]
        if not kept:
            raise InvalidInput("there is nothing to learn from: no sentence has a token")
        names = tuple(labels) if labels is not None else tuple(sorted({a for n in kept for a in pairs[n][1]}))
        known: dict[str, int] = {}
        seen = [known.setdefault(x, len(known)) for n in kept for x in pairs[n][0]]
        all_names = Names(names, known)
        flat = all_names.find_label_ids(a for n in kept for a in pairs[n][1])
        _check_all_seen(names, flat)
        lengths = [len(pairs[n][0]) for n in kept]
        return cls(
            all_names, flat, np.array(seen, np.int64), offsets_of(lengths), np.repeat(own[kept], lengths)
        )

    @property
    def first(self) -> NDArray[np.int64]:
        """(sentences,) the first token of each."""
        return self.offsets[:-1]

    @property
    def last(self) -> NDArray[np.int64]:
        """(sentences,) the last token of each."""
        return self.offsets[1:] - 1

    @property
    def inner(self) -> NDArray[np.int64]:
        """The tokens that another one follows in their sentence."""
        keep = np.ones(len(self.labels), bool)
        keep[self.last] = False
        return np.flatnonzero(keep)


def check_ids(what: str, ids: NDArray[np.int64], size: int) -> None:
    """Refuse ids that a model does not have, before a kernel looks them up."""
    bad = np.flatnonzero((ids < 0) | (ids >= size))
    if bad.size:
        raise InvalidInput(f"{what} {ids[bad[0]]} at token {bad[0]} is not one of 0 to {size - 1}")


def _check_sentence(n: int, sentence: Labelled) -> Labelled:
    try:
        seen, labels = sentence
    except (TypeError, ValueError):
        raise InvalidInput(f"sentence {n} is no pair of observations and labels: {sentence!r:.80}") from None
    if isinstance(seen, str) or isinstance(labels, str):
        raise InvalidInput(f"sentence {n} has a string where a list of strings is needed: {sentence!r:.80}")
    if len(seen) != len(labels):
        raise InvalidInput(f"sentence {n} has {len(seen)} observations, but {len(labels)} labels")
    return seen, labels


def _check_weights(weights: ArrayLike | None, count: int) -> NDArray[np.float64]:
    if weights is None:
        return np.ones(count)
    own = np.asarray(weights, np.float64)
    if own.shape != (count,) or not np.isfinite(own).all() or (own < 0).any():
        raise InvalidInput(f"weights must be {count} finite numbers, none below 0: one for each sentence")
    return own


def _check_all_seen(names: tuple[str, ...], labels: NDArray[np.int64]) -> None:
    missing = np.flatnonzero(np.bincount(labels, minlength=len(names)) == 0)
    if missing.size:
        absent = ", ".join(repr(names[a]) for a in missing)
        raise InvalidInput(
            f"the training sentences never have the label {absent}: leave it out of labels, or add sentences "
            "that have it"
        )
