"""Random trees against enumeration: ``python -m tests.syntax.dependency.campaign 100000``.

Every problem has whole-numbered scores with ties and forbidden parts; it is solved with one root or several,
projective or not, under a model with any of siblings, grandparents and grandsiblings, and the answer, its
bound and its certificate, and the five best trees, are held against all trees of up to 7 words.
"""

from __future__ import annotations

import sys
from collections import Counter
from functools import lru_cache
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

import certus
from certus.syntax.dependency.solution import RankedTrees
from tests.reference.dependency import Heads, is_projective, is_tree

KINDS = ("", "s", "g", "sg", "t", "sgt")
AXES = {"siblings": 3, "grandparents": 3, "grandsiblings": 4}
NAMES = {"s": "siblings", "g": "grandparents", "t": "grandsiblings"}
LENGTHS = (1, 2, 3, 3, 4, 4, 4, 5, 5, 5, 5, 5, 5, 6, 6)  # how often sentences of each length are drawn
LONG = 7  # drawn once in a thousand
RANKED = 5  # how many of the best trees


class AllTrees:
    """All trees over some words: heads, their places and kinds, and the cells of each array that they use."""

    def __init__(self, words: int) -> None:
        self.heads = [heads for heads in _list_heads(words) if is_tree(heads)]
        self.place = {heads: place for place, heads in enumerate(self.heads)}
        self.projective = np.array([is_projective(heads) for heads in self.heads])
        self.single = np.array([heads.count(0) == 1 for heads in self.heads])
        parts = [_list_parts(heads) for heads in self.heads]
        widths = {name: max(len(part[name]) for part in parts) for name in parts[0]}
        self.cells = {
            name: np.array([part[name] + [-1] * (width - len(part[name])) for part in parts], np.int32)
            for name, width in widths.items()
        }

    def score(self, arrays: dict[str, Any]) -> NDArray[np.float64]:
        """Return the score of every tree."""
        total = np.zeros(len(self.heads))
        for name, array in arrays.items():
            total += np.append(array.reshape(-1), 0.0)[self.cells[name]].sum(axis=1)
        return total


def _list_heads(words: int) -> list[Heads]:
    grid = np.indices((words + 1,) * words).reshape(words, -1).T
    return [tuple(row) for row in grid[(grid != np.arange(1, words + 1)).all(axis=1)].tolist()]


def _list_parts(heads: Heads) -> dict[str, list[int]]:
    size = len(heads) + 1
    found: dict[str, list[int]] = {
        "arcs": [word * size + head for word, head in enumerate(heads)],
        **{name: [] for name in AXES},
    }
    for head in range(size):
        above = heads[head - 1] if head else 0
        own = [word for word, h in enumerate(heads, 1) if h == head]
        for side in ([word for word in own[::-1] if word < head], [word for word in own if word > head]):
            for before, after in zip([0, *side], [*side, 0], strict=True):
                cell = (head * size + before) * size + after
                found["siblings"].append(cell)
                found["grandsiblings"].append(above * size**3 + cell)
        if head:
            found["grandparents"] += [(above * size + head) * size + word for word in own]
    return found


all_trees = lru_cache(AllTrees)


def draw(random: np.random.Generator, words: int, kinds: str) -> dict[str, Any]:
    """Return scores from -3 to 3, some forbidden."""
    share = random.choice([0.0, 0.03, 0.2])

    def whole(*shape: int) -> NDArray[np.float64]:
        scores = random.integers(-3, 4, shape).astype(np.float64)
        scores[random.random(shape) < share] = -np.inf
        return scores

    arrays: dict[str, Any] = {"arcs": whole(words, words + 1)}
    for kind in kinds:
        arrays[NAMES[kind]] = whole(*(words + 1,) * AXES[NAMES[kind]])
    return arrays


def check(random: np.random.Generator, number: int) -> str | None:
    """Solve one problem; return what is wrong with the answer, if anything is."""
    words = LONG if number % 1000 == 999 else int(random.choice(LENGTHS))
    return check_scores(
        draw(random, words, str(random.choice(KINDS))),
        projective=bool(number % 2),
        single=bool(number // 2 % 2),
    )


def check_scores(arrays: dict[str, Any], *, projective: bool, single: bool) -> str | None:
    """Find the best trees under scores whose sums are exact; return what is wrong, if anything is."""
    trees = all_trees(len(arrays["arcs"]))
    scores = trees.score(arrays)
    allowed = (trees.projective | (not projective)) & (trees.single | (not single)) & (scores > -np.inf)
    solver = certus.Trees(projective=projective, single_root=single)
    best = solver.decode(infeasible="return", **arrays)
    if not allowed.any():
        return None if best.status is certus.Status.INFEASIBLE else "a tree where there is none"
    top = scores[allowed].max()
    if not best.optimal:
        return f"not proven: {best}"
    if best.bound != top or best.score != top:
        return f"wrong certificate: {best.score}, {best.bound} instead of {top}"
    scores = np.where(allowed, scores, -np.inf)
    if scores[trees.place[tuple(best.heads.tolist())]] != top:
        return "the tree does not score what it claims"
    return find_fault(solver.decode(k=RANKED, **arrays), trees, scores)


def find_fault(ranked: RankedTrees, trees: AllTrees, scores: NDArray[np.float64]) -> str | None:
    """Return what is wrong with a list of the best trees, given the scores of all; None if nothing is."""
    count = int((scores > -np.inf).sum())
    if ranked.scores.tolist() != np.sort(scores)[::-1][: min(RANKED, count)].tolist():
        return f"wrong list: {ranked.scores}"
    places = [trees.place[tuple(tree.heads.tolist())] for tree in ranked]
    if len(set(places)) < len(places) or ranked.exhausted != (count <= RANKED):
        return "a tree twice in a list, or a list that goes on"
    if not all(
        tree.optimal and tree.score == scores[place] for tree, place in zip(ranked, places, strict=True)
    ):
        return "a tree of a list that is not proven, or does not score what it claims"
    return None


def main(count: int, seed: int) -> int:
    """Run the campaign; print what was found."""
    random = np.random.default_rng(seed)
    faults: Counter[str] = Counter()
    began = perf_counter()
    for number in range(count):
        fault = check(random, number)
        if fault:
            faults[fault.split(":")[0]] += 1
            print(f"problem {number} of seed {seed}: {fault}", flush=True)
    print(f"{count} problems, {sum(faults.values())} faults {dict(faults)}, {perf_counter() - began:.0f} s")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0))
