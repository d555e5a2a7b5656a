"""Trees and tag sequences of one sentence side by side, as arrays: what joint problems are made of.

A tree uses a node if the node is the root or the child of an edge that it uses; it uses one edge, or one
word, of each node that it uses. A tag sequence is a path through a lattice. A tree and a sequence agree if
the words that the tree uses have the tags of the sequence; the best pair that agrees is sought.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from certus.lattice.lattices import Arcs
from certus.syntax.constituency.forest import ParseForest
from certus.syntax.constituency.grammar import Grammar
from certus.syntax.joint.problem import JointProblem

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ForestArrays:
    """Trees over a sentence of T words, packed. Node 0 is the root; without trees there are no nodes.

    Attributes:
        begin: (nodes,) the first position of a node's span, and ``end`` (nodes,) the position after its last.
        head: (edges,) the node an edge hangs from; the edges of a node come after those it is a child of.
        left: (edges,) its first child, and ``right`` (edges,) its second, or -1.
        score: (edges,)
        word: (words,) the node that stands over a word.
        position: (words,) of the word.
        tag: (words,) of the word there, by its number.
        word_score: (words,)
    """

    begin: Ints
    end: Ints
    head: Ints
    left: Ints
    right: Ints
    score: Floats
    word: Ints
    position: Ints
    tag: Ints
    word_score: Floats

    @classmethod
    def of_parses(cls, parses: ParseForest, grammar: Grammar) -> ForestArrays:
        """Write the hypergraph of a sentence down in this form, which is the other way around: root first."""
        graph = parses.graph
        if not graph.edges:
            no, none = np.zeros(0, np.int64), np.zeros(0)
            return cls(no, no, no, no, no, none, no, no, no, none)
        tails = np.diff(graph.offsets)
        rules, words = np.flatnonzero(tails > 0)[::-1], np.flatnonzero(tails == 0)
        last = graph.nodes - 1
        first = graph.offsets[rules]
        right = np.where(tails[rules] == 2, last - graph.tails[first + tails[rules] - 1], -1)
        over = graph.heads[words]
        return cls(
            parses.begin[::-1],
            parses.end[::-1],
            last - graph.heads[rules],
            last - graph.tails[first],
            right,
            parses.scores[rules],
            last - over,
            parses.begin[over],
            grammar.tag[parses.symbols[over]].astype(np.int64),
            parses.scores[words],
        )

    def __len__(self) -> int:
        """Return the number of nodes."""
        return len(self.begin)


@dataclass(frozen=True, eq=False)
class JointArrays:
    """A forest and a lattice over the same words and the same tags.

    Attributes:
        forest: the trees.
        arcs: the tag sequences; a state's label is the number of a tag as the forest has it. Labels that the
            forest does not know are -1, those of boundaries anything.
        weight: of a sequence's score beside a tree's.
        tags: the names of tags, by their numbers.
    """

    forest: ForestArrays
    arcs: Arcs
    weight: float
    tags: list[str]

    @property
    def length(self) -> int:
        """The number of words."""
        return len(self.arcs.begin) - 3

    def positions(self) -> Ints:
        """Return the position of each state of the lattice, 0 and T + 1 being the boundaries."""
        return np.repeat(np.arange(self.length + 2), np.diff(self.arcs.begin))

    def arc_scores(self) -> Floats:
        """Return the weighted scores of arcs together with the states they enter."""
        arcs = self.arcs
        scores: Floats = self.weight * (arcs.score + arcs.node[arcs.target])
        return scores


@dataclass(frozen=True, eq=False)
class Pair:
    """A tree and a sequence that agree.

    Attributes:
        score: of both, the sequence's weighted.
        edges: (used,) the edges of the tree, parents before children.
        tags: (T,) the tags of both.
    """

    score: float
    edges: Ints
    tags: Ints


def write_arrays(problem: JointProblem, *, at_least: float | None = None) -> JointArrays:
    """Write a problem down as arrays, for the intersected dynamic program and for HiGHS.

    Args:
        problem: one sentence.
        at_least: leave out the trees whose score, without the tagger's, is less.
    """
    grammar, lattices = problem.grammar, problem.lattices
    least: dict[str, float] = {} if at_least is None else {"at_least": at_least}
    forest = grammar.forest(problem.words, allowed=problem.allowed, **least)
    arcs = lattices.arcs(problem.number)
    tag = np.full(lattices.labels + 1, -1, np.int32)  # the last stands for the boundary
    known = problem.allowed.any(0)
    tag[problem.label[known]] = np.flatnonzero(known)
    arrays = ForestArrays.of_parses(forest, grammar)
    return JointArrays(arrays, replace(arcs, label=tag[arcs.label]), problem.weight, grammar.tags)
