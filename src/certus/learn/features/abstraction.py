"""What words tell about their labels: counts at nodes of a hierarchy from all words down to each one.

A node stands for a set of words: all of them; the rare ones, capitalised or not; those of them that end in
the same letter, the same two letters, and so on; a single word. Successive abstraction (Brants 2000, "TnT",
section 2.3) makes the distribution of each from its counts and its parent's::

    p(label | node) = (count(node, label) + strength * p(label | parent)) / (count(node) + strength)

At the top stands p(label), so that at every node p(label | node) = share(node, label) + rest(node) *
p(label), and the share is 0 for all labels that neither the node nor those above it, bar the top, have seen.

Departure from Brants: the weight of a parent falls with the counts of its child instead of being constant.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Shares below this are not stored.
NEGLIGIBLE = 1e-6


class Nodes(dict[str, int]):
    """The node of every word: its own, or that of the longest ending it shares with rare words."""

    def __init__(self, vocabulary: Mapping[str, int], endings: Mapping[str, int]) -> None:
        super().__init__(vocabulary)
        self.endings = endings
        self.longest = max(map(len, endings)) - 1

    def __missing__(self, word: str) -> int:
        for ending in list_endings(word, self.longest)[::-1]:
            node = self.endings.get(ending)
            if node is not None:
                return node
        raise AssertionError("the empty ending is always there")

    def find_first(self, word: str) -> int:
        """Return the node of the first word of a sentence, which may be capitalised for no other reason."""
        node = self.get(word)
        if node is None and is_capitalised(word):
            node = self.get(word.lower())
        return self[word] if node is None else node


def is_capitalised(word: str) -> bool:
    """Whether the first character is an upper-case letter."""
    return word[:1].isupper()


def list_endings(word: str, longest: int) -> list[str]:
    """Return the endings of a word from the empty one on, led by whether it is capitalised."""
    kind = "1" if is_capitalised(word) else "0"
    return [kind] + [kind + word[-length:] for length in range(1, min(longest, len(word)) + 1)]


@dataclass(frozen=True)
class Counts:
    """How often labels occur at nodes: parallel arrays; the counts of a pair add up."""

    nodes: NDArray[np.int64]
    labels: NDArray[np.int64]
    counts: NDArray[np.float64]


def list_entries(
    offsets: NDArray[np.int64], rows: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """List the entries of some rows of a ragged array: for each its place in ``rows``, and where it lies."""
    begin = offsets[rows]
    lengths = offsets[rows + 1] - begin
    where = np.repeat(np.arange(len(rows)), lengths)
    shift = begin - (np.cumsum(lengths) - lengths)
    return where, np.arange(len(where)) + shift[where]


class Hierarchy:
    """Nodes with p(label | node) = share(node, label) + rest(node) * p(label); shares are mostly zero."""

    def __init__(self, label_count: int) -> None:
        self.label_count = label_count
        # Node 0 is the top, p(label) itself; it is left out of the result.
        self.rest = np.ones(1)
        self.offsets = np.zeros(2, np.int64)
        self.labels = np.empty(0, np.int64)
        self.shares = np.empty(0)

    def add(self, parents: NDArray[np.int64], own: Counts, strength: float) -> None:
        """Add nodes below ``parents``, with counts whose ``nodes`` start from 0 for the first new one."""
        total = np.bincount(own.nodes, own.counts, len(parents))
        inherited = strength / (total + strength)
        rows, entries = list_entries(self.offsets, parents + 1)
        keys = np.concatenate(
            [own.nodes * self.label_count + own.labels, rows * self.label_count + self.labels[entries]]
        )
        shares = np.concatenate(
            [own.counts / (total + strength)[own.nodes], self.shares[entries] * inherited[rows]]
        )
        unique, place = np.unique(keys, return_inverse=True)
        summed = np.bincount(place.ravel(), shares, len(unique))
        kept = summed > NEGLIGIBLE
        nodes, labels = np.divmod(unique[kept], self.label_count)
        lengths = np.bincount(nodes, minlength=len(parents))
        self.offsets = np.concatenate([self.offsets, self.offsets[-1] + np.cumsum(lengths)])
        self.labels = np.concatenate([self.labels, labels])
        self.shares = np.concatenate([self.shares, summed[kept]])
        self.rest = np.concatenate([self.rest, inherited * self.rest[parents + 1]])

    def estimate_scores(self, prior: NDArray[np.float64]) -> dict[str, NDArray[Any]]:
        """Return the floors, offsets, labels and scores of an Hmm."""
        lengths = np.diff(self.offsets)
        rest = np.repeat(self.rest, lengths)
        dtype = np.uint16 if self.label_count <= 2**16 else np.uint32
        return {
            "floors": np.log(self.rest[1:]).astype(np.float32),
            "offsets": self.offsets[1:],
            "labels": self.labels.astype(dtype),
            "scores": np.log(self.shares / prior[self.labels] + rest).astype(np.float32),
        }


def add_endings(
    hierarchy: Hierarchy, words: list[str], seen: Counts, rare: int, suffixes: int, strength: float
) -> dict[str, int]:
    """Add the endings of rare words, shorter ones first, and return their nodes.

    Endings of a single token are left out: what they tell stands in the shorter ones, too.
    """
    totals = np.bincount(seen.nodes, seen.counts, len(words))
    of_rare = totals[seen.nodes] <= rare
    seen = Counts(seen.nodes[of_rare], seen.labels[of_rare], seen.counts[of_rare])
    spelled = {word: list_endings(words[word], suffixes) for word in np.unique(seen.nodes).tolist()}
    nodes: dict[str, int] = {}
    for length in range(max(map(len, spelled.values()), default=1)):
        level: dict[str, int] = {} if length else {"0": 0, "1": 1}
        place = np.full(len(words), -1)
        for word, endings in spelled.items():
            if length < len(endings) and (length == 0 or endings[length - 1] in nodes):
                place[word] = level.setdefault(endings[length], len(level))
        _add_level(hierarchy, nodes, level, _move(seen, place), strength)
    return nodes


def _add_level(
    hierarchy: Hierarchy, nodes: dict[str, int], level: dict[str, int], own: Counts, strength: float
) -> None:
    """Add the endings of one length that were seen more than once; the empty ones always."""
    kept = np.bincount(own.nodes, own.counts, len(level)) > 1
    names = [name for name, keep in zip(level, kept, strict=True) if keep or len(name) == 1]
    parents = [nodes.get(name[0] + name[2:], -1) for name in names]
    place = np.full(len(level), -1)
    place[[level[name] for name in names]] = np.arange(len(names))
    hierarchy.add(np.array(parents, np.int64), _move(own, place), strength)
    nodes.update(zip(names, range(len(nodes), len(nodes) + len(names)), strict=True))


def _move(counts: Counts, place: NDArray[np.int64]) -> Counts:
    """Give counts to the nodes at ``place``; those at -1 are dropped."""
    nodes = place[counts.nodes]
    kept = nodes >= 0
    return Counts(nodes[kept], counts.labels[kept], counts.counts[kept])
