"""What inference over latent chains returns."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from certus import _native
from certus.latent.method import Inference
from certus.solution import LabelSolution, Status, conclude

STATS = ("paths", "sequences", "prefixes")


class LatentSolution(LabelSolution[NDArray[np.int64]]):
    """A label sequence with its probability, and what is proven of it.

    Attributes:
        value: the label numbers; ``labels`` is the same.
        score: the log of the probability of the labels, exact: summed over all their latent paths.
        bound: the log of an upper bound on the probability of any label sequence (of lower ranks: of any
            that is not ranked better).
        status: OPTIMAL where nothing is more probable: proven.
        stats: what the search did: latent ``paths`` and label ``sequences`` seen, ``prefixes`` expanded.
        remaining: the probability of all label sequences together that were not looked at.
        gain: for MBR, what the labels gain on average; else None.
    """

    papers: ClassVar[tuple[str, ...]] = ("sun2009",)
    noun: ClassVar[str] = "label sequence"

    __slots__ = ("gain", "remaining")

    def __init__(
        self,
        value: NDArray[np.int64],
        score: float,
        bound: float,
        status: Status,
        stats: Mapping[str, int],
        *,
        remaining: float = 0.0,
        gain: float | None = None,
        position: int | None = None,
    ) -> None:
        super().__init__(value, score, bound, status, stats, position)
        self.remaining = remaining
        self.gain = gain

    @classmethod
    def infeasible(cls, position: int) -> LatentSolution:
        """Make the one of a sentence without any possible labels, none of which reach the position."""
        stats = dict.fromkeys(STATS, 0)
        nothing = np.empty(0, np.int64)
        return cls(nothing, -math.inf, -math.inf, Status.INFEASIBLE, stats, position=position)

    @property
    def probability(self) -> float:
        """The probability of the labels: the exponential of the score."""
        return min(1.0, math.exp(self.score))

    def __repr__(self) -> str:
        value = np.array2string(np.asarray(self.value), threshold=12)
        proof = "optimal" if self.optimal else f"bound={math.exp(self.bound):.6g}, {self.status.value}"
        return f"LatentSolution({value}, {self._show_rank()}probability={self.probability:.6g}, {proof})"


@dataclass(frozen=True)
class LabelSequences:
    """Label sequences of a sentence with their exact probabilities, most probable first.

    Attributes:
        labels: (n, T) label numbers.
        probabilities: (n,)
        remaining: the probability of all others together.
        paths: how many latent paths were looked at.
    """

    labels: NDArray[np.int64]
    probabilities: NDArray[np.float64]
    remaining: float
    paths: int

    def __len__(self) -> int:
        return len(self.probabilities)

    def __iter__(self) -> Iterator[tuple[NDArray[np.int64], float]]:
        return iter(zip(self.labels, self.probabilities.tolist(), strict=True))


def read_sequences(answer: _native.LatentAnswer) -> LabelSequences:
    """Take all label sequences that were found."""
    return LabelSequences(
        answer.labels.astype(np.int64), np.exp(answer.log_probabilities), answer.remaining, answer.paths
    )


def make_solutions(answer: _native.LatentAnswer, k: int, inference: Inference) -> list[LatentSolution]:
    """Make the k best of a sentence that has any label sequence, best first."""
    rows, scores, gain = answer.labels.astype(np.int64), answer.log_probabilities, answer.gain
    top = float(scores.max())
    reranked = inference.rerank(rows, np.exp(scores))
    if reranked is not None:
        here = slice(reranked.number, reranked.number + 1)
        rows, scores, gain = rows[here], scores[here], reranked.gain
    stats = dict(zip(STATS, (answer.paths, answer.sequences, answer.expanded), strict=True))
    out = []
    for rank, (row, score) in enumerate(zip(rows[:k], scores[:k].tolist(), strict=True)):
        better = -math.inf if rank else top  # of what was found, and does not rank before it
        unseen = min(answer.unseen, 0.0)  # no probability exceeds 1
        status, bound = (
            conclude(score, max(better, unseen))
            if score < better
            else conclude(score, unseen, allowance=answer.allowance)
        )
        made = LatentSolution(
            row,
            score,
            bound,
            status,
            stats,
            remaining=answer.remaining,
            gain=gain if inference.reranks else None,
        )
        out.append(made)
    return out
