"""Attachment in detail: by relation, by length of sentences and of arcs, by projectivity.

For files with the same words. Words count as right in UAS by their heads, in LAS by universal relations
(without subtypes) too, in full LAS by whole relations.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from certus.annotation.dependencies import find_crossing, find_fault
from certus.annotation.sentence import Sentence
from certus.errors import InvalidInput
from certus.evaluation.conll18 import read_heads

LENGTHS = ((1, 10), (11, 20), (21, 30), (31, 40), (41, None))
DISTANCES = ((1, 1), (2, 2), (3, 6), (7, None))


@dataclass
class Attachment:
    """How many words there are in the gold file, and how many of them are right."""

    words: int = 0
    heads: int = 0
    labelled: int = 0
    full: int = 0

    def add(self, head: bool, labelled: bool, full: bool) -> None:
        """Count a word."""
        self.words += 1
        self.heads += head
        self.labelled += labelled
        self.full += full

    @property
    def uas(self) -> float:
        """The share of words with the right head."""
        return self.heads / self.words if self.words else 0.0

    @property
    def las(self) -> float:
        """The share with the right universal relation too."""
        return self.labelled / self.words if self.words else 0.0

    @property
    def full_las(self) -> float:
        """The share with the right relation, subtypes included."""
        return self.full / self.words if self.words else 0.0

    def as_dict(self) -> dict[str, float]:
        """Return the figures as what JSON can hold."""
        return {"words": self.words, "uas": self.uas, "las": self.las, "full_las": self.full_las}


@dataclass
class AttachmentReport:
    """The attachment of words, in groups by the gold file.

    Attributes:
        total: of all words.
        relations: by universal relation, the most frequent first.
        lengths: by the number of words in the sentence.
        distances: by how far away the head is; ``root`` for those without.
        trees: of sentences whose gold tree is projective, and of the others.
    """

    total: Attachment = field(default_factory=Attachment)
    relations: dict[str, Attachment] = field(default_factory=dict)
    lengths: dict[str, Attachment] = field(default_factory=dict)
    distances: dict[str, Attachment] = field(default_factory=dict)
    trees: dict[str, Attachment] = field(default_factory=dict)

    def as_dict(self) -> dict[str, object]:
        """Return all figures as what JSON can hold; shares are from 0 to 1."""
        groups = {"relations": self.relations, "lengths": self.lengths}
        groups |= {"distances": self.distances, "trees": self.trees}
        made: dict[str, object] = {"total": self.total.as_dict()}
        return made | {
            name: {key: row.as_dict() for key, row in rows.items()} for name, rows in groups.items()
        }


def compare_attachment(gold: Iterable[Sentence], predicted: Iterable[Sentence]) -> AttachmentReport:
    """Compare the trees of the same sentences.

    Raises:
        InvalidInput: the words or the number of sentences differ.
    """
    report = AttachmentReport()
    missing = object()
    others = iter(predicted)
    for one in gold:
        other = next(others, missing)
        if not isinstance(other, Sentence) or one.words != other.words:
            raise InvalidInput(
                f"{one.source}:{one.line}: the predicted file has other words here, which have no details"
            )
        _count(report, one, other)
    if next(others, missing) is not missing:
        raise InvalidInput("the predicted file has more sentences than the gold file")
    report.relations = dict(sorted(report.relations.items(), key=lambda item: (-item[1].words, item[0])))
    return report


def _count(report: AttachmentReport, gold: Sentence, predicted: Sentence) -> None:
    heads, found = read_heads(gold.column("head")), read_heads(predicted.column("head"))
    is_projective = find_fault(heads) is None and not find_crossing(heads)
    whole = (
        report.lengths.setdefault(_name_range(len(heads), LENGTHS), Attachment()),
        report.trees.setdefault("projective" if is_projective else "not projective", Attachment()),
        report.total,
    )
    relations = zip(gold.column("deprel"), predicted.column("deprel"), strict=True)
    for word, (head, guess, (right, named)) in enumerate(zip(heads, found, relations, strict=True), 1):
        universal = right.partition(":")[0]
        hit = head == guess
        marks = (hit, hit and universal == named.partition(":")[0], hit and right == named)
        distance = "root" if head == 0 else _name_range(abs(head - word), DISTANCES)
        rows = (
            report.relations.setdefault(universal, Attachment()),
            report.distances.setdefault(distance, Attachment()),
        )
        for row in (*whole, *rows):
            row.add(*marks)


def _name_range(number: int, ranges: Iterable[tuple[int, int | None]]) -> str:
    """Return the name of the range that a number lies in."""
    low, high = next((low, high) for low, high in ranges if high is None or number <= high)
    return f"{low} and more" if high is None else f"{low}" if low == high else f"{low}–{high}"
