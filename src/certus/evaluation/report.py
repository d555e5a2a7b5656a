"""What an evaluation finds: counts, and the figures they make."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Share:
    """How many of something are right."""

    correct: int = 0
    total: int = 0

    def add(self, correct: int, total: int) -> None:
        """Count some more."""
        self.correct += correct
        self.total += total

    @property
    def accuracy(self) -> float:
        """The share that is right; NaN of nothing."""
        return self.correct / self.total if self.total else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the accuracy (Wilson 1927), as if each were right or wrong on its own."""
        if not self.total:
            return math.nan, math.nan
        z, n, p = 1.959964, self.total, self.accuracy
        middle = (p + z * z / (2 * n)) / (1 + z * z / n)
        reach = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
        return max(0.0, middle - reach), min(1.0, middle + reach)


@dataclass
class Accuracy:
    """How often a column, or several together, is as in the gold file.

    Attributes:
        name: a column; columns joined as in a target expression; "UAS" or "LAS".
        tokens: of all tokens.
        sentences: of all sentences, those with every token right.
        known: of the tokens whose word was seen in training; empty when that is not known.
        unknown: of the others.
        by_sentence: the tokens right in each sentence.
        columns: those that are compared.
    """

    name: str
    tokens: Share = field(default_factory=Share)
    sentences: Share = field(default_factory=Share)
    known: Share = field(default_factory=Share)
    unknown: Share = field(default_factory=Share)
    by_sentence: list[int] = field(default_factory=list, repr=False)
    columns: tuple[str, ...] = ()

    @property
    def accuracy(self) -> float:
        """The share of tokens that is right."""
        return self.tokens.accuracy


@dataclass
class F1:
    """How well spans are found: those that are right in type, begin and end."""

    correct: int = 0
    predicted: int = 0
    gold: int = 0

    def add(self, correct: int, predicted: int, gold: int) -> None:
        """Count some more."""
        self.correct += correct
        self.predicted += predicted
        self.gold += gold

    @property
    def precision(self) -> float:
        """The share of the predicted spans that is right; 0 of none, as conlleval has it."""
        return self.correct / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """The share of the gold spans that is found; 0 of none."""
        return self.correct / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        total = self.predicted + self.gold
        return 2 * self.correct / total if total else 0.0


@dataclass
class AlignedScore(F1):
    """A measure of the CoNLL 2018 shared task, whose words are aligned by the characters of the text.

    Attributes:
        aligned: how many words of the gold file, among those that the measure looks at, are aligned.
        columns: those that are compared.
    """

    aligned: int = 0
    columns: tuple[str, ...] = ()

    @property
    def aligned_accuracy(self) -> float:
        """The share of the aligned words that is right; NaN where nothing is aligned."""
        return self.correct / self.aligned if self.aligned else math.nan


@dataclass
class UniversalReport:
    """The measures of the CoNLL 2018 shared task.

    Attributes:
        scores: by the names that they have there, such as "UFeats", "LAS" and "MLAS".
        malformed: predicted trees with a cycle, no root or several, or a head outside of the sentence.
    """

    scores: dict[str, AlignedScore] = field(default_factory=dict)
    malformed: int = 0


@dataclass
class SpanReport:
    """Chunks or entities of a column.

    Attributes:
        name: the column.
        total: over all types (micro average).
        types: each type for itself, in alphabetical order.
        by_sentence: the spans right, and the spans predicted, in each sentence.
    """

    name: str
    total: F1 = field(default_factory=F1)
    types: dict[str, F1] = field(default_factory=dict)
    by_sentence: list[tuple[int, int]] = field(default_factory=list, repr=False)


@dataclass
class EvaluationReport:
    """How a predicted file stands to the gold file.

    Attributes:
        sentences: how many the gold file has.
        tokens: how many the gold file has.
        accuracies: by name: columns, joint columns, UAS and LAS; empty where the words of the files differ.
        spans: by name of the column: chunks and entities; empty where the words of the files differ.
        universal: the measures of the CoNLL 2018 shared task, of files in CoNLL-U.
        copied: columns that hold the gold file's own value for every token, while others do not: they were
            copied, not predicted. Where every column does, nothing tells which, and none is listed.
        is_identical: whether every column does, and nobody has said which were predicted.
        empty: columns that hold nothing ("_") in the predicted file.
        has_same_words: whether the words and sentences of both files are the same.
    """

    sentences: int = 0
    tokens: int = 0
    accuracies: dict[str, Accuracy] = field(default_factory=dict)
    spans: dict[str, SpanReport] = field(default_factory=dict)
    universal: UniversalReport | None = None
    copied: tuple[str, ...] = ()
    is_identical: bool = False
    empty: tuple[str, ...] = ()
    has_same_words: bool = True

    def as_dict(self) -> dict[str, Any]:
        """Return all figures as what JSON can hold; shares are from 0 to 1."""
        found: dict[str, Any] = {
            "sentences": self.sentences,
            "tokens": self.tokens,
            "same_words": self.has_same_words,
            "copied": list(self.copied),
            "identical": self.is_identical,
            "empty": list(self.empty),
            "accuracy": {
                name: {**_describe_accuracy(row), "copied": self.list_copied(row.columns)}
                for name, row in self.accuracies.items()
            },
            "spans": {
                name: {
                    **_describe_f1(row.total),
                    "types": {kind: _describe_f1(part) for kind, part in row.types.items()},
                }
                for name, row in self.spans.items()
            },
        }
        if self.universal is not None:
            found["conll18"] = {
                name: {**_describe_aligned(row), "copied": self.list_copied(row.columns)}
                for name, row in self.universal.scores.items()
            }
            found["malformed_trees"] = self.universal.malformed
        return found

    def list_copied(self, columns: Iterable[str]) -> list[str]:
        """Return those of some columns that were copied from the gold file."""
        return [column for column in columns if column in self.copied]


def _describe_aligned(row: AlignedScore) -> dict[str, Any]:
    if not row.columns:
        return _describe_f1(row)
    value = row.aligned_accuracy if row.aligned else None
    return {**_describe_f1(row), "aligned": row.aligned, "aligned_accuracy": value}


def _describe_accuracy(row: Accuracy) -> dict[str, Any]:
    found: dict[str, Any] = {**_share(row.tokens), "interval": row.tokens.interval}
    found["sentences"] = _share(row.sentences)
    if row.known.total or row.unknown.total:
        found["known"], found["unknown"] = _share(row.known), _share(row.unknown)
    return found


def _share(share: Share) -> dict[str, Any]:
    value = share.accuracy if share.total else None
    return {"accuracy": value, "correct": share.correct, "total": share.total}


def _describe_f1(part: F1) -> dict[str, Any]:
    return {
        "f1": part.f1,
        "precision": part.precision,
        "recall": part.recall,
        "correct": part.correct,
        "predicted": part.predicted,
        "gold": part.gold,
    }
