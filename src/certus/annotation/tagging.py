"""What a tagger returns for a sentence."""

from __future__ import annotations

import math
from typing import ClassVar

from certus.solution import LabelSolution, Status, Work


class Tagging(LabelSolution[list[str]]):
    """The labels of a sentence, with what is known of how good they are.

    Attributes:
        value: the label of each token, as text; ``labels`` is the same.
        score: of the labels under the model.
        bound: no labels score more than this.
        status: OPTIMAL where that is proven, of all label sequences that the constraints allow; in a k-best
            list, where no sequence outside the list scores more than the last of it.
        probability: of the labels as a whole under the model, or None if that was not asked for.
        confidence: the probability of each label by itself, or None.
        share: with probabilities, the least part of the probability of all sequences that those have which
            pruning leaves, and which probabilities are computed from: 1 where nothing was pruned.
        rounding: by how much the logarithms of the score and of the sum over sequences may be off, because
            the scores are summed in single precision; 0 where they are not. The intervals count it.
    """

    noun: ClassVar[str] = "label sequence"
    is_part: ClassVar[bool] = False  # whether the answer is one of several that only ``claim`` tells apart

    __slots__ = ("confidence", "probability", "rounding", "share")

    def __init__(
        self,
        value: list[str],
        score: float,
        bound: float,
        status: Status,
        *,
        probability: float | None = None,
        confidence: list[float] | None = None,
        share: float | None = None,
        rounding: float = 0.0,
        position: int | None = None,
        counters: Work | None = None,
    ) -> None:
        super().__init__(value, score, bound, status, counters, position)
        self.probability = probability
        self.confidence = confidence
        self.share = share
        self.rounding = rounding

    @property
    def probability_interval(self) -> tuple[float, float] | None:
        """Between what the probability of the labels under the whole model is, whatever was pruned."""
        if self.probability is None or self.share is None:
            return None
        return self._widen(self.probability * self.share, self.probability)

    @property
    def confidence_intervals(self) -> list[tuple[float, float]] | None:
        """Between what the probability of each label is."""
        if self.confidence is None or self.share is None:
            return None
        return [self._widen(p * self.share, p * self.share + 1 - self.share) for p in self.confidence]

    def _widen(self, least: float, most: float) -> tuple[float, float]:
        """Return an interval that holds what was rounded: the parts of a ratio are each off by ``rounding``.

        Where sums are in single precision, so are the confidences that are given, down to 2**-126.
        """
        if self.rounding == 0:
            return least, min(1.0, most)
        off = 2 * self.rounding + 2.0**-23
        return least * math.exp(-off), min(1.0, most * math.exp(min(off, 700)) + 2.0**-126)

    def __repr__(self) -> str:
        proof = "optimal" if self.optimal else self.status.value
        shown = f"{self._show_rank()}score={self.score:.6g}, bound={self.bound:.6g}"
        return f"Tagging({self.value}, {shown}, {proof})"
