"""How good the phrase pairs of predicted links are, knowing which gold links are only possible."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from certus.annotation.phrases import LONGEST, PhrasePair, extract_phrases
from certus.formats.pharaoh import GoldLinks


@dataclass
class PhraseReport:
    """Counts of phrase pairs over sentence pairs.

    Attributes:
        predicted: phrase pairs of predicted links.
        allowed: those of them that no sure gold link leaves and that a possible one is inside.
        gold: phrase pairs of sure gold links.
        found: those of them that were predicted.
    """

    predicted: int = 0
    allowed: int = 0
    gold: int = 0
    found: int = 0

    def add(self, gold: GoldLinks, predicted: Iterable[tuple[int, int]], longest: int = LONGEST) -> None:
        """Count a sentence pair; words after the last link of both are not known of."""
        links = frozenset(predicted)
        places = [*gold.possible, *links]
        sources, targets = (1 + max((place[side] for place in places), default=-1) for side in (0, 1))
        made = extract_phrases(links, sources, targets, max_length=longest)
        right = set(extract_phrases(gold.sure, sources, targets, max_length=longest))
        self.predicted += len(made)
        self.allowed += sum(is_allowed(pair, gold) for pair in made)
        self.gold += len(right)
        self.found += len(right.intersection(made))

    @property
    def precision(self) -> float:
        """How many of the predicted phrase pairs the gold links allow."""
        return self.allowed / self.predicted if self.predicted else 1.0

    @property
    def recall(self) -> float:
        """How many of the gold phrase pairs were predicted."""
        return self.found / self.gold if self.gold else 1.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        p, r = self.precision, self.recall
        return 2 * p * r / (p + r) if p + r else 0.0

    def as_dict(self) -> dict[str, float]:
        """Return all figures."""
        return {"precision": self.precision, "recall": self.recall, "f1": self.f1, **vars(self)}


def is_allowed(pair: PhrasePair, gold: GoldLinks) -> bool:
    """Whether a phrase pair holds a possible link, and no sure one leaves it."""
    return any(map(pair.holds, gold.possible)) and all(
        pair.holds_source(i) == pair.holds_target(j) for i, j in gold.sure
    )


def compare_phrases(
    gold: Sequence[GoldLinks], predicted: Sequence[GoldLinks], longest: int = LONGEST
) -> PhraseReport:
    """Return the counts of all sentence pairs."""
    report = PhraseReport()
    for right, guess in zip(gold, predicted, strict=True):
        report.add(right, guess.possible, longest)
    return report
