"""What tagging a corpus as a whole returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from math import inf
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from certus.annotation.tagging import Tagging
from certus.solution import Status, conclude


@dataclass(frozen=True)
class Iteration:
    """One round over the corpus.

    Attributes:
        bound: no labels of the corpus score more than this.
        solved: how many pieces of sentences were decoded in it.
        open: how many consensus nodes were not proven after it.
        seconds: it took.
    """

    bound: float
    solved: int
    open: int
    seconds: float


class ConsistentTagging(Tagging):
    """The labels of a sentence as a part of those of a corpus.

    Attributes:
        score: of the labels under the tagger, and of the agreement of the sentence's words with their types.
        bound: no labels of the sentence score more, whatever the types agree on. If the labels are proven,
            it is the score: that is what the sentence scores in the best labels of the corpus.
        status: OPTIMAL where the labels are proven to be part of the best labels of the corpus.
        remark: what is proven, if not that.
    """

    is_part = True

    __slots__ = ("remark",)

    def __init__(self, value: list[str], score: float, bound: float, remark: str = "") -> None:
        super().__init__(value, score, bound, Status.FEASIBLE if remark else Status.OPTIMAL)
        self.remark = remark

    @property
    def claim(self) -> str:
        """What is proven of the labels, in words."""
        return self.remark or "proven: part of labels of the corpus that no others score more than"


@dataclass(frozen=True)
class Consistent:
    """The labels of a corpus, and how good they are proven to be: ``score <= optimum <= bound``.

    Bounds are about all label sequences, also those that a pruned CRF drops, unless it was told not to prove
    its answers.

    Attributes:
        labels: of each sentence, the label of each word.
        score: of all sentences, added ones too, and of all consensus nodes together.
        bound: no labels score more than this; infinite if the tagger does not bound what it drops.
        certified: (sentences,) whether a sentence has its labels in some optimum: nothing of it is unproven.
            Where ``pruned`` is set, that is an optimum of what the tagger's pruning leaves.
        pruned: (sentences,) whether labels that the tagger dropped might be better.
        scores: (sentences,) of each by itself under the tagger, consistency aside.
        agreements: (sentences,) what the agreement of its words with their types scores.
        most: (sentences,) no labels score more than this, agreement included, whatever types agree on.
        consensus: for each word type that should agree, by its key, the label agreed on; None if turned off.
        trace: what every iteration did.
        stats: counts and seconds; docs/consistency.md names them.
    """

    papers: ClassVar[tuple[str, ...]] = ("rush2012",)

    labels: list[list[str]]
    score: float
    bound: float
    certified: NDArray[np.bool_]
    pruned: NDArray[np.bool_]
    scores: NDArray[np.float64]
    agreements: NDArray[np.float64]
    most: NDArray[np.float64]
    consensus: dict[str, str | None]
    trace: list[Iteration] = field(repr=False)
    stats: dict[str, Any] = field(repr=False)

    @property
    def optimal(self) -> bool:
        """Whether no labels at all score more, also of what the tagger has dropped."""
        return self.bound <= self.score

    @property
    def complete(self) -> bool:
        """Whether no labels that the lattices hold score more."""
        return not self.stats["open_nodes"]

    @property
    def status(self) -> Status:
        """OPTIMAL or FEASIBLE."""
        return conclude(self.score, self.bound)[0]

    @cached_property
    def taggings(self) -> list[ConsistentTagging]:
        """Each sentence as a tagger would return it, and what is proven of it as a part of the corpus."""
        scores = self.scores + self.agreements
        proven = self.certified & ~self.pruned
        bounds = np.where(proven, scores, np.maximum(scores, self.most))
        remarks = np.where(proven, "", np.where(self.certified, self._remark_pruned(), self._remark_open()))
        parts = zip(self.labels, scores.tolist(), bounds.tolist(), remarks.tolist(), strict=True)
        return [ConsistentTagging(*part) for part in parts]

    def _remark_pruned(self) -> str:
        return (
            "proven among the labels that the tagger's pruning leaves: part of labels of the corpus that no "
            "others of these score more than"
        )

    def _remark_open(self) -> str:
        if self.bound == inf:
            return "not proven: the tagger does not bound what it drops"
        return f"not proven: other labels of the corpus score more by at most {self.bound - self.score:.6g}"
