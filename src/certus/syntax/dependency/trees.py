"""Dependency trees: scores of arcs, siblings and grandparents in, the best trees out.

A tree gives each word m of 1 ... n a head h, another word or 0, the root, so that every word hangs on the
root. It scores::

    sum over arcs            arcs[m - 1, h]
    + over neighbours s, m   siblings[h, s, m]            modifiers of h on one side, from h outwards
    + over chains g, h, m    grandparents[g, h, m]
    + over both              grandsiblings[g, h, s, m]

where s = 0 stands before the first modifier of a side and m = 0 after the last one; g = 0 for h = 0. Higher
is better, -inf forbids.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import Any, Literal, overload

import numpy as np

from certus import _native, checks
from certus.checks import Scores
from certus.errors import InvalidInput
from certus.relax.tree_duals import find_duals, prove_impossible
from certus.solution import OnInfeasible, Status
from certus.syntax.dependency.infeasible import explain_infeasible
from certus.syntax.dependency.layout import lay_out, read_arcs, read_parts
from certus.syntax.dependency.ranking import TreeProblem
from certus.syntax.dependency.solution import RankedTrees, TreeMarginals, TreeSolution
from certus.verification import Problem, certify, make_problem

_INT64 = np.dtype(np.int64)
_OPTIMAL = Status.OPTIMAL
_empty = np.empty
_decode_spanning_tree = _native.decode_spanning_tree


class Trees:
    """All dependency trees of sentences, with several roots by default, and how to find the best of them.

    Arcs alone cost microseconds: Edmonds' algorithm in O(n^2), or Eisner's where trees are projective. With
    siblings and grandparents, projective trees are found by dynamic programming in O(n^3) and O(n^4), others
    by dual decomposition (Koo et al. 2010), closed by fixing arcs and branching: every answer is proven,
    unless ``seconds`` is up before.

    Args:
        projective: whether arcs may not cross; the root stands before the first word.
        single_root: whether exactly one word hangs on the root; by default several may.
    """

    papers = ("koo2010",)

    def __init__(self, *, projective: bool = False, single_root: bool = False) -> None:
        self.projective = projective
        self.single_root = single_root

    @overload
    def decode(
        self,
        arcs: Scores,
        siblings: Scores | None = None,
        grandparents: Scores | None = None,
        *,
        k: Literal[1] = 1,
        grandsiblings: Scores | None = None,
        seconds: float | None = None,
        infeasible: OnInfeasible = "raise",
        certificate: bool = False,
    ) -> TreeSolution: ...
    @overload
    def decode(
        self,
        arcs: Scores,
        siblings: Scores | None = None,
        grandparents: Scores | None = None,
        *,
        k: int,
        grandsiblings: Scores | None = None,
        seconds: float | None = None,
        infeasible: OnInfeasible = "raise",
    ) -> RankedTrees: ...
    def decode(
        self,
        arcs: Scores,
        siblings: Scores | None = None,
        grandparents: Scores | None = None,
        *,
        k: int = 1,
        grandsiblings: Scores | None = None,
        seconds: float | None = None,
        infeasible: OnInfeasible = "raise",
        certificate: bool = False,
    ) -> TreeSolution | RankedTrees:
        """Find the best tree of a sentence, or the k best.

        Args:
            arcs: (n, n + 1) scores of each head of each word; column 0 is the root, column h is word h. A
                word's own column is not looked at.
            siblings: (n + 1, n + 1, n + 1) [h, s, m]; see above.
            grandparents: (n + 1, n + 1, n + 1) [g, h, m].
            k: how many trees; 1 returns a TreeSolution, more a RankedTrees.

        Other args:
            grandsiblings: (n + 1, n + 1, n + 1, n + 1) [g, h, s, m].
            seconds: the time after which the best tree so far is returned, with its gap.
            infeasible: whether a sentence without any possible tree raises Infeasible, or returns a
                TreeSolution with that status (for k > 1, an empty RankedTrees).
            certificate: whether the tree comes with the numbers that prove it, for ``certus.verify``. For
                k = 1 and scores of arcs, where trees need not be projective.
        """
        if certificate:
            plain = siblings is None and grandparents is None and grandsiblings is None
            if k != 1 or not plain or self.projective:
                raise InvalidInput(
                    "a certificate is of the best tree by scores of arcs, projective or not: leave out k, "
                    "siblings, grandparents and projective"
                )
            return self._decode_certified(arcs, infeasible)
        if (
            k == 1
            and siblings is None
            and grandparents is None
            and grandsiblings is None
            and seconds is None
            and type(arcs) is np.ndarray
            and not self.projective
        ):  # the common case, in as little time as Python allows; what it does not answer is looked at below
            heads = _empty(len(arcs), _INT64)
            try:
                score = _decode_spanning_tree(arcs, self.single_root, heads)
            except TypeError:  # another type, or not in C order
                score = None
            if score is not None:
                return TreeSolution(heads, score, score, _OPTIMAL)
        checks.check_count("k", k)
        checks.check_infeasible(infeasible)
        problem = self._read(arcs, siblings, grandparents, grandsiblings, seconds)
        if k > 1:
            ranked = problem.rank(k)
            if len(ranked):
                return ranked
        else:
            best = problem.find_best()
            if best is not None:
                return best
        error = explain_infeasible(problem.arcs, self.projective, self.single_root)
        if infeasible == "raise":
            raise error
        if k > 1:
            return RankedTrees([], exhausted=True)
        nothing = np.empty(0, _INT64)
        return TreeSolution(nothing, -np.inf, -np.inf, Status.INFEASIBLE, position=error.position)

    def state_problem(self, arcs: Scores) -> Problem:
        """Return a sentence as plain data, the problem that certificates of its answers are about."""
        return make_problem("trees", {"arcs": read_arcs(arcs), "single_root": int(self.single_root)})

    def _decode_certified(self, arcs: Scores, infeasible: OnInfeasible) -> TreeSolution:
        found, problem = self.decode(arcs, infeasible=infeasible), self.state_problem(arcs)
        scores = [
            [None if x == -np.inf else Fraction(x) for x in row] for row in problem.data["arcs"].tolist()
        ]
        possible = found.status is not Status.INFEASIBLE
        proof = (find_duals if possible else prove_impossible)(scores, self.single_root)
        assert proof is not None
        found.certificate = certify(problem, found.heads.tolist() if possible else None, proof)
        return found

    @overload
    def decode_batch(
        self,
        arcs: Sequence[Scores],
        siblings: Sequence[Scores] | None = None,
        grandparents: Sequence[Scores] | None = None,
        *,
        k: Literal[1] = 1,
        grandsiblings: Sequence[Scores] | None = None,
        seconds: float | None = None,
        infeasible: OnInfeasible = "raise",
        threads: int = 1,
    ) -> list[TreeSolution]: ...
    @overload
    def decode_batch(
        self,
        arcs: Sequence[Scores],
        siblings: Sequence[Scores] | None = None,
        grandparents: Sequence[Scores] | None = None,
        *,
        k: int,
        grandsiblings: Sequence[Scores] | None = None,
        seconds: float | None = None,
        infeasible: OnInfeasible = "raise",
        threads: int = 1,
    ) -> list[RankedTrees]: ...
    def decode_batch(
        self,
        arcs: Sequence[Scores],
        siblings: Sequence[Scores] | None = None,
        grandparents: Sequence[Scores] | None = None,
        *,
        k: int = 1,
        grandsiblings: Sequence[Scores] | None = None,
        seconds: float | None = None,
        infeasible: OnInfeasible = "raise",
        threads: int = 1,
    ) -> list[TreeSolution] | list[RankedTrees]:
        """Decode many sentences; the answers are in their order, and the same as one by one.

        Args:
            arcs: an (n, n + 1) array for each sentence.
            siblings: as in ``decode``, for each sentence.
            grandparents: likewise.
            k: as in ``decode``.
            threads: how many threads to use.

        Other args:
            grandsiblings: as in ``decode``, for each sentence.
            seconds: the most that each sentence may take.
            infeasible: as in ``decode``.
        """
        checks.check_count("threads", threads)
        parts = {"siblings": siblings, "grandparents": grandparents, "grandsiblings": grandsiblings}
        given = {name: arrays for name, arrays in parts.items() if arrays is not None}
        for name, arrays in given.items():
            if len(arrays) != len(arcs):
                raise InvalidInput(f"there are {len(arcs)} sentences, but {len(arrays)} arrays of {name}")

        def decode(n: int) -> Any:
            own = {name: arrays[n] for name, arrays in given.items()}
            return self.decode(arcs[n], **own, k=k, seconds=seconds, infeasible=infeasible)

        if threads == 1:
            return list(map(decode, range(len(arcs))))
        cancellation = _native.Cancellation()

        def decode_in_thread(n: int) -> Any:
            with cancellation:
                return decode(n)

        with ThreadPoolExecutor(threads) as pool:
            try:
                return list(pool.map(decode_in_thread, range(len(arcs))))
            except BaseException:
                cancellation.cancel()
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def marginals(
        self,
        arcs: Scores,
        siblings: Scores | None = None,
        grandparents: Scores | None = None,
        *,
        grandsiblings: Scores | None = None,
    ) -> TreeMarginals:
        """Compute the probability of each head of each word, exactly.

        By the matrix-tree theorem, and for projective trees, siblings and grandparents included, by inside
        and outside sums. For other trees with siblings or grandparents no way is known.
        """
        problem = self._read(arcs, siblings, grandparents, grandsiblings, None)
        if not self.projective and not problem.is_plain:
            raise InvalidInput(
                "probabilities of trees that are not projective can be had from scores of arcs only: leave "
                "out siblings and grandparents, or use Trees(projective=True)"
            )
        shares = np.empty(len(problem.candidates))
        sum_up = problem.scores.projective_marginals if self.projective else problem.scores.marginals
        log_partition = sum_up(self.single_root, shares)
        if log_partition is None:
            raise explain_infeasible(problem.arcs, self.projective, self.single_root)
        probabilities = np.zeros(problem.arcs.shape)
        probabilities[problem.candidates.modifiers - 1, problem.candidates.heads] = shares
        return TreeMarginals(probabilities, log_partition)

    def _read(
        self,
        arcs: Scores,
        siblings: Scores | None,
        grandparents: Scores | None,
        grandsiblings: Scores | None,
        seconds: float | None,
    ) -> TreeProblem:
        limit = checks.read_seconds(seconds)
        scores = read_arcs(arcs)
        words = len(scores)
        parts = (
            read_parts("siblings", siblings, words, 3),
            read_parts("grandparents", grandparents, words, 3),
            read_parts("grandsiblings", grandsiblings, words, 4),
        )
        plain = all(part is None for part in parts)
        return TreeProblem(scores, *lay_out(scores, *parts), plain, self.projective, self.single_root, limit)

    def __repr__(self) -> str:
        return f"Trees(projective={self.projective}, single_root={self.single_root})"
