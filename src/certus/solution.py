"""What every solver returns: an answer, and how good it is proven to be."""

from __future__ import annotations

import enum
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Generic,
    Literal,
    Protocol,
    TypeAlias,
    TypeVar,
    cast,
    overload,
)

import numpy as np
from numpy.typing import NDArray

from certus import _native
from certus._native import Counters as Counters

if TYPE_CHECKING:
    from certus.verification.certificate import Certificate

T = TypeVar("T")  # what is found: an array of labels, a tree, ...
T_co = TypeVar("T_co", covariant=True)

OnInfeasible: TypeAlias = Literal["raise", "return"]  # what a verb does where no structure is allowed


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

    @classmethod
    def of_native(cls, status: _native.Status) -> Status:
        """Return what a kernel's status is called here; ``INVALID`` has no such name, for it is an error."""
        return _OF_NATIVE[status]


def conclude(
    score: float, bound: float, limit: Status = Status.FEASIBLE, *, allowance: float = 0.0
) -> tuple[Status, float]:
    """Return how an answer stands, and its bound: the one place that says ``OPTIMAL`` of a search.

    An answer is optimal where no structure is proven to score more: where its bound is its score. What the
    search did decides nothing.

    Args:
        score: of the answer; -inf where none was found.
        bound: no structure scores more; -inf proves that there is none.
        limit: the status of an answer that is not proven: what ended the search.
        allowance: the gap that counts as rounding of the sums that score and bound are.
    """
    found = _native.conclude(score, bound, allowance)
    return (limit if found.status is _native.Status.FEASIBLE else _OF_NATIVE[found.status]), found.bound


_OPTIMAL = Status.OPTIMAL  # looked up once: millions of answers are made

# The kernels declare theirs in native/base/status.hpp; the two lists meet here, by name.
_OF_NATIVE: dict[_native.Status, Status] = {
    status: Status[status.name] for status in _native.Status if status is not _native.Status.INVALID
}


class Counted(Protocol):
    """A record that counts what a search did: ``Counters``, or what a kernel returns."""

    @property
    def stats(self) -> dict[str, int]:
        """The counts, by name."""


Work: TypeAlias = Counted | Mapping[str, int]


class Solution(Generic[T]):
    """An answer with its proof: ``score <= optimum <= bound``.

    ``optimal`` says that no structure of the whole model scores more. It means ``score == bound``, and
    nothing else: what a search did before it ended decides nothing (``conclude``). Scores and bounds are sums
    in float64, so both hold up to the rounding of these sums: n numbers that add up to the magnitude M
    (without their signs) lose at most n * 2**-52 * M. A bound that is above the score by no more than that is
    set to the score; each solver says where it allows more. On whole numbers below 2**53 sums are exact, and
    so is the claim.

    Attributes:
        value: the structure itself; for chains, the array of label ids, one per position.
        score: its score, summed in float64 along the structure.
        bound: no structure scores more than this (in a k-best list: none outside the better ranks does).
        status: a Status; ``optimal`` is a shorthand. OPTIMAL with another bound than the score is an error.
        position: for an infeasible problem, the first position that no path reaches; else None.
        rank: 1 for the best; in a k-best list, the place in it.
        certificate: what makes the bound true, for ``certus.verify``; None unless it was asked for.
    """

    noun: ClassVar[str] = "structure"  # what one is called in ``claim``

    __slots__ = ("_counters", "bound", "certificate", "position", "rank", "score", "status", "value")

    def __init__(
        self,
        value: T,
        score: float,
        bound: float,
        status: Status,
        counters: Work | None = None,
        position: int | None = None,
    ) -> None:
        if status is _OPTIMAL and score != bound:
            raise ValueError(f"an optimal answer has its score for a bound: {score!r} is not {bound!r}")
        self.value = value
        self.score = score
        self.bound = bound
        self.status = status
        self._counters = counters
        self.position = position
        self.rank = 1
        self.certificate: Certificate | None = None

    @property
    def optimal(self) -> bool:
        """Whether the answer is proven to be the best."""
        return self.status is _OPTIMAL

    @property
    def claim(self) -> str:
        """What is proven of the answer, in words: of each rank of a k-best list what holds for it."""
        if self.status is Status.INFEASIBLE:
            return f"proven: no {self.noun} is possible"
        better = (
            "" if self.rank == 1 else f", but for rank{'' if self.rank == 2 else 's 1 to'} {self.rank - 1}"
        )
        if self.optimal:
            return f"proven: no {self.noun} scores more{better}"
        if self.bound == math.inf:
            return f"not proven: it is not known how much any other {self.noun} scores"
        return f"not proven: no {self.noun} scores more than {self.bound:.6g}{better}"

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
        return _read_stats(self._counters)

    def __repr__(self) -> str:
        value = (
            np.array2string(self.value, threshold=12) if isinstance(self.value, np.ndarray) else self.value
        )
        proof = "optimal" if self.optimal else f"bound={self.bound:.6g}, {self.status.value}"
        return f"Solution({value}, {self._show_rank()}score={self.score:.6g}, {proof})"

    def _show_rank(self) -> str:
        """Return what lower ranks of a k-best list are printed with."""
        return f"rank={self.rank}, " if self.rank > 1 else ""


