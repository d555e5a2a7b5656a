"""The forest: an acyclic hypergraph with a goal, frozen when it is made.

An edge e derives the node ``heads[e]`` from the nodes ``tails[offsets[e]:offsets[e + 1]]``; one without
tails is a leaf. A derivation of a node is an edge of it with a derivation of each of its tails: a tree of
edges. Its score is the sum of its edges' scores, each counted as often as it occurs: a node that is reached
twice is derived twice, and may be derived differently each time.

Derivations are arrays of edge numbers in preorder: an edge, then the derivations of its tails, left to right.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certus import _native
from certus.checks import check_count, refuse
from certus.errors import InvalidInput
from certus.hypergraph import counting, inputs
from certus.hypergraph.errors import no_derivation, too_large
from certus.hypergraph.results import Marginals, MaxMarginals, Pruned
from certus.solution import Counters, KBest, OnInfeasible, Solution, Status

if TYPE_CHECKING:
    from certus.hypergraph.constrained import Constrained, Rows
    from certus.hypergraph.part import HypergraphPart, Space

T = TypeVar("T")

_INFEASIBLE, _INVALID, _OVERFLOW, _TOO_LARGE = 2, 3, 4, 5


class Hypergraph:
    """A packed forest. Scores are not part of it: every question comes with one score for each edge.

    Edges that no derivation of the goal uses are fine: they never take part in an answer, and ``prune`` drops
    them. Nodes may come in any order; where tails have lower numbers than heads and edges are sorted by head,
    nothing has to be moved.

    Args:
        heads: (E,) the node that each edge derives.
        offsets: (E + 1,) where the tails of each edge begin.
        tails: the tails of all edges, one edge after the other.
        goal: the node whose derivations are wanted; or several nodes, any of which will do.

    Other args:
        nodes: how many nodes there are; up to the highest that is named, if not given.
        labels: what each edge stands for.
        names: what each node is called.

    Attributes:
        heads, offsets, tails, goals: as given, read-only.
        nodes, edges: how many there are.
        labels, names: tuples, or None.
    """

    def __init__(
        self,
        heads: ArrayLike,
        offsets: ArrayLike,
        tails: ArrayLike,
        goal: int | Sequence[int],
        *,
        nodes: int | None = None,
        labels: Sequence[Any] | None = None,
        names: Sequence[Any] | None = None,
    ) -> None:
        self.heads = inputs.as_indices("heads", heads)
        self.offsets = inputs.as_indices("offsets", offsets)
        self.tails = inputs.as_indices("tails", tails)
        self.goals = inputs.as_goals(goal)
        self.nodes = inputs.count_nodes(nodes, self.heads, self.tails, self.goals)
        self.edges = len(self.heads)
        self.labels = inputs.as_names("labels", labels, self.edges)
        self.names = inputs.as_names("names", names, self.nodes)
        self._forest = inputs.native(self.nodes, self.heads, self.offsets, self.tails, self.goals)
        for array in (self.heads, self.offsets, self.tails, self.goals):
            array.flags.writeable = False

    # -- the best derivations -------------------------------------------------------------------------------

    def viterbi(self, scores: Any, *, infeasible: OnInfeasible = "raise") -> Solution:
        """Find the best derivation.

        Args:
            scores: (E,) a score for each edge; ``-inf`` forbids it.

        Other args:
            infeasible: whether a goal that cannot be derived raises NoDerivation, or returns a Solution with
                that status.
        """
        array = self._scores(scores)
        outcome, where, score, edges = self._forest.viterbi(array)
        if outcome == _INFEASIBLE and infeasible == "return":
            return Solution(edges, -np.inf, -np.inf, Status.INFEASIBLE, self._counters())
        self._check(outcome, where, array)
        return Solution(edges, score, score, Status.OPTIMAL, self._counters())

    def kbest(self, scores: Any, k: int, *, infeasible: OnInfeasible = "raise") -> KBest:
        """Find the k best derivations, best first; fewer where there are fewer.

        ``values`` is a list of derivations. The algorithm is the third of Huang & Chiang, "Better k-best
        parsing" (IWPT 2005); each derivation taken from an edge with m tails costs m² steps.
        """
        check_count("k", k)
        search = self._search(scores, infeasible)
        if search is None:
            nothing: Any = []
            return KBest.of_arrays(nothing, np.empty(0), self._counters(), exhausted=True)
        edges, offsets, found = search.next(k)
        self._check(search.outcome, -1, found)
        order = np.argsort(-found, kind="stable")  # sums in preorder can differ by rounding from the search's
        values: Any = [edges[offsets[i] : offsets[i + 1]] for i in order]
        return KBest.of_arrays(
            values, found[order], self._counters(search.expanded), exhausted=len(found) < k
        )

    def derivations(self, scores: Any) -> Iterator[Solution]:
        """Yield derivations in decreasing order of score, but for rounding, as long as the caller asks."""
        search = self._search(scores, "raise")
        assert search is not None
        while True:
            edges, _, found = search.next(1)
            self._check(search.outcome, -1, found)
            if len(found) == 0:
                return
            score = float(found[0])
            yield Solution(edges, score, score, Status.OPTIMAL, self._counters(search.expanded))

    def with_constraints(self, rows: Rows, targets: ArrayLike) -> Constrained:
        """Return the forest with linear constraints A x = b on how often derivations use edges.

        Args:
            rows: A: a sequence of mappings {edge: coefficient}, one for each constraint; or three arrays
                (offsets, edges, coefficients), where constraint r has those from offsets[r] up to
                offsets[r + 1].
            targets: b, one number for each constraint.
        """
        from certus.hypergraph.constrained import Constrained

        return Constrained(self, rows, targets)

    # -- all derivations ------------------------------------------------------------------------------------

    def inside(self, scores: Any) -> NDArray[np.float64]:
        """Return for each node the log of the sum of exp(score) over its derivations, (N,)."""
        return self._sums(scores, outside=False)[0]

    def outside(self, scores: Any) -> NDArray[np.float64]:
        """Return for each node the log-sum over what surrounds it in derivations of the goal, (N,).

        That is: over derivations of the goal with one occurrence of the node, and all below it, cut out. A
        node that occurs twice in a derivation is cut out twice.
        """
        return self._sums(scores, outside=True)[1]

    def log_partition(self, scores: Any) -> float:
        """Return the log of the sum of exp(score) over all derivations; -inf where there are none."""
        return self._sums(scores, outside=False)[2]

    def marginals(self, scores: Any) -> Marginals:
        """Compute how often derivations use each edge and node on average, in proportion to exp(score)."""
        array = self._scores(scores)
        edges, nodes = np.empty(self.edges), np.empty(self.nodes)
        outcome, where, top = self._forest.marginals(array, edges, nodes)
        self._check(outcome, where, array)
        return Marginals(edges, nodes, top)

    def max_marginals(self, scores: Any) -> MaxMarginals:
        """Compute the best score of any derivation that uses an edge or a node, for each of them."""
        array = self._scores(scores)
        edges, nodes = np.empty(self.edges), np.empty(self.nodes)
        outcome, where, top = self._forest.max_marginals(array, edges, nodes)
        self._check(outcome, where, array)
        return MaxMarginals(edges, nodes, top)

    def count(self, scores: Any = None) -> int:
        """Return how many derivations there are, exactly; with scores, those that none of them forbids."""
        array = self._checked(scores)
        log_count = self.log_partition(np.where(np.isneginf(array), -np.inf, 0.0))
        if log_count == -np.inf:
            return 0
        return counting.exact(log_count, lambda modulus: self._forest.count(array, modulus))

    def sample(
        self, scores: Any, n: int = 1, *, seed: int | np.random.Generator | None = None
    ) -> list[NDArray[np.int64]]:
        """Draw n derivations from the distribution p(d) proportional to exp(score(d))."""
        check_count("n", n)
        array = self._scores(scores)
        start = int(np.random.default_rng(seed).integers(2**63))
        outcome, where, edges, offsets = self._forest.sample(array, n, start)
        self._check(outcome, where, array)
        return [edges[begin:end] for begin, end in pairwise(offsets)]

    # -- smaller forests ------------------------------------------------------------------------------------

    def useful(self, scores: Any = None) -> NDArray[np.bool_]:
        """Return whether each edge is part of a derivation of the goal (that no score forbids), (E,)."""
        return self._forest.useful(self._checked(scores)).view(np.bool_)

    def prune(self, scores: Any, threshold: float = -np.inf) -> Pruned:
        """Drop the edges that no derivation with at least this score uses.

        Safe: every derivation that scores ``threshold`` or more is kept, also where sums are rounded. Without
        a threshold, only what is forbidden or useless is dropped.
        """
        array = self._checked(scores)
        if not threshold < np.inf:
            raise InvalidInput(f"threshold must be a score or -inf, not {threshold}")
        keep = self.useful(array)
        if not keep.any():
            raise self._no_derivation(array)
        if threshold > -np.inf:
            best = self.max_marginals(array)
            keep &= best.edges >= threshold - self._forest.rounding(array)
            if not keep.any():
                raise InvalidInput(
                    f"threshold {threshold:g} is above the best score, {best.score:g}: nothing would be left"
                )
        return self._part_of(np.flatnonzero(keep))

    # -- derivations ----------------------------------------------------------------------------------------

    def score(self, scores: Any, derivation: ArrayLike) -> float:
        """Return the score of a derivation: the sum of its edges' scores in preorder, in float64."""
        array, edges = self._checked(scores), inputs.as_indices("derivation", derivation)
        self.fold(edges, lambda edge, parts: None)
        return float(np.cumsum(array[edges], dtype=np.float64)[-1])

    def fold(self, derivation: ArrayLike, combine: Callable[[int, list[T]], T]) -> T:
        """Build something from a derivation, bottom up.

        Args:
            derivation: edges in preorder, such as ``viterbi(...).value``.
            combine: called with an edge and what it returned for each of its tails, left to right.

        Raises:
            InvalidInput: this is not a derivation of the goal.
        """
        edges = inputs.as_indices("derivation", derivation)
        if edges.size and (edges.min() < 0 or edges.max() >= self.edges):
            raise InvalidInput(f"a derivation holds edges from 0 to {self.edges - 1}")
        done: list[tuple[int, T]] = []
        for edge in edges[::-1].tolist():
            tails = self.tails[self.offsets[edge] : self.offsets[edge + 1]].tolist()
            parts = [done.pop() for _ in tails] if len(done) >= len(tails) else []
            if [node for node, _ in parts] != tails:
                raise InvalidInput(
                    f"not a derivation: edge {edge} is not followed by those of its tails {tails}"
                )
            done.append((int(self.heads[edge]), combine(edge, [item for _, item in parts])))
        if len(done) != 1 or done[0][0] not in self.goals:
            raise InvalidInput(f"not a derivation of the goal: it derives {[node for node, _ in done]}")
        return done[0][1]

    # -- the rest of the world ------------------------------------------------------------------------------

    def part(self, scores: Any, spaces: Mapping[str, Space]) -> HypergraphPart:
        """Return the forest as a part of a decomposition (``certus.relax``).

        Args:
            scores: (E,) the scores of edges.
            spaces: by name, (shape, edges, cells): a derivation that uses edges[i] uses the cell cells[i], a
                flat index into an array of that shape. An edge may have several cells, a cell several edges;
                no derivation may use a cell twice.
        """
        from certus.hypergraph.part import HypergraphPart

        return HypergraphPart(self, scores, spaces)

    def save(self, path: str | os.PathLike[str], scores: Any = None) -> None:
        """Write the forest, and scores if given, into one file; whole or not at all.

        Labels and names must be None, numbers, strings, booleans, or tuples of those.
        """
        from certus.hypergraph import files

        files.save(self, path, scores)

    @classmethod
    def load(cls, path: Any) -> Hypergraph:
        """Read a forest that ``save`` wrote; ``certus.hypergraph.load`` also gives its scores."""
        from certus.hypergraph import files

        return files.load(path).graph

    def draw(
        self, path: str | os.PathLike[str] | None = None, *, scores: Any = None, derivation: Any = None
    ) -> str:
        """Draw a small forest: SVG, which is written to ``path`` if given (or DOT, for a name in .dot).

        Args:
            path: a file to write.
            scores: (E,) shown at the edges; the best derivation is drawn in colour.
            derivation: the one to draw in colour instead.
        """
        from certus.hypergraph import drawing

        return drawing.draw(self, path, scores, derivation)

    def name(self, node: int) -> Any:
        """Return what a node is called, or its number."""
        return node if self.names is None else self.names[node]

    def __reduce__(self) -> Any:
        goals = self.goals.tolist()
        return _restore, (self.heads, self.offsets, self.tails, goals, self.nodes, self.labels, self.names)

    def __repr__(self) -> str:
        goals = ", ".join(repr(self.name(int(goal))) for goal in self.goals[:3])
        more = ", ..." if len(self.goals) > 3 else ""
        return f"Hypergraph({self.nodes:,} nodes, {self.edges:,} edges, goal {goals}{more})"

    def _scores(self, scores: Any) -> NDArray[Any]:
        return inputs.as_scores(scores, self.edges)

    def _checked(self, scores: Any) -> NDArray[Any]:
        """Return scores that were looked at here, for kernels that do not look; zeros for None."""
        if scores is None:
            return np.zeros(self.edges)
        array = self._scores(scores)
        bad = _native.first_invalid(array)
        if bad >= 0:
            refuse("scores", (bad,), array)
        return array

    def _sums(self, scores: Any, *, outside: bool) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
        array = self._scores(scores)
        values, outer = np.empty(self.nodes), np.empty(self.nodes if outside else 0)
        outcome, where, top = self._forest.sums(array, values, outer, True, outside)
        if outcome != _INFEASIBLE:
            self._check(outcome, where, array)
        return values, outer, top

    def _search(self, scores: Any, infeasible: OnInfeasible) -> _native.ForestDerivations | None:
        array = self._scores(scores)
        search = _native.ForestDerivations(self._forest, array)
        if search.outcome == _INFEASIBLE and infeasible == "return":
            return None
        self._check(search.outcome, search.where, array)
        return search

    def _check(self, outcome: int, where: int, scores: NDArray[Any]) -> None:
        """Raise what a native outcome stands for, unless all is well."""
        if outcome == _INFEASIBLE:
            raise self._no_derivation(scores)
        if outcome == _INVALID:
            refuse("scores", (where,), scores)
        if outcome == _OVERFLOW:
            raise InvalidInput(
                "the scores of a derivation add up beyond the range of float64; scale them down"
            )
        if outcome == _TOO_LARGE:
            raise too_large("inside, marginals, max_marginals and count do without")

    def _no_derivation(self, scores: NDArray[Any]) -> Exception:
        node = self._forest.missing(scores)
        edges = int(np.count_nonzero(self.heads == node))
        return no_derivation(self.name(node), edges, [self.name(int(goal)) for goal in self.goals])

    def _part_of(self, edges: NDArray[np.int64]) -> Pruned:
        """Return the forest of some edges and the nodes they name."""
        lengths = np.diff(self.offsets)[edges]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        tails = self.tails[np.repeat(self.offsets[edges] - offsets[:-1], lengths) + np.arange(offsets[-1])]
        used = np.zeros(self.nodes, bool)
        used[self.heads[edges]] = True
        used[tails] = True
        nodes = np.flatnonzero(used)
        number = np.cumsum(used) - 1
        graph = Hypergraph(
            number[self.heads[edges]],
            offsets,
            number[tails],
            number[self.goals[used[self.goals]]].tolist(),
            nodes=len(nodes),
            labels=None if self.labels is None else [self.labels[edge] for edge in edges.tolist()],
            names=None if self.names is None else [self.names[node] for node in nodes.tolist()],
        )
        return Pruned(graph, edges, nodes)

    def _counters(self, expanded: int = 0) -> Counters:
        return Counters(iterations=1, edges=self.edges, expanded=expanded)


def _restore(
    heads: Any, offsets: Any, tails: Any, goals: Any, nodes: int, labels: Any, names: Any
) -> Hypergraph:
    return Hypergraph(heads, offsets, tails, goals, nodes=nodes, labels=labels, names=names)
