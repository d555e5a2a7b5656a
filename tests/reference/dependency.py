"""Dependency trees the slow way: every assignment of heads is tried, every part of a tree is looked up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

from certus._native import DependencyArcs, TreeScores32, TreeScores64

Heads = tuple[int, ...]  # of words 1 ... n; 0 is the root


def is_tree(heads: Heads) -> bool:
    """Tell whether every word reaches the root."""
    for word in range(1, len(heads) + 1):
        steps = 0
        while word and steps <= len(heads):
            word, steps = heads[word - 1], steps + 1
        if word:
            return False
    return True


def is_projective(heads: Heads) -> bool:
    """Tell whether no two arcs cross, the root standing before the first word."""
    arcs = [sorted((head, word)) for word, head in enumerate(heads, 1)]
    return not any(a < c < b < d for a, b in arcs for c, d in arcs)


@lru_cache
def list_trees(words: int, projective: bool, single_root: bool) -> tuple[Heads, ...]:
    """Return all trees over so many words."""
    choices = [[h for h in range(words + 1) if h != m] for m in range(1, words + 1)]
    return tuple(
        heads
        for heads in product(*choices)
        if (not single_root or not heads or heads.count(0) == 1)
        and is_tree(heads)
        and (not projective or is_projective(heads))
    )


@dataclass
class TreeProblem:
    """Scores of a sentence's parts, in the flat arrays of the kernels; kinds that are None count nothing."""

    arcs: DependencyArcs
    arc_scores: NDArray[np.float64]
    siblings: NDArray[np.float64] | None = None
    grandparents: NDArray[np.float64] | None = None
    grandsiblings: NDArray[np.float64] | None = None
    place: Mapping[tuple[int, int], int] = field(init=False)

    def __post_init__(self) -> None:
        pairs = zip(self.arcs.heads.tolist(), self.arcs.modifiers.tolist(), strict=True)
        self.place = {pair: number for number, pair in enumerate(pairs)}

    def list_candidates(self, head: int, right: bool) -> list[int]:
        """Return the modifiers that a head may have on one side, from the head outwards."""
        found = sorted(m for h, m in self.place if h == head and (m > head) == right)
        return found if right else found[::-1]

    def list_parents(self, head: int) -> list[int]:
        """Return the heads that a word may have; the root has one parent that stands for none."""
        return sorted(h for h, m in self.place if m == head) if head else [-1]

    def score(self, heads: Heads) -> float:
        """Return the score of a tree, -inf where it uses an arc that is no candidate."""
        if any((head, word) not in self.place for word, head in enumerate(heads, 1)):
            return -np.inf
        total = sum(float(self.arc_scores[self.place[head, word]]) for word, head in enumerate(heads, 1))
        for head in range(len(heads) + 1):
            for right in (False, True):
                total += self._score_side(heads, head, right)
        return total

    def _score_side(self, heads: Heads, head: int, right: bool) -> float:
        candidates = self.list_candidates(head, right)
        chosen = [i for i, m in enumerate(candidates) if heads[m - 1] == head]
        parent = self.list_parents(head).index(heads[head - 1]) if head else 0
        side, width = 2 * head + right, len(candidates) + 1
        total = 0.0
        for before, after in zip([0, *(i + 1 for i in chosen)], [*chosen, width - 1], strict=True):
            cell = before * width + after
            if self.siblings is not None:
                total += float(self.siblings[self.arcs.sibling_offsets[side] + cell])
            if self.grandsiblings is not None:
                begin = self.arcs.grandsibling_offsets[side] + parent * width * width
                total += float(self.grandsiblings[begin + cell])
        if self.grandparents is not None:
            modifiers = sorted(m for h, m in self.place if h == head)
            begin = self.arcs.grandparent_offsets[head] + parent * len(modifiers)
            total += sum(float(self.grandparents[begin + modifiers.index(candidates[i])]) for i in chosen)
        return total

    @property
    def native(self) -> TreeScores64:
        """The same for the kernels."""
        kinds = (self.arc_scores, self.siblings, self.grandparents, self.grandsiblings)
        return TreeScores64(self.arcs, *kinds)

    @property
    def native_single(self) -> TreeScores32:
        """The same in single precision."""

        def narrow(kind: NDArray[np.float64] | None) -> NDArray[np.float32] | None:
            return None if kind is None else kind.astype(np.float32)

        kinds = (narrow(self.siblings), narrow(self.grandparents), narrow(self.grandsiblings))
        return TreeScores32(self.arcs, self.arc_scores.astype(np.float32), *kinds)

    def read_heads(self, arc_of: NDArray[np.int32]) -> Heads:
        """Return the heads of a tree that is given by the arc into each word."""
        assert self.arcs.modifiers[arc_of].tolist() == list(range(1, self.arcs.words + 1))
        return tuple(self.arcs.heads[arc_of].tolist())

    def score_all(self, projective: bool, single_root: bool) -> Iterator[tuple[float, Heads]]:
        """Yield every tree with its score, those that are possible."""
        for heads in list_trees(self.arcs.words, projective, single_root):
            score = self.score(heads)
            if score > -np.inf:
                yield score, heads


def make_problem(
    random: np.random.Generator, words: int, *, order: str, share: float = 1.0, largest: int = 4
) -> TreeProblem:
    """Return a problem with small whole scores; ``order`` names its kinds: a, s, g, t (grandsiblings)."""
    pairs = [(h, m) for h in range(words + 1) for m in range(1, words + 1) if h != m]
    kept = [pair for pair in pairs if random.random() < share]
    heads, modifiers = (np.array([pair[i] for pair in kept], np.int32) for i in (0, 1))
    arcs = DependencyArcs(words, heads, modifiers)

    def draw(size: int) -> NDArray[np.float64]:
        scores = random.integers(-largest, largest + 1, size).astype(np.float64)
        scores[random.random(size) < 0.03] = -np.inf
        return scores

    return TreeProblem(
        arcs,
        draw(len(arcs)),
        draw(int(arcs.sibling_offsets[-1])) if "s" in order else None,
        draw(int(arcs.grandparent_offsets[-1])) if "g" in order else None,
        draw(int(arcs.grandsibling_offsets[-1])) if "t" in order else None,
    )
