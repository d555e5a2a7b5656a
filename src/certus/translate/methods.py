"""The ways to search for the best translation; each says what it costs and what it proves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from certus import _native
from certus.checks import check_count
from certus.errors import InvalidInput
from certus.translate.search_method import AUTO as AUTO
from certus.translate.search_method import SearchMethod, choose_among


class Method(SearchMethod):
    """A way to search over phrases."""

    def make_request(self, k: int, distinct: bool, seconds: float) -> _native.SearchOptions:
        """Return what the kernel is asked."""
        request = _native.SearchOptions()
        self.fill_request(request, k, distinct, seconds)
        return request


@dataclass(frozen=True, kw_only=True)
class OptimalBeam(Method):
    """Rounds of relaxation and beams in turns until nothing that was left out can be better.

    What ``auto`` means: fast, and nearly always proven.

    Attributes:
        rounds: the most rounds of relaxation; what is found by then comes back with its gap.
    """

    name: ClassVar[str] = "optimal-beam"
    papers: ClassVar[tuple[str, ...]] = ("rush2013",)
    rounds: int = 400


@dataclass(frozen=True, kw_only=True)
class Beam(Method):
    """One beam of fixed width under bounds, which says how much better what it dropped can be.

    Attributes:
        width: how many hypotheses are kept for each number of words translated.
        first_rounds: of relaxation before it, to make bounds tighter; 0 for the bounds of the model as it is.
    """

    name: ClassVar[str] = "beam"
    papers: ClassVar[tuple[str, ...]] = ("rush2013",)
    width: int = 1000
    first_rounds: int = 0

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        check_count("width", self.width)
        if self.first_rounds < 0:
            raise InvalidInput(f"first_rounds is {self.first_rounds}; it cannot be negative")


@dataclass(frozen=True, kw_only=True)
class Lagrangian(Method):
    """Relaxation alone, with source words counted exactly where that does not suffice.

    Attributes:
        rounds: the most of them.
        from_zero: whether multipliers begin with 0, as published, not with those of a monotone derivation.
    """

    name: ClassVar[str] = "lagrangian"
    papers: ClassVar[tuple[str, ...]] = ("chang2011",)
    many: ClassVar[bool] = False
    rounds: int = 1000
    from_zero: bool = False


@dataclass(frozen=True, kw_only=True)
class AStar(Method):
    """Best-first search under the bounds of the model as it is.

    Attributes:
        pops: the most hypotheses that it looks at.
    """

    name: ClassVar[str] = "astar"
    pops: int = 20_000_000


@dataclass(frozen=True, kw_only=True)
class Stack(Method):
    """The usual decoder, as in Moses: stacks pruned by score and an estimate; it proves nothing.

    Attributes:
        width: how many hypotheses a stack keeps.
        gaps: whether a phrase that leaves a gap must end within the distortion limit of it, as in Moses.
    """

    name: ClassVar[str] = "stack"
    papers: ClassVar[tuple[str, ...]] = ("koehn2003",)
    proves: ClassVar[bool] = False
    width: int = 1000
    gaps: bool = False


@dataclass(frozen=True, kw_only=True)
class Program(Method):
    """An integer program for HiGHS over the explicit graph: for short sentences, to compare with.

    Attributes:
        edges: the most that the graph may have.
    """

    name: ClassVar[str] = "ilp"
    many: ClassVar[bool] = False
    edges: int = 1_000_000


METHODS: dict[str, type[Method]] = {
    method.name: method for method in (OptimalBeam, Beam, Lagrangian, AStar, Stack, Program)
}


def choose_method(method: str | Method, k: int) -> Method:
    """Return the method meant, or say what is wrong with the choice."""
    return choose_among(method, k, METHODS, Method, OptimalBeam, "translation")
