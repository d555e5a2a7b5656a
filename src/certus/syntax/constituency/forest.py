"""The trees of a sentence as a hypergraph, and derivations of it as trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certus import _native
from certus.annotation.trees import Tree, assemble_tree
from certus.hypergraph import Hypergraph


class TreeWriter(Protocol):
    """Whoever made a forest, and knows what its derivations look like: a grammar."""

    def write_tree(self, packed: _native.ParseForest, edges: NDArray[np.int64], words: Sequence[str]) -> Tree:
        """Return the tree of a derivation."""


@dataclass(frozen=True, eq=False)
class ParseForest:
    """All derivations of a sentence that reach a score, packed; made by ``Grammar.forest``.

    Nodes are symbols over spans. A *bottom* is a preterminal over a word, by an edge without tails, or the
    parent of binary rules, with edges to two tops; a *top* has edges to bottoms of its span: the same symbol,
    or one below it by a chain of unary rules.

    Attributes:
        graph: the hypergraph, which answers every question about derivations.
        scores: (E,) the scores of its edges.
        symbols: (N,) for each node the number of its symbol in ``Grammar.symbols``.
        begin: (N,) the first position of a node's span, and ``end`` (N,) the position after its last.
        words: of the sentence.

    Example:
        >>> forest = grammar.forest(["the", "dog", "barks"])  # doctest: +SKIP
        >>> best = forest.graph.decode(forest.scores)  # doctest: +SKIP
        >>> print(forest.tree(best.value))  # doctest: +SKIP
    """

    graph: Hypergraph
    scores: NDArray[np.float64]
    symbols: NDArray[np.int64]
    begin: NDArray[np.int64]
    end: NDArray[np.int64]
    words: Sequence[str]
    _packed: _native.ParseForest
    _grammar: TreeWriter

    @classmethod
    def of_native(cls, packed: _native.ParseForest, grammar: TreeWriter, words: Sequence[str]) -> ParseForest:
        """Make one of what the kernel packed."""
        symbols = packed.symbols
        graph = Hypergraph(packed.heads, packed.offsets, packed.tails, packed.goal, nodes=len(symbols))
        return cls(graph, packed.scores, symbols, packed.begin, packed.end, words, packed, grammar)

    def __reduce__(self) -> tuple[Any, ...]:
        """Be pickled and copied as arrays, from which the kernel's forest is made again."""
        graph = self.graph
        arrays = (graph.heads, graph.offsets, graph.tails, int(graph.goals[0]), self.scores)
        return _restore, (*arrays, self.symbols, self.begin, self.end, self._grammar, self.words)

    def tree(self, derivation: ArrayLike) -> Tree:
        """Return the tree that a derivation stands for: without hidden symbols and marks.

        Args:
            derivation: edges of ``graph`` in preorder, such as ``graph.decode(scores).value``.

        Raises:
            InvalidInput: this is not a derivation of the goal.
        """
        edges = np.ascontiguousarray(derivation, np.int64)
        self.graph.score(self.scores, edges)  # refuses what is no derivation
        return self._grammar.write_tree(self._packed, edges, self.words)


def _restore(*packed: Any) -> ParseForest:
    *arrays, grammar, words = packed
    return ParseForest.of_native(_native.ParseForest(*arrays), grammar, words)


def build_tree(written: _native.WrittenTree, labels: Sequence[str], words: Sequence[str]) -> Tree:
    """Return the tree that a kernel wrote in preorder; ``labels`` are the names of its labels."""
    return assemble_tree([labels[n] for n in written.labels], written.arity, words)
