"""What tagging a corpus as a whole returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from certus.annotation.tagging import Tagging
from certus.solution import Status


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
    consensus: dict[str, str | None]
    trace: list[Iteration] = field(repr=False)
    stats: dict[str, Any] = field(repr=False)

    @property
    def optimal(self) -> bool:
        """Whether no labels at all score more, also of what the tagger has dropped."""
        return self.complete and not self.stats["pruned"]

    @property
    def complete(self) -> bool:
        """Whether no labels that the lattices hold score more."""
        return not self.stats["open_nodes"]

    @property
    def status(self) -> Status:
        """OPTIMAL or FEASIBLE."""
        return Status.OPTIMAL if self.optimal else Status.FEASIBLE

    @cached_property
    def taggings(self) -> list[Tagging]:
        """Each sentence as a tagger would return it; a sentence by itself might score more."""
        scores = self.scores.tolist()
        return [
            Tagging(labels, score, float("inf"), Status.FEASIBLE)
            for labels, score in zip(self.labels, scores, strict=True)
        ]