class LabelSolution(Solution[T]):
    """A label sequence with its proof."""

    __slots__ = ()

    @property
    def labels(self) -> T:
        """The label of each position; the same as ``value``."""
        return self.value


def _read_stats(work: Work | None) -> dict[str, int]:
    if isinstance(work, Mapping):
        return dict(work)
    return (Counters() if work is None else work).stats


class Rows(Protocol[T_co]):
    """Structures in a row: a list, or an array whose rows they are."""

    def __len__(self) -> int: ...
    def __getitem__(self, rank: int, /) -> T_co: ...
    def __iter__(self) -> Iterator[T_co]: ...


S = TypeVar("S", bound=Solution[Any], covariant=True)
K = TypeVar("K", bound="KBest[Any]")


class KBest(Sequence[S]):
    """The k best solutions, best first; fewer when fewer exist.

    Attributes:
        scores: (n,) the scores, decreasing.
        exhausted: whether these are all there are.
    """

    _kind: ClassVar[type[Solution[Any]]] = Solution  # what ``of_arrays`` makes

    __slots__ = ("_counters", "_solutions", "_values", "exhausted", "scores")

    def __init__(self, solutions: Sequence[S], *, exhausted: bool = False) -> None:
        self._solutions: Sequence[S] | None = solutions
        self.scores = np.array([solution.score for solution in solutions], np.float64)
        self._values: Any = [solution.value for solution in solutions]
        self._counters: Work | None = solutions[0] if solutions else None
        self.exhausted = exhausted
        for rank, solution in enumerate(solutions, 1):
            solution.rank = rank

    @classmethod
    def of_arrays(
        cls: type[K],
        values: Rows[object],
        scores: NDArray[np.float64],
        counters: Work | None = None,
        *,
        exhausted: bool = False,
    ) -> K:
        """Make one of proven structures; each becomes a Solution when it is asked for."""
        made = cls.__new__(cls)
        made._solutions, made._counters = None, counters
        made._values, made.scores, made.exhausted = values, scores, exhausted
        return made

    @property
    def values(self: KBest[Solution[T]]) -> Rows[T]:
        """The n structures."""
        values: Rows[T] = self._values
        return values

    @property
    def stats(self) -> dict[str, int]:
        """What the search did, as in Solution.stats."""
        return _read_stats(self._counters)

    def __len__(self) -> int:
        return len(self.scores)

    @overload
    def __getitem__(self, rank: int) -> S: ...
    @overload
    def __getitem__(self, rank: slice) -> list[S]: ...
    def __getitem__(self, rank: int | slice) -> S | list[S]:
        if isinstance(rank, slice):
            return [self[i] for i in range(*rank.indices(len(self)))]
        if self._solutions is not None:
            return self._solutions[rank]
        score = float(self.scores[rank])
        made = self._kind(self._values[rank], score, score, Status.OPTIMAL, self._counters)
        made.rank = rank % len(self) + 1
        return cast(S, made)

    def __iter__(self) -> Iterator[S]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        scores = ", ".join(f"{s:.6g}" for s in self.scores[:5]) + (", ..." if len(self) > 5 else "")
        return f"KBest({len(self)} solutions, scores=[{scores}])"


L = TypeVar("L", bound=LabelSolution[Any], covariant=True)


class LabelKBest(KBest[L]):
    """The k best label sequences, best first; fewer when fewer exist."""

    _kind: ClassVar[type[Solution[Any]]] = LabelSolution

    __slots__ = ()

    @property
    def labels(self: LabelKBest[LabelSolution[T]]) -> Rows[T]:
        """The n label sequences; the same as ``values``."""
        return self.values
