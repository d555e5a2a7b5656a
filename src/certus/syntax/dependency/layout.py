"""From dense arrays of scores to the flat tables of the kernels, over the arcs that are possible."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from certus import _native, checks
from certus.checks import Floats, Scores
from certus.errors import InvalidInput

_REMEMBERED = 100_000  # cells: of arrays up to this size, where they lie in a whole sentence is remembered
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
    """Return what the kernels read, gathered from the arrays that were given."""
    if not tables:
        return {}
    words = candidates.words
    every = len(candidates) == words * words
    flat = {}
    for name, array in tables.items():
        known = every and array.size <= _REMEMBERED
        cells = _index_all(words, name) if known else _index_cells(words, name, heads, modifiers)
        flat[name] = np.append(array.reshape(-1), array.dtype.type(0))[cells].astype(np.float64, copy=False)
    return flat


@lru_cache(16)
def _index_all(words: int, name: str) -> NDArray[np.int64]:
    """Return the cells of a sentence in which no arc is forbidden."""
    arcs = _native.DependencyArcs.all(words)
    return _index_cells(words, name, arcs.heads, arcs.modifiers)


def _index_cells(
    words: int, name: str, heads: NDArray[np.int32], modifiers: NDArray[np.int32]
) -> NDArray[np.int64]:
    """Return where each number of a flat table stands in the array that was given; -1 for none."""
    size = words + 1
    found = []
    for head in range(size):
        own = modifiers[heads == head].astype(np.int64)
        parents = heads[modifiers == head].astype(np.int64) if head else np.zeros(1, np.int64)
        if name == "grandparents":
            cells = (parents[:, None] * size + head) * size + own
            found.append((cells if head else np.full(cells.shape, -1)).reshape(-1))
            continue
        for outwards in (own[own < head][::-1], own[own > head]):
            cells = (head * size + np.append(0, outwards)[:, None]) * size + np.append(outwards, 0)
            if name == "grandsiblings":
                cells = parents[:, None, None] * size**3 + cells
            found.append(cells.reshape(-1))
    return np.concatenate(found)
