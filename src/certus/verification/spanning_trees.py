"""Dependency trees over arcs: potentials of words and of sets of words that bound every tree.

A certificate gives each word d a number y[d], some sets S of words a number z[S] >= 0 and, where exactly one
word hangs on the root, the root a number r, such that for every arc from h to d::

    score[h, d]  <=  y[d] - sum of z[S] over the sets S that the arc enters (d in S, h not in S)
                          + r, if h is the root

A tree has one arc into each word, at least one into each set (from the root its words are reached), and one
from the root where that is demanded. Added up over its arcs, it scores at most: sum of y - sum of z + r. That
is the bound (Edmonds 1967: with the best of such numbers it is met).

A proof that is ``impossible`` takes all scores of arcs that are allowed to be 0. Then every tree scores 0, so
a bound below 0 says that there is none.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from certus.verification.errors import CertificateError, Refuted
from certus.verification.exact import Exact, Grid, is_more, round_down
from certus.verification.findings import Findings
from certus.verification.shapes import read_float, read_floats, read_indices, read_list, take
from certus.verification.work import limit_steps

MOST_SETS = 2  # times the words: a family of nested sets has no more


def count_words(data: Mapping[str, Any]) -> int:
    """Return how many words there are; arcs of another shape are refused."""
    arcs = data["arcs"]
    if arcs.size == 0:
        return 0
    if arcs.shape != (len(arcs), len(arcs) + 1):
        raise CertificateError(f"arcs must have the shape (n, n + 1), the root first, not {arcs.shape}")
    return len(arcs)


def list_numbers(proof: Mapping[str, Any], words: int) -> list[float]:
    """Return all numbers of a proof."""
    sets = read_list("sets", take(proof, "sets", "the proof"))
    if len(sets) > MOST_SETS * words:
        raise CertificateError(f"{len(sets)} sets are more than {words} words can have, one in another")
    numbers = read_floats("words", take(proof, "words", "the proof"), words)
    own = [read_float("the number of a set", take(entry, "value", "a set")) for entry in sets]
    return [*numbers, *own, read_float("root", take(proof, "root", "the proof"))]


def check_duals(scores: list[list[Exact]], single_root: bool, proof: Mapping[str, Any], grid: Grid) -> Exact:
    """Return the bound that the numbers of a proof prove for arcs, (n, n + 1) on a grid."""
    words = len(scores)
    numbers = list_numbers(proof, words)
    lifted = [grid.lift(number) for number in numbers]
    if any(number is None for number in lifted):
        raise CertificateError("the numbers of words, sets and the root are finite")
    of_word, of_set, root = lifted[:words], lifted[words:-1], lifted[-1]
    if root and not (single_root and words):
        raise Refuted("the root has a number, but it need not have exactly one word")
    sets = [set(read_indices("a set", take(entry, "words", "a set"), words)) for entry in proof["sets"]]
    limit_steps("the sets of words", words * sum(map(len, sets)))
    if any(is_more(0, value) for value in of_set):
        raise Refuted("the number of a set is below zero")
    for d, row in enumerate(scores):
        entered = [(value, own) for value, own in zip(of_set, sets, strict=True) if d in own]
        for h, score in enumerate(row):
            if h == d + 1 or score is None:
                continue
            most = (of_word[d] or 0) + ((root or 0) if h == 0 else 0)
            most -= sum((value or 0) for value, own in entered if h - 1 not in own)
            if score > most:
                raise Refuted(f"the arc from {h} to word {d + 1} scores more than its words and sets allow")
    if any(not own for own in sets):
        raise Refuted("a set without words is entered by no arc")
    return sum(value or 0 for value in of_word) - sum(value or 0 for value in of_set) + (root or 0)


def check(data: Mapping[str, Any], answer: Any, proof: Mapping[str, Any]) -> Findings:
    """Check the numbers of a certificate; return the exact score of its answer and the bound."""
    words = count_words(data)
    rows = data["arcs"].tolist() if words else []
    for d, row in enumerate(rows):
        row[d + 1] = -math.inf  # no word is its own head
    grid = Grid((score for row in rows for score in row), list_numbers(proof, words))
    scores = [grid.lift_all(row) for row in rows]
    if proof.get("impossible"):
        free = [[None if score is None else 0 for score in row] for row in scores]
        if is_more(check_duals(free, bool(data["single_root"]), proof, grid), -1):
            raise Refuted("the proof that there is no tree leaves room for one")
        return Findings(grid.lower(find_score(scores, bool(data["single_root"]), answer)), None)
    bound = check_duals(scores, bool(data["single_root"]), proof, grid)
    bound = round_down(bound, (score for row in scores for score in row))
    return Findings(grid.lower(find_score(scores, bool(data["single_root"]), answer)), grid.lower(bound))


def find_score(scores: list[list[Exact]], single_root: bool, answer: Any) -> Exact:
    """Return the score of heads, of words that count from 1; 0 is the root."""
    words, total = len(scores), 0
    if answer is None:
        return None
    heads = read_list("the answer", answer)
    if len(heads) != words:
        raise Refuted(f"the answer has {len(heads)} heads, but there are {words} words")
    for d, h in enumerate(heads):
        score = scores[d][h] if isinstance(h, int) and not isinstance(h, bool) and 0 <= h <= words else None
        if score is None:
            raise Refuted(f"word {d + 1} cannot have the head {str(h)[:50]}")
        total += score
    if single_root and heads.count(0) != 1 and words:
        raise Refuted(f"{heads.count(0)} words hang on the root, not one")
    for d in range(words):
        at = d + 1
        for _ in range(words):
            at = heads[at - 1] if at else 0
        if at:
            raise Refuted(f"word {d + 1} does not hang on the root: its heads go in a circle")
    return total
