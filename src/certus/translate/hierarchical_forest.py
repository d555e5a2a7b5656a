"""The best derivation of a translation forest under a language model, with its proof.

The set Y: derivations of the forest. Each edge has a target side of words and of its tails, in any order, so
that a derivation spells a sentence. Its score is the sum of the scores of its edges and of the weighted log
probability of the sentence, from ``<s>`` to ``</s>``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certus import _native
from certus.checks import check_count, read_seconds
from certus.errors import Infeasible, InvalidInput, describe_infeasible
from certus.hypergraph import Hypergraph
from certus.solution import KBest, OnInfeasible, Solution, Status, Work, conclude
from certus.translate.hierarchical_methods import AUTO, ForestMethod, ForestProgram, choose_forest_method
from certus.translate.problem import HasKernel, check_weights
from certus.translate.solution import judge

TargetSide: TypeAlias = Sequence["str | int"]  # words, and the places of tails, from 0


class ForestDerivation(Solution[tuple[int, ...]]):
    """A derivation of a translation forest, with its proof: ``score <= optimum <= bound``.

    Attributes:
        words: the target words.
    """

    __slots__ = ("words",)

    def __init__(
        self,
        edges: tuple[int, ...],
        words: list[str],
        score: float,
        bound: float,
        status: Status,
        counters: Work | None = None,
    ) -> None:
        super().__init__(edges, score, bound, status, counters)
        self.words = words

    @property
    def edges(self) -> tuple[int, ...]:
        """The edges, from the goal down, those on the left first."""
        return self.value

    @property
    def text(self) -> str:
        """The target words, with blanks between them."""
        return " ".join(self.words)

    def __repr__(self) -> str:
        proof = "optimal" if self.optimal else f"bound={self.bound:.6g}, {self.status.value}"
        return f"ForestDerivation({self.text!r}, score={self.score:.6g}, {proof})"


class TranslationForest:
    """A forest whose edges have target sides, and the language model that scores what they spell.

    Args:
        graph: the forest.
        scores: (E,) of edges.
        targets: for each edge its target side: words, and the numbers of its tails (0 is the first), each
            once. None takes the labels of the graph.
        model: of the target language.

    Other args:
        weight: of the language model's log probability (natural logarithm); not negative.
    """

    def __init__(
        self,
        graph: Hypergraph,
        scores: ArrayLike,
        targets: Sequence[TargetSide] | None,
        model: HasKernel,
        *,
        weight: float = 1.0,
    ) -> None:
        check_weights(weight, 0.0, None)
        self.graph = graph
        self.targets = _check_targets(graph, graph.labels if targets is None else targets)
        sides = _number_symbols(graph, self.targets, model)
        heads = [graph.heads, np.full(len(graph.goals), graph.nodes, np.int64)]
        values = [np.asarray(graph.check_scores(scores), np.float64), np.zeros(len(graph.goals))]
        lengths = np.concatenate([[len(side) for side in self.targets], np.ones(len(graph.goals))])
        self._native = _native.TargetForest(
            model.kernel,
            graph.nodes + 1,
            graph.nodes,
            np.concatenate(heads),
            np.concatenate(values),
            np.cumsum([0, *lengths], dtype=np.int64),
            np.concatenate([sides, ~graph.goals]),
            float(weight),
        )

    @overload
    def decode(
        self,
        *,
        k: Literal[1] = ...,
        method: str | ForestMethod = ...,
        seconds: float | None = ...,
        distinct: bool = ...,
        infeasible: OnInfeasible = ...,
    ) -> ForestDerivation: ...
    @overload
    def decode(
        self,
        *,
        k: int,
        method: str | ForestMethod = ...,
        seconds: float | None = ...,
        distinct: bool = ...,
        infeasible: OnInfeasible = ...,
    ) -> ForestDerivation | KBest[ForestDerivation]: ...
    def decode(
        self,
        *,
        k: int = 1,
        method: str | ForestMethod = AUTO,
        seconds: float | None = None,
        distinct: bool = False,
        infeasible: OnInfeasible = "raise",
    ) -> ForestDerivation | KBest[ForestDerivation]:
        """Return the best derivation with its proof, or the k best.

        Args:
            k: how many derivations to return; more than 1 is a KBest.
            method: one of certus.translate.FOREST_METHODS, by its name or as an object with its options.

        Other args:
            seconds: the most time to spend; what is found by then comes back with its gap. None for no limit.
            distinct: whether the k best must differ in their words, as the language model knows them.
            infeasible: "raise" an error where there is no derivation, or "return" an empty answer.
        """
        check_count("k", k)
        chosen = choose_forest_method(method, k)
        limit = read_seconds(seconds)
        if isinstance(chosen, ForestProgram):
            from certus.translate.forest_program import solve_forest_program

            found = solve_forest_program(self._native, chosen, limit)
        else:
            found = self._native.search(chosen.make_request(k, distinct, limit))
        if not found.best:
            return _answer_nothing(found, k, infeasible)
        made = [self._make(found, one) for one in found.best]
        return made[0] if k == 1 else KBest(made, exhausted=found.exhausted)

    def _make(
        self, found: _native.TargetForestAnswer, one: _native.TargetForestDerivation
    ) -> ForestDerivation:
        status, bound = judge(found, one.score)
        edges = tuple(edge for edge in one.edges.tolist() if edge < self.graph.edges)
        return ForestDerivation(edges, self._spell(edges), one.score, bound, status, count_work(found))

    def _spell(self, edges: tuple[int, ...]) -> list[str]:
        """Return the words of a derivation; edges come in the order of the target sides."""
        words: list[str] = []
        left = iter(edges)
        stack: list[str | int] = [0]
        while stack:
            symbol = stack.pop()
            if isinstance(symbol, str):
                words.append(symbol)
            else:
                stack.extend(reversed(self.targets[next(left)]))
        return words


def decode_forest(
    graph: Hypergraph,
    scores: ArrayLike,
    targets: Sequence[TargetSide] | None,
    model: HasKernel,
    *,
    weight: float = 1.0,
    k: int = 1,
    method: str | ForestMethod = AUTO,
    seconds: float | None = None,
    distinct: bool = False,
    infeasible: OnInfeasible = "raise",
) -> ForestDerivation | KBest[ForestDerivation]:
    """Return the best derivation of a translation forest, or the k best: see TranslationForest.

    Example:
        >>> graph = certus.hypergraph.Hypergraph([0, 0, 1], [0, 0, 0, 1], [0], goal=1)
        >>> targets = [["house"], ["home"], ["the", 0]]
        >>> model = certus.LanguageModel(order=2).fit([["the", "house"], ["at", "home"]])
        >>> decode_forest(graph, [0, 0, 0], targets, model).text
        'the house'
    """
    forest = TranslationForest(graph, scores, targets, model, weight=weight)
    return forest.decode(k=k, method=method, seconds=seconds, distinct=distinct, infeasible=infeasible)


def count_work(found: _native.TargetForestAnswer) -> dict[str, int]:
    """Return what a search counted."""
    names = ("beams", "items", "joined", "parts")
    return {name: getattr(found, name) for name in names}


def _answer_nothing(
    found: _native.TargetForestAnswer, k: int, infeasible: OnInfeasible
) -> ForestDerivation | KBest[ForestDerivation]:
    impossible = found.bound == -math.inf
    if impossible and infeasible == "raise":
        raise Infeasible(
            describe_infeasible(
                "the forest has no derivation of its goal", "Add edges, or check their scores"
            )
        )
    status, bound = conclude(-math.inf, found.bound, Status.SECONDS if found.timed_out else Status.ITERATIONS)
    empty = ForestDerivation((), [], -math.inf, bound, status)
    return empty if k == 1 else KBest([], exhausted=impossible)


def _check_targets(graph: Hypergraph, targets: Sequence[TargetSide] | None) -> list[TargetSide]:
    if targets is None:
        raise InvalidInput("the forest has no target sides: give targets, or a graph with labels")
    if len(targets) != graph.edges:
        raise InvalidInput(f"there are {len(targets)} target sides for {graph.edges} edges")
    counts = np.diff(graph.offsets).tolist()
    for edge, (side, tails) in enumerate(zip(targets, counts, strict=True)):
        if isinstance(side, str) or not isinstance(side, Sequence):
            raise InvalidInput(
                f"the target side of edge {edge} is {side!r}; a list of words and tails is needed"
            )
        used = sorted(symbol for symbol in side if not isinstance(symbol, str))
        if used != list(range(tails)):
            raise InvalidInput(
                f"the target side of edge {edge} names the tails {used}; it has {tails}, each once"
            )
    return list(targets)


def _number_symbols(graph: Hypergraph, targets: list[TargetSide], model: HasKernel) -> NDArray[np.int64]:
    """Return words as the language model knows them, and nodes as their complements."""
    words = {symbol: 0 for side in targets for symbol in side if isinstance(symbol, str)}
    numbers = dict(zip(words, model.kernel.number(list(words)).tolist(), strict=True))
    offsets, tails = graph.offsets.tolist(), graph.tails.tolist()
    return np.array(
        [
            numbers[symbol] if isinstance(symbol, str) else ~tails[offsets[edge] + symbol]
            for edge, side in enumerate(targets)
            for symbol in side
        ],
        np.int64,
    )
