"""Scoring trees, as the program evalb does with the parameters of Collins (COLLINS.prm).

Constituents are compared as labelled spans of words. Roots and tags are no constituents; words whose gold tag
is punctuation (, . : `` '') are taken out first, and constituents over nothing else with them; PRT counts as
ADVP. Tags are compared one by one on the words that are left. A tree matches exactly if its constituents do.

Departure: evalb leaves out sentences that have no tree, or one over other words. Here they count as wrong: a
parser does not get better by giving up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
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

    def add_wrong(self, gold: Tree, predicted: Tree | None) -> None:
        """Count all of a gold tree as not found, and all of what was predicted in its place as wrong."""
        missed, words = _count_kept(gold)
        made = 0 if predicted is None else _count_kept(predicted)[0]
        self.spans.add(0, made, missed)
        self.tags.add(0, words)
        for share in (self.exact, self.no_crossing, self.few_crossing):
            share.add(0, 1)

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
    """What a comparison of trees finds: over all, and over sentences of at most 40 words.

    Attributes:
        total: over all sentences.
        short: over the short ones.
        failed: the sentences without a tree, by number from 1; they count as wrong.
        mismatched: the sentences whose tree is over other words than the gold tree: by number, what differs;
            they count as wrong, too.
    """

    total: Brackets = field(default_factory=Brackets)
    short: Brackets = field(default_factory=Brackets)
    failed: list[int] = field(default_factory=list)
    mismatched: dict[int, str] = field(default_factory=dict)

    def add(self, gold: Tree, predicted: Tree | None) -> None:
        """Compare two trees; None is one that was not found."""
        number = self.total.sentences + 1
        if predicted is None:
            self.failed.append(number)
        elif (words := gold.words) != (found := predicted.words):
            self.mismatched[number] = _describe_difference(words, found)
        for part in (self.total, self.short) if len(gold.words) <= SHORT else (self.total,):
            if predicted is None or number in self.mismatched:
                part.add_wrong(gold, predicted)
            else:
                part.add(gold, predicted)

    def as_dict(self) -> dict[str, Any]:
        """Return all figures, for JSON."""
        return {
            "all": self.total.as_dict(),
            f"at most {SHORT} words": self.short.as_dict(),
            "failed": self.failed,
            "mismatched": self.mismatched,
        }


def compare(
    gold: Iterable[Tree],
    predicted: Iterable[Tree | None],
    *,
    sources: tuple[str, str] = ("the gold trees", "the predicted trees"),
) -> TreeReport:
    """Compare trees one by one, after the standard preparation of both (certus.syntax.prepare_tree).

    A tree that was not found (None, or one without words) and a tree over other words count as wrong.

    Args:
        gold: the trees as they should be.
        predicted: one for each of them.
        sources: what messages call the two.

    Raises:
        InvalidInput: there are not as many, or a gold tree has no words; with the number of the tree.
    """
    report = TreeReport()
    ours, theirs = iter(gold), iter(predicted)
    for number, first in enumerate(ours, 1):
        second = next(theirs, _END)
        if isinstance(second, _End):
            raise _explain_uneven("predicted", number, sum(1 for _ in ours) + number, sources)
        right, found = prepare_tree(first), None if second is None else prepare_tree(second)
        if right is None:
            raise InvalidInput(f"{sources[0]}: tree {number} has no words")
        report.add(right, found)
    if more := sum(1 for _ in theirs):
        number = report.total.sentences + 1
        raise _explain_uneven("gold", number, number - 1 + more, sources)
    return report


class _End:
    """What stands for the end of the predicted trees, of which None is one."""


_END = _End()


def _explain_uneven(shorter: str, number: int, total: int, sources: tuple[str, str]) -> InvalidInput:
    few, many = sources if shorter == "gold" else sources[::-1]
    return InvalidInput(
        f"there are not as many trees on both sides: the {shorter} ones end before tree {number} "
        f"in {few}, and there are {total:,} in {many}"
    )


def _describe_difference(gold: list[str], predicted: list[str]) -> str:
    for place, (a, b) in enumerate(zip(gold, predicted, strict=False), 1):
        if a != b:
            return f"word {place} is {a!r} in the gold tree and {b!r} in the predicted one"
    return f"the gold tree has {len(gold)} words and the predicted one {len(predicted)}"


def _count_kept(tree: Tree) -> tuple[int, int]:
    """Return how many constituents and words of a tree count."""
    kept = [tag not in PUNCTUATION for tag in tree.tags]
    return sum(count_spans(tree, kept).values()), sum(kept)


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
        if (begin, end) not in edges and any(a < begin < b < end or begin < a < end < b for a, b in edges)
    )
