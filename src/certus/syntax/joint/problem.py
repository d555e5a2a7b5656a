"""One sentence of joint parsing and tagging: its parts and its solution."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, TypedDict, TypeVar

import numpy as np
from numpy.typing import NDArray

from certus.annotation.trees import Tree
from certus.lattice.lattices import TagLattices
from certus.relax import Decomposition, JointSolution, Optimizer, Progress, Trace
from certus.solution import Solution, Status, conclude
from certus.syntax.constituency.grammar import Grammar
from certus.syntax.joint.cells import DisputedCells

if TYPE_CHECKING:
    from typing_extensions import Unpack

_ROUNDING = 1e-6  # of scores of taggers, which are sums in single precision
V = TypeVar("V", bound="Tree | None")  # a tree, or None where a solution may be without one


def _find_allowance(parse_score: float, tag_score: float) -> float:
    """Return the gap between the bound and the score of a tree with tags that counts as rounding."""
    return _ROUNDING * (abs(parse_score) + abs(tag_score))


class Limits(TypedDict, total=False):
    """What ``certus.relax.Decomposition.solve`` takes: how long to search, and how."""

    max_iterations: int | None
    seconds: float | None
    optimizer: str | Optimizer
    max_nodes: int
    tighten: bool
    integral: bool
    tolerance: float
    progress: bool | Callable[[Progress], None] | None


class JointParse(Solution[V]):
    """A tree and its tags: ``score <= optimum <= bound``, over all trees and all sequences of tags.

    What a pruned lattice lacks scores at most as much as the best sequence outside may and the best tree of
    all together. Where that is more, the status is FEASIBLE at best, and ``lattice_optimal`` and
    ``lattice_bound`` say what is proven of the lattice.

    Attributes:
        value: the tree; None where there is none.
        lattice_optimal: whether no tree with a sequence of the lattice scores more: proven.
        lattice_bound: no tree with a sequence of the lattice scores more than this.
        tags: of the words, which are the tree's.
        parse_score: of the tree alone, and ``tag_score`` of the sequence alone, without weight.
        iterations: how often both models were maximised; ``nodes`` of branch and bound, the root included.
        pruning: of the lattice that the tags are from; None where there is no tree at all, and where the tree
            is the grammar's best, as lattices that could be made have none.
        trace: dual and primal by iteration.
    """

    papers: ClassVar[tuple[str, ...]] = ("rush2010",)
    noun: ClassVar[str] = "tree with tags"

    __slots__ = (
        "iterations",
        "lattice_bound",
        "lattice_optimal",
        "nodes",
        "parse_score",
        "pruning",
        "tag_score",
        "tags",
        "trace",
    )

    def __init__(
        self,
        tree: V,
        tags: list[str],
        found: JointSolution | None,
        pruning: float | None,
        scores: tuple[float, float] = (-np.inf, -np.inf),
        *,
        outside: float = -np.inf,
    ) -> None:
        if found is None:
            super().__init__(tree, -np.inf, -np.inf, Status.INFEASIBLE)
        else:
            limit = Status.FEASIBLE if found.optimal else found.status
            allowance = _find_allowance(scores[0], found.score - scores[0]) if found.score > -np.inf else 0.0
            status, bound = conclude(found.score, max(found.bound, outside), limit, allowance=allowance)
            super().__init__(tree, found.score, bound, status)
        self.lattice_optimal = found is not None and found.optimal
        self.lattice_bound = self.bound if found is None else found.bound
        self.tags, self.pruning = tags, pruning
        self.parse_score, self.tag_score = scores
        self.trace = Trace() if found is None else found.trace
        self.iterations = len(self.trace)
        self.nodes = 0 if found is None else int(found.stats["nodes"])

    @classmethod
    def of_best_tree(
        cls, tree: Tree, scores: tuple[float, float], weight: float, bound: float
    ) -> JointParse[Tree]:
        """Make an answer of the grammar's best tree, whose tags no lattice has: bounded, hardly proven."""
        made = JointParse(tree, tree.tags, None, None, scores)
        made.score = scores[0] + weight * scores[1]
        allowance = _find_allowance(scores[0], weight * scores[1])
        made.status, made.bound = conclude(made.score, bound, allowance=allowance)
        made.lattice_optimal = False
        return made

    @property
    def claim(self) -> str:
        """What is proven of the answer, in words: of all sequences of tags, or of those of the lattice."""
        if self.optimal or not self.lattice_optimal:
            return super().claim
        more = f"no {self.noun} scores more than {self.bound:.6g}"
        return f"proven within the tagger's pruned lattice alone; of the whole model, {more}"

    @property
    def tree(self) -> V:
        """The tree; the same as ``value``."""
        return self.value


@dataclass(frozen=True, eq=False)
class JointProblem:
    """One sentence: its lattice, and the tags that words may have by it.

    Attributes:
        grammar: of the trees.
        words: of the sentence.
        lattices: with the sentence among others, and ``number`` which it is.
        allowed: (T, tags of the grammar) what the lattice has a sequence for.
        label: (tags of the grammar,) the tagger's labels of the tags that both know.
        weight: of the tagger's score.
        pruning: of the lattice.
    """

    grammar: Grammar
    words: list[str]
    lattices: TagLattices
    number: int
    allowed: NDArray[np.bool_]
    label: NDArray[np.int64]
    weight: float
    pruning: float

    def solve(self, **limits: Unpack[Limits]) -> JointParse[Tree] | JointParse[Tree | None] | None:
        """Return the best tree and tags, or None where none agree.

        Where a limit ended the search before it found any that agree, the value is None, and the status says
        which limit that was: nothing is proven infeasible then.
        """
        if not self.allowed.any(1).all():
            return None
        trees, sequences, outside = self._prepare()
        d = Decomposition()
        parse, tag = d.add(trees, "parse"), d.add(sequences, "tag", weight=self.weight)
        d.agree((parse, "tags"), (tag, "tags"))
        found = d.solve(infeasible="return", **limits)
        if found.status is Status.INFEASIBLE:
            return None
        if not found.value:
            return JointParse[Tree | None](None, [], found, self.pruning, outside=outside)
        tags = [self.lattices.names[label] for label in found.value[tag]]
        scores = found.scores[parse], found.scores[tag]
        return JointParse(found.value[parse], tags, found, self.pruning, scores, outside=outside)

    def _prepare(self) -> tuple[DisputedCells, DisputedCells, float]:
        """Return both parts, and what trees with sequences that the lattice lacks score at most.

        The trees and the sequences share the cells in dispute. A cell is a word and a tag; where a word may
        have one tag only, there is nothing to agree on.

        The bound is -inf if the lattice lacks nothing. It takes the best tree of all tags; the trees near
        that one are kept, so that their part rarely needs another chart.
        """
        outside = float(self.lattices.outside[self.number])
        bounded = bool(np.isfinite(outside))
        trees = self.grammar.part(self.words, allowed=None if bounded else self.allowed)
        if bounded:
            outside = trees.find_best_score() + self.weight * outside
        allowed = np.zeros((len(self.words), self.lattices.labels), bool)
        rows, tags = np.nonzero(self.allowed)
        allowed[rows, self.label[tags]] = True
        where = np.argwhere(self.allowed & (self.allowed.sum(1) > 1)[:, None])
        there = np.stack([where[:, 0], self.label[where[:, 1]]], 1)
        sequences = self.lattices.part(self.number)
        return (
            DisputedCells(trees, self.allowed, where),
            DisputedCells(sequences, allowed, there),
            outside,
        )
