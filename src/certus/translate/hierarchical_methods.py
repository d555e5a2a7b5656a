"""The ways to search a translation forest; each says what it costs and what it proves."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import ClassVar

from certus import _native
from certus.checks import check_count
from certus.errors import InvalidInput


@dataclass(frozen=True, kw_only=True)
class ForestMethod:
    """A way to search. Subclasses add their options as fields and explain themselves in their docstring."""

    name: ClassVar[str]
    papers: ClassVar[tuple[str, ...]] = ()  # keys of certus.citations.PAPERS
    proves: ClassVar[bool] = True  # whether it looks for a proof
    many: ClassVar[bool] = True  # whether it finds more than one derivation

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        for one in fields(self):
            check_count(one.name, getattr(self, one.name))

    def make_request(self, k: int, distinct: bool, seconds: float | None) -> _native.TargetForestOptions:
        """Return what the kernel is asked."""
        request = _native.TargetForestOptions()
        request.method = self.name
        request.k, request.distinct = k, distinct
        request.seconds = math.inf if seconds is None else seconds
        for one in fields(self):
            setattr(request, one.name, getattr(self, one.name))
        return request


@dataclass(frozen=True, kw_only=True)
class ForestBeam(ForestMethod):
    """Beams under bounds that grow until nothing that was left out can be better. What ``auto`` means.

    Attributes:
        items: the most nodes with boundaries that are kept; what is found by then comes back with its gap.
    """

    name: ClassVar[str] = "optimal-beam"
    papers: ClassVar[tuple[str, ...]] = ("rush2011syntactic", "rush2013")
    items: int = 20_000_000


@dataclass(frozen=True, kw_only=True)
class CubePruning(ForestMethod):
    """The usual decoder (Chiang 2007): the best of the grids of a node's edges; it proves nothing.

    Its bound is that of the relaxed forest, unless it has seen everything.

    Attributes:
        width: how many cells are looked at for each node.
    """

    name: ClassVar[str] = "cube"
    papers: ClassVar[tuple[str, ...]] = ("chiang2007",)
    proves: ClassVar[bool] = False
    width: int = 200


@dataclass(frozen=True, kw_only=True)
class Exhaustive(ForestMethod):
    """The product of the forest with the language model (Bar-Hillel et al. 1964), for small forests.

    Attributes:
        items: the most nodes with boundaries that are kept.
    """

    name: ClassVar[str] = "exhaustive"
    items: int = 20_000_000


FOREST_METHODS: dict[str, type[ForestMethod]] = {
    method.name: method for method in (ForestBeam, CubePruning, Exhaustive)
}
AUTO = "auto"


def choose_forest_method(method: str | ForestMethod, k: int) -> ForestMethod:
    """Return the method meant, or say what is wrong with the choice."""
    if isinstance(method, str):
        if method != AUTO and method not in FOREST_METHODS:
            raise InvalidInput(
                f"there is no method {method!r}; there are {', '.join([AUTO, *FOREST_METHODS])}"
            )
        method = ForestBeam() if method == AUTO else FOREST_METHODS[method]()
    if not isinstance(method, ForestMethod):
        raise InvalidInput(f"method must be a name or a ForestMethod, not {type(method).__name__}")
    if k > 1 and not method.many:
        raise InvalidInput(f"method {method.name!r} finds one derivation, not k = {k}; use optimal-beam")
    return method
