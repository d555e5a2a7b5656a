"""Scoring trees, as the program evalb does with the parameters of Collins (COLLINS.prm).

Constituents are compared as labelled spans of words. Roots and tags are no constituents; words whose gold tag
is punctuation (, . : `` '') are taken out first, and constituents over nothing else with them; PRT counts as
ADVP. Tags are compared one by one on the words that are left. A tree matches exactly if its constituents do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

from certus.annotation.trees import TOP, Tree, prepare_tree
from certus.errors import InvalidInput
from certus.evaluation.report import F1, Share

PUNCTUATION = frozenset([",", ".", ":", "``", "''"])
EQUAL = {"PRT": "ADVP"}
SHORT = 40  # words: figures are also given for sentences of at most this length

Span = tuple[str, int, int]


@dataclass
class Brackets:
    """How well the constituents of some trees were found.

    Attributes:
        spans: gold, predicted and correct constituents.
        exact: trees with all constituents right.
        tags: words with the right tag.
        crossing: predicted constituents that overlap a gold one without one being in the other.
        no_crossing: trees without any such.
        few_crossing: trees with at most two.
    """

    spans: F1 = field(default_factory=F1)
    exact: Share = field(default_factory=Share)
    tags: Share = field(default_factory=Share)
    crossing: int = 0
    no_crossing: Share = field(default_factory=Share)
    few_crossing: Share = field(default_factory=Share)

    @property
    def f1(self) -> float:
        """Of the constituents."""
        return self.spans.f1

    @property
    def sentences(self) -> int:
        """How many trees were compared."""
        return self.exact.total

    def add(self, gold: Tree, predicted: Tree) -> None:
        """Compare two trees over the same words."""
        kept = [tag not in PUNCTUATION for tag in gold.tags]
        right, found = count_spans(gold, kept), count_spans(predicted, kept)
        correct = sum((right & found).values())
        self.spans.add(correct, sum(found.values()), sum(right.values()))
        self.exact.add(int(right == found), 1)
        pairs = [
            pair for pair, keep in zip(zip(gold.tags, predicted.tags, strict=True), kept, strict=True) if keep
        ]
        self.tags.add(sum(a == b for a, b in pairs), len(pairs))
        crossing = _count_crossing(right, found)
        self.crossing += crossing
        self.no_crossing.add(int(crossing == 0), 1)
        self.few_crossing.add(int(crossing <= 2), 1)

    def as_dict(self) -> dict[str, Any]:
        """Return all figures, for JSON."""
        return {
            "sentences": self.sentences,
            "precision": self.spans.precision,
            "recall": self.spans.recall,
            "f1": self.f1,
            "exact": self.exact.accuracy,
            "tags": self.tags.accuracy,
            "crossing": self.crossing / self.sentences if self.sentences else 0.0,
            "no_crossing": self.no_crossing.accuracy,
            "two_or_less_crossing": self.few_crossing.accuracy,
            "gold": self.spans.gold,
            "predicted": self.spans.predicted,
            "correct": self.spans.correct,
        }


@dataclass
class TreeReport:
    """What a comparison of trees finds: over all, and over sentences of at most 40 words."""

    total: Brackets = field(default_factory=Brackets)
    short: Brackets = field(default_factory=Brackets)

    def add(self, gold: Tree, predicted: Tree) -> None:
        """Compare two trees over the same words."""
        self.total.add(gold, predicted)
        if len(gold.words) <= SHORT:
            self.short.add(gold, predicted)

    def as_dict(self) -> dict[str, Any]:
        """Return all figures, for JSON."""
        return {"all": self.total.as_dict(), f"at most {SHORT} words": self.short.as_dict()}


def compare(gold: Iterable[Tree], predicted: Iterable[Tree]) -> TreeReport:
    """Compare trees one by one, after the standard preparation of both (certus.syntax.prepare_tree).

    Raises:
        InvalidInput: there are not as many, or two are not over the same words; with the number of the tree.
    """
    report = TreeReport()
    for number, (first, second) in enumerate(zip_longest(gold, predicted), 1):
        if first is None or second is None:
            which = "gold" if first is None else "predicted"
            raise InvalidInput(
                f"there are not as many trees on both sides: the {which} ones end before tree {number}"
            )
        right, found = prepare_tree(first), prepare_tree(second)
        if right is None or found is None:
            raise InvalidInput(f"tree {number} has no words")
        if right.words != found.words:
            raise InvalidInput(
                f"tree {number} is over other words: {_describe_difference(right.words, found.words)}"
            )
        report.add(right, found)
    return report


def _describe_difference(gold: list[str], predicted: list[str]) -> str:
    for place, (a, b) in enumerate(zip(gold, predicted, strict=False), 1):
        if a != b:
            return f"word {place} is {a!r} in the gold tree and {b!r} in the predicted one"
    return f"the gold tree has {len(gold)} words and the predicted one {len(predicted)}"


def count_spans(tree: Tree, kept: list[bool]) -> Counter[Span]:
    """Return the labelled spans of a tree over the words that are kept."""
    place = [0]
    for keep in kept:
        place.append(place[-1] + keep)
    return Counter(
        (EQUAL.get(label, label), place[begin], place[end])
        for label, begin, end in tree.spans()
        if label not in ("", TOP) and place[end] > place[begin]
    )


def _count_crossing(gold: Counter[Span], predicted: Counter[Span]) -> int:
    edges = {(begin, end) for _, begin, end in gold}
    return sum(
        count
        for (_, begin, end), count in predicted.items()
        if any(a < begin < b < end or begin < a < end < b for a, b in edges)
    )
