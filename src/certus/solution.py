"""What every solver returns: an answer, and how good it is proven to be."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

COUNTERS = ("iterations", "activated", "pruned", "edges", "expanded")


class Status(enum.Enum):
    """How an answer stands to the optimum; each member carries its meaning in ``message``."""

    OPTIMAL = "optimal", "no structure scores more: proven"
    FEASIBLE = "feasible", "a valid structure; the optimum lies between its score and its bound"
    INFEASIBLE = "infeasible", "no structure is allowed under the model"
    ITERATIONS = "iterations", "the limit of iterations was hit; the optimum lies between score and bound"
    SECONDS = "seconds", "the limit of time was hit; the optimum lies between score and bound"
    NODES = "nodes", "the limit of branching was hit; the optimum lies between score and bound"
    STOPPED = "stopped", "the search was interrupted; the optimum lies between score and bound"

    message: str

    def __new__(cls, value: str, message: str) -> Status:
        """Keep the message beside the value."""
        member = object.__new__(cls)
        member._value_ = value
        member.message = message
        return member


class Solution:
    """An answer with its proof: ``score <= optimum <= bound``.

    Attributes:
        value: the structure itself; for chains, the array of label ids, one a position.
        score: its score, summed in float64 along the structure.
        bound: no structure scores more than this (in a k-best list: none outside the better ranks does).
        status: a Status; ``optimal`` is a shorthand.
        position: for an infeasible problem, the first position that no path reaches; else None.
    """

    __slots__ = ("_counters", "bound", "position", "score", "status", "value")

    def __init__(
        self,
        value: Any,
        score: float,
        bound: float,
        status: Status,
        counters: Sequence[Any] = (0, 0, 0, 0, 0),  # the last five are read
        position: int | None = None,
    ) -> None:
        self.value = value
        self.score = score
        self.bound = bound
        self.status = status
        self._counters = counters
        self.position = position

    @property
    def labels(self) -> NDArray[np.int64]:
        """The label ids, one a position."""
        labels: NDArray[np.int64] = self.value
        return labels

    @property
    def optimal(self) -> bool:
        """Whether the answer is proven to be the best."""
        return self.status is Status.OPTIMAL

    @property
    def gap(self) -> float:
        """How much better the optimum could be at most."""
        return self.bound - self.score if self.bound > self.score else 0.0

    @property
    def stats(self) -> dict[str, int]:
        """What the search did.

        ``iterations`` over a lattice, labels ``activated``, nodes ``pruned``, ``edges`` scored,
        and hypotheses ``expanded``.
        """
        return dict(zip(COUNTERS, self._counters[-len(COUNTERS) :], strict=True))

    def __repr__(self) -> str:
        value = (
            np.array2string(self.value, threshold=12) if isinstance(self.value, np.ndarray) else self.value
        )
        proof = "optimal" if self.optimal else f"bound={self.bound:.6g}, {self.status.value}"
        return f"Solution({value}, score={self.score:.6g}, {proof})"


class KBest(Sequence[Solution]):
    """The k best solutions, best first; fewer when fewer exist.

    Attributes:
        scores: (n,) the scores, decreasing.
        values: the n structures; for chains, an (n, T) array of label ids.
        exhausted: whether these are all there are.
    """

    __slots__ = ("_counters", "exhausted", "scores", "values")

    def __init__(
        self,
        values: NDArray[np.int64],
        scores: NDArray[np.float64],
        counters: Sequence[Any] = (0, 0, 0, 0, 0),  # the last five are read
        *,
        exhausted: bool = False,
    ) -> None:
        self.values = values
        self.scores = scores
        self._counters = counters
        self.exhausted = exhausted

    @property
    def labels(self) -> NDArray[np.int64]:
        """(n, T) the label ids, a row a solution."""
        return self.values

    @property
    def stats(self) -> dict[str, int]:
        """What the search did, as in Solution.stats."""
        return dict(zip(COUNTERS, self._counters[-len(COUNTERS) :], strict=True))

    def __len__(self) -> int:
        return len(self.scores)

    @overload
    def __getitem__(self, rank: int) -> Solution: ...
    @overload
    def __getitem__(self, rank: slice) -> list[Solution]: ...
    def __getitem__(self, rank: int | slice) -> Solution | list[Solution]:
        if isinstance(rank, slice):
            return [self[i] for i in range(*rank.indices(len(self)))]
        score = float(self.scores[rank])
        return Solution(self.values[rank], score, score, Status.OPTIMAL, self._counters)

    def __iter__(self) -> Iterator[Solution]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        scores = ", ".join(f"{s:.6g}" for s in self.scores[:5]) + (", ..." if len(self) > 5 else "")
        return f"KBest({len(self)} solutions, scores=[{scores}])"
