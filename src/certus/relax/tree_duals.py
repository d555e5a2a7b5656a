"""The duals of spanning trees: numbers of words and of sets of words that prove the best tree, exactly.

Edmonds' algorithm in whole numbers: each word takes its best arc; words whose arcs go in a circle become one
set, which takes its best arc from outside. What every arc into a word or a set loses by that, the score of
the best one, is its dual (Edmonds 1967; Fulkerson 1974).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from fractions import Fraction
from typing import Any, TypeAlias

LARGE = 1 << 20  # what the root loses, from where on less is tried
Scores: TypeAlias = "list[list[int | None]]"  # (n, n + 1), the root first; None forbids


def find_duals(arcs: list[list[Fraction | None]], single_root: bool) -> dict[str, Any] | None:
    """Return the proof of the best tree, as certificates have it; None where there is no tree.

    Args:
        arcs: (n, n + 1) of each head for each word, the root first; None forbids. A word's own is ignored.
        single_root: whether exactly one word hangs on the root.
    """
    unit = math.lcm(*(score.denominator for row in arcs for score in row if score is not None))
    scores: Scores = [
        [None if score is None or h == d + 1 else int(score * unit) for h, score in enumerate(row)]
        for d, row in enumerate(arcs)
    ]
    root = _find_root_number(scores, unit) if single_root and scores else 0
    found = _contract(scores, root)
    return None if found is None else _write(found, Fraction(root, unit), unit)


def prove_impossible(arcs: list[list[Fraction | None]], single_root: bool) -> dict[str, Any]:
    """Return the proof that there is no tree: duals of scores that are 0 wherever an arc is allowed."""
    scores: Scores = [
        [None if score is None or h == d + 1 else 0 for h, score in enumerate(row)]
        for d, row in enumerate(arcs)
    ]
    dead = _find_unreached(scores)
    if dead:
        sets = [{"words": dead, "value": 1.0}]
        return {"words": [0.0] * len(arcs), "sets": sets, "root": 0.0, "impossible": True}
    found = _contract(scores, 1 if single_root else 0)
    assert found is not None
    return {**_write(found, Fraction(1 if single_root else 0), 1), "impossible": True}


def _find_root_number(scores: Scores, unit: int) -> int:
    """Return what an arc from the root has to lose so that no best tree has two of them.

    Where forbidding scores make that large, the least power of two that bounds trees as well: rounding takes
    less from smaller duals.
    """
    finite = [score for row in scores for score in row if score is not None]
    enough = (max(finite, default=0) - min(finite, default=0)) * len(scores) + 1
    best = _bound_trees(scores, enough) if enough > LARGE * unit else None
    if best is None:
        return enough
    powers = range(enough.bit_length())
    power = bisect_left(powers, True, key=lambda power: _bound_trees(scores, 1 << power) == best)
    return min(enough, 1 << power)


def _bound_trees(scores: Scores, root: int) -> int | None:
    """Return the score of the best tree where all but one of the arcs from the root lose ``root``."""
    found = _contract(scores, root)
    return None if found is None else root + sum(most for _, most in found)


def _contract(scores: Scores, root: int) -> list[tuple[list[int], int]] | None:
    """Return sets of words with what all arcs into them lose; None where one is reached by no arc."""
    left = [[None if x is None else x - root * (h == 0) for h, x in enumerate(row)] for row in scores]
    of_word: dict[int, int] = {d: d for d in range(len(left))}  # its set
    members = {d: [d] for d in of_word}
    head_of: dict[int, int] = {}  # of a set: the word it hangs on, -1 for the root
    duals, waiting = [], list(of_word)
    while waiting:
        own = waiting.pop()
        words = set(members[own])
        arcs = [
            (x, h, d) for d in words for h, x in enumerate(left[d]) if x is not None and h - 1 not in words
        ]
        if not arcs:
            return None
        most, head, _ = max(arcs)
        duals.append((sorted(words), most))
        for x, h, d in arcs:
            left[d][h] = x - most
        head_of[own] = head - 1
        circle = _find_circle(own, head_of, of_word)
        if circle:
            new = len(left) + len(duals)
            members[new] = [word for each in circle for word in members[each]]
            of_word.update(dict.fromkeys(members[new], new))
            waiting.append(new)
    return duals


def _find_circle(own: int, head_of: dict[int, int], of_word: dict[int, int]) -> list[int]:
    """Return the sets on the way from a set to itself, if heads lead back to it."""
    way, at = [own], own
    while at in head_of and head_of[at] >= 0:
        at = of_word[head_of[at]]
        if at == own:
            return way
        way.append(at)
    return []


def _find_unreached(scores: Scores) -> list[int]:
    """Return the words that no arcs connect with the root."""
    reached, waiting = set[int](), [0]
    while waiting:
        head = waiting.pop()
        new = [d for d, row in enumerate(scores) if row[head] is not None and d not in reached]
        reached.update(new)
        waiting.extend(d + 1 for d in new)
    return [d for d in range(len(scores)) if d not in reached]


def _write(duals: list[tuple[list[int], int]], root: Fraction, unit: int) -> dict[str, Any]:
    """Return duals as floats: those of words rounded up, those of sets down, so that they still hold."""
    words = [0.0] * sum(len(own) == 1 for own, _ in duals)
    sets = []
    for own, value in duals:
        if len(own) == 1:
            words[own[0]] = round_up(Fraction(value, unit))
        elif value:
            sets.append({"words": own, "value": -round_up(Fraction(value, unit))})
    return {"words": words, "sets": sets, "root": round_up(root)}


def round_up(number: Fraction) -> float:
    """Return the least float that is not below a number."""
    near = float(number)
    return math.nextafter(near, math.inf) if Fraction(near) < number else near
