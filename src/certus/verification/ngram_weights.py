"""The weights of n-grams of labels and of their coarse tags, and the most that longer ones add to shorter."""

from __future__ import annotations

import math
from collections.abc import Container
from typing import TypeAlias

from certus.verification.exact import Exact, add, find_largest

Labels: TypeAlias = tuple[int, ...]


class NgramWeights:
    """Weights on a grid; what has none weighs 0.

    Args:
        order: how many labels an n-gram has before its last one, at most.
        tag: (labels + 1,) the coarse tag of each label, as n-grams have it: a number above all labels. The
            last label, and the last tag, is that of boundaries.
        weights: of sequences of labels, and of sequences of tags.

    Attributes:
        boundary: the label of boundaries.
        divisor: the greatest common one of all weights.
    """

    def __init__(self, order: int, tag: list[int], weights: dict[Labels, Exact]) -> None:
        self.order, self.tag, self.boundary = order, tag, len(tag) - 1
        self.divisor = math.gcd(*(weight for weight in weights.values() if weight is not None))
        self._weights = weights
        self._before: dict[Labels, set[int]] = {}  # what stands before a sequence in longer ones
        for sequence in weights:
            for first in range(1, len(sequence)):
                self._before.setdefault(sequence[first:], set()).add(sequence[first - 1])
        self._most: dict[tuple[Labels, int], Exact] = {}
        self._ranks: dict[tuple[Labels, int], dict[int, list[tuple[int, int]]]] = {}

    def weigh(self, labels: Labels) -> Exact:
        """Return the weight of labels and of their coarse tags."""
        return add(self._weights.get(labels, 0), self._weights.get(self._find_tags(labels), 0))

    def weigh_end(self, labels: Labels) -> Exact:
        """Return the weight of all n-grams among these labels that end with the last."""
        return add(*[self.weigh(labels[first:]) for first in range(len(labels) - 1)])

    def weigh_whole(self, labels: Labels) -> Exact:
        """Return the weight of all n-grams that end with the last of the labels from position 1 on."""
        known = labels[-self.order - 1 :]
        return add(self.weigh_end(known), self.weigh_longer(known, 0))

    def weigh_longer(
        self, labels: Labels, left: int, tag: int | None = None, apart: Container[int] = ()
    ) -> Exact:
        """Return the most that n-grams weigh which end with these labels and are longer.

        Args:
            labels: of neighbouring positions.
            left: how many labels there are before them; before those is the boundary.
            tag: the coarse tag of the label before them; by default it may be any.
            apart: labels that this one is not.
        """
        more = self.order + 1 - len(labels)
        left = min(left, more)
        if left == 0:
            return _repeat(self.weigh((self.boundary, *labels)), more)
        ranks = self._rank_before(labels, left)
        wanted = ranks.values() if tag is None else [ranks.get(tag, [])]
        best = [next((weight for weight, y in rank if y not in apart), None) for rank in wanted]
        return find_largest((*best, self._weigh_longer_tags(self._find_tags(labels), left, tag)))

    def weigh_any_longer(self, labels: Labels, left: int) -> Exact:
        """Return ``weigh_longer`` after any labels; the second time it is known."""
        left = min(left, self.order + 1 - len(labels))
        if (labels, left) not in self._most:
            self._most[labels, left] = self.weigh_longer(labels, left)
        return self._most[labels, left]

    def _rank_before(self, labels: Labels, left: int) -> dict[int, list[tuple[int, int]]]:
        """Return by coarse tags the labels before these in n-grams, with what they add, the most first."""
        if (labels, left) not in self._ranks:
            ranks: dict[int, list[tuple[int, int]]] = {}
            for y in self._before.get(labels, set()) - {self.boundary}:
                longer = (y, *labels)
                weight = add(self.weigh(longer), self.weigh_any_longer(longer, left - 1))
                if weight is not None:
                    ranks.setdefault(self.tag[y], []).append((weight, y))
            self._ranks[labels, left] = {tag: sorted(rank, reverse=True) for tag, rank in ranks.items()}
        return self._ranks[labels, left]

    def _weigh_longer_tags(self, tags: Labels, left: int, before: int | None = None) -> Exact:
        """Return the most that longer n-grams of coarse tags weigh, whatever the labels are."""
        more = self.order + 1 - len(tags)
        left = min(left, more)
        if left == 0:
            return _repeat(self._weights.get((self.tag[-1], *tags), 0), more)
        if before is not None:
            longer = (before, *tags)
            return add(self._weights.get(longer, 0), self._weigh_longer_tags(longer, left - 1))
        if (tags, left) not in self._most:
            known = self._before.get(tags, set()) - {self.tag[-1]}
            ways = [self._weigh_longer_tags(tags, left, tag) for tag in known]
            self._most[tags, left] = find_largest((0, *ways))  # other tags weigh 0
        return self._most[tags, left]

    def _find_tags(self, labels: Labels) -> Labels:
        return tuple([self.tag[y] for y in labels])


def _repeat(weight: Exact, times: int) -> Exact:
    """Return the weight of what counts for all longer n-grams, too, as the boundary is before it."""
    return 0 if times == 0 else None if weight is None else times * weight
