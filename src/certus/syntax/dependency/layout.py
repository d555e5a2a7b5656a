"""From dense arrays of scores to the flat tables of the kernels, over the arcs that are possible."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from certus import _native, checks
from certus.checks import Floats, Scores
from certus.errors import InvalidInput

LARGEST = 1e100  # of a score: sums of a sentence's scores, and what multipliers make of them, stay in range


def read_arcs(arcs: Scores) -> Floats:
    """Return checked scores of arcs, (n, n + 1) in C order, with -inf for a word as its own head."""
    scores = checks.as_array("arcs", arcs)
    if scores.ndim != 2 or scores.shape[1] != scores.shape[0] + 1:
        if scores.size == 0 and scores.ndim < 2:
            return np.empty((0, 1))
        raise InvalidInput(f"arcs must have the shape (n, n + 1), the root first, not {scores.shape}")
    words = np.arange(len(scores))
    clean = np.array(scores, scores.dtype, order="C")
    clean[words, words + 1] = -np.inf
    check_scores("arcs", clean)
    return clean


def read_parts(name: str, scores: Scores | None, words: int, axes: int) -> Floats | None:
    """Return checked scores of parts, with an axis of n + 1 for each word of a part."""
    if scores is None:
        return None
    array = checks.as_array(name, scores)
    shape = (words + 1,) * axes
    if array.shape != shape:
        raise InvalidInput(f"{name} must have the shape {shape} for {words} words, not {array.shape}")
    check_scores(name, array)
    return array


def check_scores(name: str, scores: Floats) -> None:
    """Refuse NaN, +inf and numbers that do not add up, naming the position; -inf forbids."""
    largest = min(LARGEST, float(np.finfo(scores.dtype).max))
    bad = ~((scores == -np.inf) | (np.abs(scores) <= largest))
    if not bad.any():
        return
    where = tuple(int(i) for i in np.argwhere(bad)[0])
    if not np.isfinite(scores[where]):
        checks.refuse(name, where, scores)
    place = ", ".join(map(str, where))
    raise InvalidInput(
        f"{name}[{place}] is {float(scores[where]):g}, too large to add up: scale the scores down, and "
        "forbid by -inf instead of a number"
    )


def lay_out(
    arcs: Floats, siblings: Floats | None, grandparents: Floats | None, grandsiblings: Floats | None
) -> tuple[_native.DependencyArcs, _native.TreeScores64]:
    """Return the arcs that are not forbidden, and all scores in their layout."""
    words = len(arcs)
    by_head = arcs.T
    heads, modifiers = (index.astype(np.int32) for index in np.nonzero(by_head > -np.inf))
    modifiers += 1
    candidates = _native.DependencyArcs(words, heads, modifiers)
    given = {"siblings": siblings, "grandparents": grandparents, "grandsiblings": grandsiblings}
    tables = {name: array for name, array in given.items() if array is not None}
    flat = _fill_tables(candidates, heads, modifiers, tables)
    scores = _native.TreeScores64(
        candidates,
        np.ascontiguousarray(arcs[modifiers - 1, heads], np.float64),
        flat.get("siblings"),
        flat.get("grandparents"),
        flat.get("grandsiblings"),
    )
    return candidates, scores


def _fill_tables(
    candidates: _native.DependencyArcs,
    heads: NDArray[np.int32],
    modifiers: NDArray[np.int32],
    tables: Mapping[str, Floats],
) -> dict[str, NDArray[np.float64]]:
    if not tables:
        return {}
    offsets = {
        "siblings": candidates.sibling_offsets,
        "grandparents": candidates.grandparent_offsets,
        "grandsiblings": candidates.grandsibling_offsets,
    }
    flat = {name: np.empty(int(offsets[name][-1])) for name in tables}
    for head in range(candidates.words + 1):
        here, own = np.array([head]), modifiers[heads == head]
        parents = heads[modifiers == head] if head else np.zeros(1, np.int32)
        if "grandparents" in tables:
            cells = tables["grandparents"][np.ix_(parents, here, own)]
            _fill(flat, "grandparents", offsets, head, cells if head else np.zeros(cells.shape))
        for right, outwards in enumerate((own[own < head][::-1], own[own > head])):
            before, after = np.append(0, outwards), np.append(outwards, 0)
            side = 2 * head + right
            if "siblings" in tables:
                _fill(flat, "siblings", offsets, side, tables["siblings"][np.ix_(here, before, after)])
            if "grandsiblings" in tables:
                cells = tables["grandsiblings"][np.ix_(parents, here, before, after)]
                _fill(flat, "grandsiblings", offsets, side, cells)
    return flat


def _fill(
    flat: Mapping[str, NDArray[np.float64]],
    name: str,
    offsets: Mapping[str, NDArray[np.int64]],
    place: int,
    cells: Floats,
) -> None:
    begin, end = offsets[name][place : place + 2]
    flat[name][begin:end] = cells.reshape(-1)
