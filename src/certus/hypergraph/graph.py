"""The forest and all that can be done with it: constraints, parts of decompositions, files, pictures."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certus.errors import InvalidInput, ModelError
from certus.hypergraph import drawing, files
from certus.hypergraph.constrained import Constrained
from certus.hypergraph.forest import Forest
from certus.hypergraph.part import HypergraphPart, Space
from certus.hypergraph.rows import Rows
from certus.ragged import offsets_of


class Hypergraph(Forest):
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

    papers: ClassVar[tuple[str, ...]] = ("huang2005",)

    def with_constraints(self, rows: Rows, targets: ArrayLike) -> Constrained:
        """Return the forest with linear constraints A x = b on how often derivations use edges.

        Args:
            rows: A: a sequence of mappings {edge: coefficient}, one for each constraint; or three arrays
                (offsets, edges, coefficients), where constraint r has those from offsets[r] up to
                offsets[r + 1].
            targets: b, one number for each constraint.
        """
        return Constrained(self, rows, targets)

    def prune(self, scores: ArrayLike, threshold: float = -np.inf) -> Pruned:
        """Drop the edges that no derivation with at least this score uses.

        Safe: every derivation that scores ``threshold`` or more is kept, also where sums are rounded. Without
        a threshold, only what is forbidden or useless is dropped.
        """
        array = self.check_scores(scores)
        if not threshold < np.inf:
            raise InvalidInput(f"threshold must be a score or -inf, not {threshold}")
        keep = self.useful(array)
        if not keep.any():
            raise self._explain_no_derivation(array)
        if threshold > -np.inf:
            best = self.max_marginals(array)
            keep &= best.edges >= threshold - self._forest.rounding(array)
            if not keep.any():
                raise InvalidInput(
                    f"threshold {threshold:g} is above the best score, {best.score:g}: nothing would be left"
                )
        return self._part_of(np.flatnonzero(keep))

    # -- the rest of the world ------------------------------------------------------------------------------

    def part(self, scores: ArrayLike, spaces: Mapping[str, Space]) -> HypergraphPart:
        """Return the forest as a part of a decomposition (``certus.relax``).

        Args:
            scores: (E,) the scores of edges.
            spaces: by name, (shape, edges, cells): a derivation that uses edges[i] uses the cell cells[i], a
                flat index into an array of that shape. An edge may have several cells, a cell several edges;
                no derivation may use a cell twice.
        """
        return HypergraphPart(self, scores, spaces)

    def save(self, path: str | os.PathLike[str], scores: ArrayLike | None = None) -> None:
        """Write the forest, and scores if given, into one file; whole or not at all.

        Labels and names must be None, numbers, strings, booleans, or tuples of those.
        """
        files.write(self, path, scores)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Hypergraph:
        """Read a forest that ``save`` wrote; ``certus.hypergraph.load`` also gives its scores."""
        return load(path).graph

    def draw(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        scores: ArrayLike | None = None,
        derivation: ArrayLike | None = None,
    ) -> str:
        """Draw a small forest as SVG, or as DOT for Graphviz; return the text.

        Args:
            path: a file to write, whose name says which: .svg, or .dot and .gv. Others are refused.
            scores: (E,) shown at the edges; the best derivation is drawn in colour.
            derivation: the one to draw in colour instead.
        """
        return drawing.draw(self, path, scores, derivation)

    def __reduce__(self) -> Any:
        goals = self.goals.tolist()
        return _restore, (self.heads, self.offsets, self.tails, goals, self.nodes, self.labels, self.names)

    def _part_of(self, edges: NDArray[np.int64]) -> Pruned:
        """Return the forest of some edges and the nodes they name."""
        lengths = np.diff(self.offsets)[edges]
        offsets = offsets_of(lengths)
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


def _restore(
    heads: Any, offsets: Any, tails: Any, goals: Any, nodes: int, labels: Any, names: Any
) -> Hypergraph:
    return Hypergraph(heads, offsets, tails, goals, nodes=nodes, labels=labels, names=names)


@dataclass(frozen=True)
class Pruned:
    """What is left of a forest.

    Attributes:
        graph: the smaller forest; its nodes and edges are numbered anew, in the old order.
        edges: (edges left,) the number that each had before: ``scores[pruned.edges]`` are its scores.
        nodes: (nodes left,) the same for nodes.
    """

    graph: Hypergraph
    edges: NDArray[np.int64]
    nodes: NDArray[np.int64]


@dataclass(frozen=True)
class Saved:
    """What a file holds.

    Attributes:
        graph: the forest.
        scores: those that were saved with it, or None.
    """

    graph: Hypergraph
    scores: NDArray[Any] | None


def load(path: str | os.PathLike[str]) -> Saved:
    """Read a forest that ``Hypergraph.save`` wrote; every byte is held against the checksum.

    Raises:
        ModelError: this is no such file, or it is damaged.
    """
    found = files.read(path)
    try:
        structure = (found.heads, found.offsets, found.tails, found.goals.tolist())
        graph = Hypergraph(*structure, nodes=found.nodes, labels=found.labels, names=found.names)
        if found.scores is not None:
            graph.check_scores(found.scores)
    except (InvalidInput, MemoryError) as error:
        raise ModelError(f"{found.path} holds an impossible hypergraph: {error}") from error
    return Saved(graph, found.scores)
