"""What an alignment comes back as."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from certus.solution import Solution, Status, Work

Link: TypeAlias = tuple[int, int]  # positions in source and target, from 0


@dataclass(frozen=True)
class AlignmentTrace:
    """What a search knew after each iteration before it branched.

    Attributes:
        dual: the bound.
        primal: the score of the best answer; ``-inf`` before there is one.
        intersection: the best score of the links that both directions have (Chang et al. 2014, figure 7a); of
            "lr" and "cons" only.
        space: the share of transitions that pruning has left (figure 7b); likewise.
    """

    dual: NDArray[np.float64]
    primal: NDArray[np.float64]
    intersection: NDArray[np.float64] | None = None
    space: NDArray[np.float64] | None = None


class Alignment(Solution[tuple[Link, ...]]):
    """The links of a sentence pair, with their proof: ``score <= optimum <= bound``.

    Attributes:
        probabilities: (links,) the probability of each link: the mean of both directions' posteriors; None
            where scores are not of a trained model.
        trace: how the bound fell and the score rose; None for links of an Aligner.
    """

    __slots__ = ("probabilities", "trace")

    def __init__(
        self,
        links: tuple[Link, ...],
        score: float,
        bound: float,
        status: Status,
        counters: Work | None = None,
        *,
        probabilities: NDArray[np.float32] | None = None,
        trace: AlignmentTrace | None = None,
    ) -> None:
        super().__init__(links, score, bound, status, counters)
        self.probabilities = probabilities
        self.trace = trace

    @classmethod
    def unproven(cls, links: tuple[Link, ...], probabilities: NDArray[np.float32] | None = None) -> Alignment:
        """Return links that a rule made: nothing says how good they are."""
        return cls(links, math.nan, math.inf, Status.FEASIBLE, probabilities=probabilities)

    @property
    def links(self) -> tuple[Link, ...]:
        """The links, by source and then by target position."""
        return self.value

    def __str__(self) -> str:
        """Return the links as Pharaoh wrote them: ``0-0 1-2 2-1``."""
        return " ".join(f"{i}-{j}" for i, j in self.value)

    def __repr__(self) -> str:
        proof = "optimal" if self.optimal else f"bound={self.bound:.6g}, {self.status.value}"
        return f"Alignment({str(self)!r}, score={self.score:.6g}, {proof})"
