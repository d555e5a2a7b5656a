"""Turns the arrays people have into what the kernels take, and says what is wrong with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certus import _native
from certus import checks as arrays
from certus.errors import InvalidInput
from certus.hypergraph.errors import Cyclic

MOST = 2**31 - 9  # nodes, edges, tails: what the kernels' numbers hold

_Fault = _native.ForestFault

Ints = NDArray[np.int64]


def as_indices(name: str, value: Any) -> Ints:
    """Return a one-dimensional int64 array of its own, so that nobody changes it afterwards."""
    array = np.asarray(value)
    if array.size and array.dtype.kind not in "iu":
        raise InvalidInput(f"{name} must hold whole numbers, not {array.dtype}")
    if array.ndim != 1:
        raise InvalidInput(f"{name} must be one-dimensional, not of shape {array.shape}")
    return np.array(array, np.int64, order="C")


def as_scores(scores: Any, edges: int, name: str = "scores") -> NDArray[Any]:
    """Return one float32 or float64 score for each edge, contiguous."""
    array = arrays.as_array(name, scores)
    if array.shape != (edges,):
        raise InvalidInput(f"{name} must have shape ({edges},), one for each edge, not {array.shape}")
    return np.ascontiguousarray(array) if array.flags.aligned else array.copy()


def as_goals(goal: Any) -> Ints:
    """Return one goal or several, none of them twice."""
    goals = as_indices("goal", np.atleast_1d(np.asarray(goal)))
    if goals.size == 0:
        raise InvalidInput("a hypergraph needs a goal: a node, or several")
    unique, counts = np.unique(goals, return_counts=True)
    if (counts > 1).any():
        raise InvalidInput(f"goal {int(unique[counts > 1][0])} is given twice; name each goal once")
    return goals


def as_names(what: str, given: Sequence[object] | None, count: int) -> tuple[Any, ...] | None:
    """Return one payload for each node or edge, or None."""
    if given is None:
        return None
    names = tuple(given)
    if len(names) != count:
        raise InvalidInput(f"{what} must hold one item for each of {count}, not {len(names)}")
    return names


def count_nodes(nodes: int | None, *parts: Ints) -> int:
    """Return how many nodes there are, if the user did not say: up to the highest that is named."""
    if nodes is None:
        return 1 + max((int(part.max()) for part in parts if part.size), default=-1)
    if isinstance(nodes, bool) or not isinstance(nodes, int | np.integer) or nodes < 1:
        raise InvalidInput(f"nodes is how many there are, at least 1, not {nodes!r}")
    return int(nodes)


def build_native(nodes: int, heads: Ints, offsets: Ints, tails: Ints, goals: Ints) -> _native.Forest:
    """Build the forest, or say what is wrong with its arrays."""
    if len(offsets) != len(heads) + 1:
        raise InvalidInput(
            f"offsets must have one item more than there are edges: {len(heads) + 1}, not {len(offsets)}; "
            "edge e has the tails tails[offsets[e]:offsets[e + 1]]"
        )
    if offsets[-1] != len(tails):
        raise InvalidInput(f"offsets end at {offsets[-1]}, but there are {len(tails)} tails")
    for what, size in (
        ("nodes", nodes),
        ("edges", len(heads) + len(goals)),
        ("tails", len(tails) + len(goals)),
    ):
        if size > MOST:
            raise InvalidInput(f"{size:,} {what} are more than a hypergraph can hold: {MOST:,}")
    forest = _native.Forest(nodes, heads, offsets, tails, goals)
    if forest.fault is not _Fault.NONE:
        _explain(forest.fault, forest.where, forest, nodes, heads, offsets, tails, goals)
    return forest


def _explain(
    fault: _native.ForestFault,
    where: int,
    forest: _native.Forest,
    nodes: int,
    heads: Ints,
    offsets: Ints,
    tails: Ints,
    goals: Ints,
) -> None:
    if fault is _Fault.CYCLE:
        raise Cyclic(forest.cycle)
    if fault is _Fault.OFFSETS:
        rule = "offsets start at 0 and never fall"
        raise InvalidInput(f"offsets[{where}] is {offsets[where]}; {rule}")
    rule = f"nodes go from 0 to {nodes - 1}"
    if fault is _Fault.HEAD:
        raise InvalidInput(f"heads[{where}] is {heads[where]}, but {rule}")
    if fault is _Fault.TAIL:
        edge = int(np.searchsorted(offsets, where, "right")) - 1
        raise InvalidInput(f"tails[{where}] (of edge {edge}) is {tails[where]}, but {rule}")
    raise InvalidInput(f"goal {goals[where]} does not exist: {rule}")
