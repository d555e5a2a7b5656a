"""What comes into a CRF: sentences of tokens with features, and their labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain as joined
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from certus.errors import InvalidInput
from certus.learn.crf.model import ItemCorpus

T = TypeVar("T")
Item: TypeAlias = Mapping[str, object] | Iterable[str]
"""A token: its features with their values, or their names."""
Sentences: TypeAlias = Iterable[Iterable[Item]]
LabelLists: TypeAlias = Iterable[Iterable[str]]


def as_list(name: str, values: Iterable[T]) -> Sequence[T]:
    """Take whatever can be gone through, except text and mappings, which are never meant."""
    if isinstance(values, (str, bytes, dict)) or not hasattr(values, "__iter__"):
        raise InvalidInput(
            f"{name} is a {type(values).__name__}; it must be a list with one entry per sentence"
        )
    return values if isinstance(values, (list, tuple)) else list(values)


def check_label_lists(name: str, y: Iterable[Iterable[str]]) -> list[Sequence[str]]:
    """Check that labels are strings, in one list per sentence."""
    lists = [_check_labels(f"{name}[{s}]", labels) for s, labels in enumerate(as_list(name, y))]
    if set(map(type, joined.from_iterable(lists))) <= {str}:
        return lists
    for s, labels in enumerate(lists):
        for t, label in enumerate(labels):
            if not isinstance(label, str):
                raise InvalidInput(
                    f"{name}[{s}][{t}] is {label!r}, a {type(label).__name__}; labels must be strings"
                )
    return [[str(label) for label in labels] for labels in lists]


def _check_labels(name: str, labels: Any) -> Sequence[Any]:
    if isinstance(labels, (str, bytes, dict)) or not hasattr(labels, "__iter__"):
        raise InvalidInput(f"{name} is a {type(labels).__name__}; it must be a list with one label per token")
    return labels if isinstance(labels, (list, tuple)) else list(labels)


def check_same_number(name: str, X: Sequence[object], y: Sequence[Sequence[str]]) -> None:
    """Refuse sentences without labels, or labels without sentences; also, having none at all."""
    if len(X) != len(y):
        raise InvalidInput(f"{name} has {len(X)} sentences, but there are labels for {len(y)}")
    for s, (tokens, labels) in enumerate(zip(X, y, strict=True)):
        if isinstance(tokens, (list, tuple)):  # others show their length when they are read
            check_same_length(name, s, len(tokens), len(labels))
    if len(X) == 0:
        raise InvalidInput(f"{name} is empty: there are no sentences to learn from")


def check_same_lengths(name: str, corpus: ItemCorpus, y: Sequence[Sequence[str]]) -> None:
    """Check the length of every sentence of a corpus."""
    for s, (length, labels) in enumerate(zip(np.diff(corpus.sentence_begin).tolist(), y, strict=True)):
        check_same_length(name, s, length, len(labels))


def check_same_length(name: str, sentence: int, tokens: int, labels: int) -> None:
    """Refuse a sentence that has more tokens than labels, or fewer."""
    if tokens != labels:
        raise InvalidInput(
            f"sentence {sentence} has {tokens} tokens ({name}[{sentence}]) but {labels} labels"
        )


def number_labels(y: Sequence[Sequence[str]]) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    """Give labels numbers in the order in which they are first met."""
    numbers: dict[str, int] = {}
    ids = [numbers.setdefault(label, len(numbers)) for label in joined.from_iterable(y)]
    return tuple(numbers), np.array(ids, np.int32)


def measure_accuracy(y: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> float:
    """Count the share of tokens whose label is right."""
    right = total = 0
    for labels, found in zip(y, predicted, strict=True):
        right += sum(a == b for a, b in zip(labels, found, strict=True))
        total += len(labels)
    if total == 0:
        raise InvalidInput("there are no tokens to score")
    return right / total
