"""The forest: an acyclic hypergraph with a goal, frozen when it is made, and the questions passes answer.

An edge e derives the node ``heads[e]`` from the nodes ``tails[offsets[e]:offsets[e + 1]]``; one without
tails is a leaf. A derivation of a node is an edge of it with a derivation of each of its tails: a tree of
edges. Its score is the sum of its edges' scores, each counted as often as it occurs: a node that is reached
twice is derived twice, and may be derived differently each time.

Derivations are arrays of edge numbers in preorder: an edge, then the derivations of its tails, left to right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certus import _native
from certus.checks import check_count, check_infeasible, refuse
from certus.errors import InvalidInput
from certus.hypergraph import counting, inputs
from certus.hypergraph.errors import NoDerivation, explain_no_derivation, explain_too_large
from certus.hypergraph.results import Marginals, MaxMarginals
from certus.ragged import Ragged
from certus.solution import Counters, KBest, OnInfeasible, Solution, Status

if TYPE_CHECKING:
    from certus.verification import Problem

Derivation: TypeAlias = NDArray[np.int64]  # edges in preorder
T = TypeVar("T")

_Outcome = _native.ForestOutcome


class Forest:
    """A packed forest: what Hypergraph is, without constraints, parts, files and pictures.

    Arguments and attributes are those of Hypergraph, which documents them.
    """

    def __init__(
        self,
        heads: ArrayLike,
        offsets: ArrayLike,
        tails: ArrayLike,
        goal: int | Sequence[int],
        *,
        nodes: int | None = None,
        labels: Sequence[object] | None = None,
        names: Sequence[object] | None = None,
    ) -> None:
        self.heads = inputs.as_indices("heads", heads)
        self.offsets = inputs.as_indices("offsets", offsets)
        self.tails = inputs.as_indices("tails", tails)
        self.goals = inputs.as_goals(goal)
        self.nodes = inputs.count_nodes(nodes, self.heads, self.tails, self.goals)
        self.edges = len(self.heads)
        self.labels = inputs.as_names("labels", labels, self.edges)
        self.names = inputs.as_names("names", names, self.nodes)
        self._forest = inputs.build_native(self.nodes, self.heads, self.offsets, self.tails, self.goals)
        for array in (self.heads, self.offsets, self.tails, self.goals):
            array.flags.writeable = False

    # -- the best derivations -------------------------------------------------------------------------------

    @overload
    def decode(
        self,
        scores: ArrayLike,
        *,
        k: Literal[1] = 1,
        infeasible: OnInfeasible = "raise",
        certificate: bool = False,
    ) -> Solution[Derivation]: ...
    @overload
    def decode(
        self, scores: ArrayLike, *, k: int, infeasible: OnInfeasible = "raise"
    ) -> KBest[Solution[Derivation]]: ...
    def decode(
        self,
        scores: ArrayLike,
        *,
        k: int = 1,
        infeasible: OnInfeasible = "raise",
        certificate: bool = False,
    ) -> Solution[Derivation] | KBest[Solution[Derivation]]:
        """Find the best derivation, or the k best.

        Args:
            scores: (E,) a score for each edge; ``-inf`` forbids it.
            k: how many derivations; 1 returns a Solution, more a KBest, whose ``values`` are a list.

        Other args:
            infeasible: whether a goal that cannot be derived raises NoDerivation, or returns a Solution with
                that status (for k > 1, an empty KBest).
            certificate: whether the answer comes with the numbers that prove it, for ``certus.verify``; for
                k = 1.
        """
        check_count("k", k)
        check_infeasible(infeasible)
        if k > 1:
            if certificate:
                raise InvalidInput(f"a certificate is of the best derivation: k must be 1, not {k}")
            return self._decode_several(scores, k, infeasible)
        array = self._as_scores(scores)
        best = self._forest.viterbi(array)
        if best.outcome is _Outcome.INFEASIBLE and infeasible == "return":
            found = Solution(best.edges, -np.inf, -np.inf, Status.INFEASIBLE, self._counters())
        else:
            self._check(best.outcome, best.where, array)
            found = Solution(best.edges, best.value, best.value, Status.OPTIMAL, self._counters())
        if certificate:
            from certus.hypergraph.certificate import certify_derivation

            found.certificate = certify_derivation(self.state_problem(array), found)
        return found

    def state_problem(self, scores: ArrayLike) -> Problem:
        """Return the forest with scores as plain data, the problem that certificates are about."""
        from certus.verification import make_problem

        return make_problem("forest", {**self.list_structure(), "scores": self.check_scores(scores)})

    def list_structure(self) -> dict[str, Any]:
        """Return nodes and edges by name, as problems have them."""
        names = ("nodes", "heads", "offsets", "tails", "goals")
        return {name: getattr(self, name) for name in names}

    def _decode_several(
        self, scores: ArrayLike, k: int, infeasible: OnInfeasible
    ) -> KBest[Solution[Derivation]]:
        """Find the k best derivations, best first; fewer where there are fewer.

        The algorithm is the third of Huang & Chiang, "Better k-best parsing" (IWPT 2005); each derivation
        taken from an edge with m tails costs m² steps.
        """
        search = self._search(scores, infeasible)
        if search is None:
            return KBest([], exhausted=True)
        found = search.next(k)
        self._check(found.outcome, -1, found.scores)
        derivations, scored = Ragged(found.edges, found.offsets), found.scores
        # Sums in preorder can differ by rounding from those of the search.
        order = np.argsort(-scored, kind="stable")
        values = [derivations[i] for i in order.tolist()]
        return KBest.of_arrays(
            values, scored[order], self._counters(search.expanded), exhausted=len(scored) < k
        )

    def iterate(self, scores: ArrayLike) -> Iterator[Solution[Derivation]]:
        """Yield derivations in decreasing order of score, but for rounding, as long as the caller asks."""
        search = self._search(scores, "raise")
        assert search is not None
        while True:
            found = search.next(1)
            self._check(found.outcome, -1, found.scores)
            if len(found.scores) == 0:
                return
            score = float(found.scores[0])
            yield Solution(found.edges, score, score, Status.OPTIMAL, self._counters(search.expanded))

    # -- all derivations ------------------------------------------------------------------------------------

    def inside(self, scores: ArrayLike) -> NDArray[np.float64]:
        """Return for each node the log of the sum of exp(score) over its derivations, (N,)."""
        return self._sum(scores).inside

    def outside(self, scores: ArrayLike) -> NDArray[np.float64]:
        """Return for each node the log-sum over what surrounds it in derivations of the goal, (N,).

        That is: over derivations of the goal with one occurrence of the node, and all below it, cut out. A
        node that occurs twice in a derivation is cut out twice.
        """
        outside = np.empty(self.nodes)
        self._sum(scores, outside)
        return outside

    def log_partition(self, scores: ArrayLike) -> float:
        """Return the log of the sum of exp(score) over all derivations; -inf where there are none."""
        return self._sum(scores).log_partition

    def marginals(self, scores: ArrayLike) -> Marginals:
        """Compute how often derivations use each edge and node on average, in proportion to exp(score)."""
        array = self._as_scores(scores)
        edges, nodes = np.empty(self.edges), np.empty(self.nodes)
        answer = self._forest.marginals(array, edges, nodes)
        self._check(answer.outcome, answer.where, array)
        return Marginals(edges, nodes, answer.value)

    def max_marginals(self, scores: ArrayLike) -> MaxMarginals:
        """Compute the best score of any derivation that uses an edge or a node, for each of them."""
        array = self._as_scores(scores)
        edges, nodes = np.empty(self.edges), np.empty(self.nodes)
        answer = self._forest.max_marginals(array, edges, nodes)
        self._check(answer.outcome, answer.where, array)
        return MaxMarginals(edges, nodes, answer.value)

    def count(self, scores: ArrayLike | None = None) -> int:
        """Return how many derivations there are, exactly; with scores, those that none of them forbids."""
        array = self.check_scores(scores)
        log_count = self.log_partition(np.where(np.isneginf(array), -np.inf, 0.0))
        if log_count == -np.inf:
            return 0
        return counting.count_exactly(log_count, lambda modulus: self._forest.count(array, modulus))

    def sample(
        self, scores: ArrayLike, n: int = 1, *, seed: int | np.random.Generator | None = None
    ) -> list[Derivation]:
        """Draw n derivations from the distribution p(d) proportional to exp(score(d))."""
        check_count("n", n)
        array = self._as_scores(scores)
        start = int(np.random.default_rng(seed).integers(2**63))
        drawn = self._forest.sample(array, n, start)
        self._check(drawn.outcome, drawn.where, array)
        return list(Ragged(drawn.edges, drawn.offsets))

    def useful(self, scores: ArrayLike | None = None) -> NDArray[np.bool_]:
        """Return whether each edge is part of a derivation of the goal (that no score forbids), (E,)."""
        return self._forest.useful(self.check_scores(scores)).view(np.bool_)

    # -- derivations ----------------------------------------------------------------------------------------

    def score(self, scores: ArrayLike, derivation: ArrayLike) -> float:
        """Return the score of a derivation: the sum of its edges' scores in preorder, in float64."""
        array, edges = self.check_scores(scores), inputs.as_indices("derivation", derivation)
        self.fold(edges, lambda edge, parts: None)
        return float(np.cumsum(array[edges], dtype=np.float64)[-1])

    def fold(self, derivation: ArrayLike, combine: Callable[[int, list[T]], T]) -> T:
        """Build something from a derivation, bottom up.

        Args:
            derivation: edges in preorder, such as ``decode(...).value``.
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

    def name(self, node: int) -> Any:
        """Return what a node is called, or its number."""
        return node if self.names is None else self.names[node]

    def __repr__(self) -> str:
        goals = ", ".join(repr(self.name(int(goal))) for goal in self.goals[:3])
        more = ", ..." if len(self.goals) > 3 else ""
        return f"{type(self).__name__}({self.nodes:,} nodes, {self.edges:,} edges, goal {goals}{more})"

    def _as_scores(self, scores: ArrayLike) -> NDArray[Any]:
        return inputs.as_scores(scores, self.edges)

    def check_scores(self, scores: ArrayLike | None) -> NDArray[Any]:
        """Return scores as an array without NaN and +inf, for kernels that do not look; zeros for None."""
        if scores is None:
            return np.zeros(self.edges)
        array = self._as_scores(scores)
        bad = _native.first_invalid(array)
        if bad >= 0:
            refuse("scores", (bad,), array)
        return array

    @property
    def native(self) -> _native.Forest:
        """The same forest as the kernels have it."""
        return self._forest

    def _sum(self, scores: ArrayLike, outside: NDArray[np.float64] | None = None) -> _Sums:
        array = self._as_scores(scores)
        inside, wanted = np.empty(self.nodes), outside is not None
        answer = self._forest.sums(array, inside, np.empty(0) if outside is None else outside, True, wanted)
        if answer.outcome is not _Outcome.INFEASIBLE:
            self._check(answer.outcome, answer.where, array)
        return _Sums(inside, answer.value)

    def _search(self, scores: ArrayLike, infeasible: OnInfeasible) -> _native.ForestDerivations | None:
        check_infeasible(infeasible)
        array = self._as_scores(scores)
        search = _native.ForestDerivations(self._forest, array)
        if search.outcome is _Outcome.INFEASIBLE and infeasible == "return":
            return None
        self._check(search.outcome, search.where, array)
        return search

    def _check(self, outcome: _native.ForestOutcome, where: int, scores: NDArray[Any]) -> None:
        """Raise what a native outcome stands for, unless all is well."""
        if outcome is _Outcome.INFEASIBLE:
            raise self._explain_no_derivation(scores)
        if outcome is _Outcome.INVALID:
            refuse("scores", (where,), scores)
        check_size(outcome)

    def _explain_no_derivation(self, scores: NDArray[Any]) -> NoDerivation:
        node = self._forest.missing(scores)
        edges = int(np.count_nonzero(self.heads == node))
        goals = [self.name(int(goal)) for goal in self.goals]
        return explain_no_derivation(self.name(node), edges, goals)

    def _counters(self, expanded: int = 0) -> Counters:
        return Counters(iterations=1, edges=self.edges, expanded=expanded)


class _Sums(NamedTuple):
    """What a log-sum pass finds."""

    inside: NDArray[np.float64]  # (N,)
    log_partition: float


def check_size(outcome: _native.ForestOutcome) -> None:
    """Refuse scores that add up beyond float64, and derivations that are too large to be written down."""
    if outcome is _Outcome.OVERFLOW:
        raise InvalidInput("the scores of a derivation add up beyond the range of float64; scale them down")
    if outcome is _Outcome.TOO_LARGE:
        raise explain_too_large("inside, marginals, max_marginals and count do without")
    if outcome is _Outcome.TOO_MANY:
        raise InvalidInput(
            "the derivations asked for take more than 4 GiB: ask for fewer, or take them one at a time from "
            "iterate()"
        )
