"""The ways to search a translation forest; each says what it costs and what it proves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from certus import _native
from certus.translate.search_method import AUTO as AUTO
from certus.translate.search_method import SearchMethod, choose_among


class ForestMethod(SearchMethod):
    """A way to search a forest."""

    def make_request(self, k: int, distinct: bool, seconds: float) -> _native.TargetForestOptions:
        """Return what the kernel is asked."""
        request = _native.TargetForestOptions()
        self.fill_request(request, k, distinct, seconds)
        return request


@dataclass(frozen=True, kw_only=True)
class CoarseToFine(ForestMethod):
    """The product of forest and language model, but for what bounds of coarser products exclude.

    What ``auto`` means. More than one derivation, and forests in which something derives no words, are left
    to ForestBeam.

    Attributes:
        items: the most nodes and prefixes with boundaries that are kept; what is found by then comes back
            with its gap.
    """

    name: ClassVar[str] = "coarse-to-fine"
    papers: ClassVar[tuple[str, ...]] = ("petrov2008", "huang2005hooks")
    items: int = 20_000_000


@dataclass(frozen=True, kw_only=True)
class ForestBeam(ForestMethod):
    """Beams under bounds that grow until nothing that was left out can be better.

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


@dataclass(frozen=True, kw_only=True)
class ForestLagrangian(ForestMethod):
    """Lagrangian relaxation: each leaf chooses the leaves before it. For models of at most three words.

    It proves what its relaxation has no gap for, within its rounds.

    Attributes:
        rounds: the most of them.
        paths: whether ways from leaf to leaf have multipliers, too: section 5 of the paper, or section 4.
    """

    name: ClassVar[str] = "lagrangian"
    papers: ClassVar[tuple[str, ...]] = ("rush2011syntactic",)
    many: ClassVar[bool] = False
    rounds: int = 200
    paths: bool = True


@dataclass(frozen=True, kw_only=True)
class ForestTightening(ForestMethod):
    """The same relaxation, tightened: words that leaves take for each other are put into different parts.

    What a leaf chooses must be in the same parts as what the derivation has before it, which A* over the
    product of forest and parts finds. For models of at most three words.

    Attributes:
        rounds: the most of them.
        items: the most that one round of A* may keep.
        prune: whether edges that no better derivation can have are dropped as the gap closes, which the
            paper does not do.
    """

    name: ClassVar[str] = "tightening"
    papers: ClassVar[tuple[str, ...]] = ("rush2011syntactic",)
    many: ClassVar[bool] = False
    rounds: int = 1000
    items: int = 20_000_000
    prune: bool = True


@dataclass(frozen=True, kw_only=True)
class ForestProgram(ForestMethod):
    """An integer program for HiGHS: for forests of short sentences, to compare with.

    Attributes:
        columns: the most that it may have.
        relaxed: whether to solve the linear program instead, which proves what it finds whole.
    """

    name: ClassVar[str] = "ilp"
    papers: ClassVar[tuple[str, ...]] = ("rush2011syntactic",)
    many: ClassVar[bool] = False
    columns: int = 1_000_000
    relaxed: bool = False


FOREST_METHODS: dict[str, type[ForestMethod]] = {
    method.name: method
    for method in (
        CoarseToFine,
        ForestBeam,
        ForestLagrangian,
        ForestTightening,
        CubePruning,
        Exhaustive,
        ForestProgram,
    )
}


def choose_forest_method(method: str | ForestMethod, k: int) -> ForestMethod:
    """Return the method meant, or say what is wrong with the choice."""
    return choose_among(method, k, FOREST_METHODS, ForestMethod, CoarseToFine, "derivation")
