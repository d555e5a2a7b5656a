"""What an evaluation finds: counts, and the figures they make."""

from __future__ import annotations

import math
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
    """

    name: str
    tokens: Share = field(default_factory=Share)
    sentences: Share = field(default_factory=Share)
    known: Share = field(default_factory=Share)
    unknown: Share = field(default_factory=Share)
    by_sentence: list[int] = field(default_factory=list, repr=False)

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
        sentences: how many there are.
        tokens: how many there are.
        accuracies: by name: columns, joint columns, UAS and LAS.
        spans: by name of the column: chunks and entities.
    """

    sentences: int = 0
    tokens: int = 0
    accuracies: dict[str, Accuracy] = field(default_factory=dict)
    spans: dict[str, SpanReport] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return all figures as what JSON can hold; shares are from 0 to 1."""
        return {
            "sentences": self.sentences,
            "tokens": self.tokens,
            "accuracy": {name: _describe_accuracy(row) for name, row in self.accuracies.items()},
            "spans": {
                name: {
                    **_describe_f1(row.total),
                    "types": {kind: _describe_f1(part) for kind, part in row.types.items()},
                }
                for name, row in self.spans.items()
            },
        }


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
