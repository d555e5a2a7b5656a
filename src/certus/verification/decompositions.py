"""Decompositions: multipliers, with a tree of branches, that bound every whole.

A whole is a structure of each part such that cells with the same variable are all used or all not used; it
scores the sum of its parts' scores, each times the part's weight. A leaf of the tree gives every cell a
multiplier u; those of a variable sum to m[v]::

    score of a whole = sum over parts of (weight * score + u of the cells used)
                       - sum over variables v that are on of m[v]

A variable that is not fixed at the leaf must have m[v] = 0, and one that is fixed to be off adds nothing. So
among the wholes of the leaf none scores more than the sum of each part's own maximum, less the sum of m[v]
over those fixed to be on. An inner node fixes a variable, off in one child and on in the other: every whole
is in one of the leaves, and the largest of their bounds is a bound.

A leaf that is ``impossible`` takes all scores that are allowed to be 0: then each whole in it scores 0, so a
bound below 0 says that there is none.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from certus.verification.errors import CertificateError, Refuted
from certus.verification.exact import Exact, Grid, add
from certus.verification.findings import Findings
from certus.verification.parts import KINDS, Lifter, PlainPart
from certus.verification.shapes import read_floats, read_index, read_list, take
from certus.verification.work import limit_steps


@dataclass(frozen=True)
class Leaf:
    """A leaf of the tree: what is fixed there, and its multipliers by part."""

    number: int
    fixed: dict[int, bool]
    multipliers: list[list[float]]
    duals: Mapping[str, Any]
    impossible: bool


def check(data: Mapping[str, Any], answer: Any, proof: Mapping[str, Any]) -> Findings:
    """Check every leaf of a certificate; return the exact score of its answer and the bound."""
    parts = _read_parts(data)
    nodes = read_list("nodes", take(proof, "nodes", "the proof"))
    leaves = sum(not isinstance(node, Mapping) or "variable" not in node for node in nodes)
    limit_steps(f"the tree of {len(nodes)} nodes", leaves * sum(part.count_steps() for part in parts))
    linked = {variable for part in data["parts"] for variable in part["links"].tolist()}
    score = _find_score(data, parts, answer)
    bound: Fraction | None = None
    for leaf in _list_leaves(nodes, [part.cells for part in parts], linked):
        own = _bound(data, parts, leaf)
        if own is None:
            continue
        if leaf.impossible and own >= 0:
            raise Refuted(f"node {leaf.number} says that nothing is possible there, but does not show it")
        if not leaf.impossible and (bound is None or own > bound):
            bound = own
    step = find_step(data)
    return Findings(score, bound if bound is None or step == 0 else bound // step * step)


def bound_leaf(data: Mapping[str, Any], node: Any, fixed: dict[int, bool]) -> Fraction | None:
    """Return the bound of one leaf; of one that is impossible, on what scores 0."""
    parts = _read_parts(data)
    return _bound(data, parts, _read_leaf(0, node, fixed, [part.cells for part in parts]))


def find_step(data: Mapping[str, Any]) -> Fraction:
    """Return a number of which the scores of all wholes are multiples; 0 where all are 0."""
    parts, weights = _read_parts(data), _lift_weights(data)
    grid = Grid(*(part.list_numbers() for part in parts))
    each = (
        Lifter(grid, weights.count(given)).lift_all(part.list_numbers())
        for part, given in zip(parts, data["parts"], strict=True)
    )
    step = math.gcd(*(number for numbers in each for number in numbers if number is not None))
    return Fraction(step, grid.denominator * weights.denominator)


def _read_parts(data: Mapping[str, Any]) -> list[PlainPart]:
    parts = [KINDS[part["kind"]](part) for part in data["parts"]]
    for number, (part, given) in enumerate(zip(parts, data["parts"], strict=True)):
        links = given["links"]
        if len(links) != part.cells or any(not 0 <= v < data["variables"] for v in links.tolist()):
            raise CertificateError(
                f"links of part {number} must name a variable for each of its {part.cells} cells"
            )
        if not given["weight"] > 0:
            raise CertificateError(f"the weight of part {number} must be above zero")
    return parts


def _list_leaves(nodes: list[Any], cells: list[int], linked: set[int]) -> Iterator[Leaf]:
    """Walk the tree from its root; every node has to be reached once."""
    seen = 0
    fixed: dict[int, bool] = {}  # on the way to the present node, in the order of the way
    open_nodes: list[tuple[Any, int, int, bool]] = [(0, 0, -1, False)]  # node, depth, what leads to it
    while open_nodes:
        number, depth, before, on = open_nodes.pop()
        while len(fixed) >= max(depth, 1):
            fixed.popitem()
        if depth:
            fixed[before] = on
        node = nodes[read_index("a node", number, len(nodes))]
        seen += 1
        if seen > len(nodes):
            raise CertificateError("the tree of branches reaches a node twice")
        if isinstance(node, Mapping) and "variable" in node:
            variable = read_index("the variable of a node", node["variable"], 2**62)
            if variable not in linked:
                raise CertificateError(f"node {number} fixes variable {variable}, which no part has")
            if variable in fixed:
                raise Refuted(f"node {number} fixes variable {variable} again")
            for name, side in (("off", False), ("on", True)):
                open_nodes.append((take(node, name, f"node {number}"), depth + 1, variable, side))
        else:
            yield _read_leaf(number, node, dict(fixed), cells)


def _read_leaf(number: int, node: Any, fixed: dict[int, bool], cells: list[int]) -> Leaf:
    rows = read_list("multipliers", take(node, "multipliers", f"node {number}"), len(cells))
    multipliers = [
        [0.0] * size if row is None else read_floats(f"multipliers of part {p}", row, size)
        for p, (row, size) in enumerate(zip(rows, cells, strict=True))
    ]
    if any(u == float("-inf") for row in multipliers for u in row):
        raise CertificateError(f"node {number} has a multiplier that is no number")
    duals = node.get("duals", {})
    if not isinstance(duals, Mapping):
        raise CertificateError(f"node {number} has duals that are no object")
    return Leaf(number, fixed, multipliers, duals, bool(node.get("impossible")))


class _Weights(Grid):
    """The weights of parts as whole numbers."""

    def count(self, part: Mapping[str, Any]) -> int:
        """Return how many units a part's scores count."""
        return self.lift(part["weight"]) or 0


def _lift_weights(data: Mapping[str, Any]) -> _Weights:
    return _Weights(part["weight"] for part in data["parts"])


def _bound(data: Mapping[str, Any], parts: list[PlainPart], leaf: Leaf) -> Fraction | None:
    weights = _lift_weights(data)
    duals = [leaf.duals.get(str(p)) for p in range(len(parts))]
    grid = Grid(
        *(part.list_numbers() for part in parts),
        *leaf.multipliers,
        *(part.list_dual_numbers(own) for part, own in zip(parts, duals, strict=True)),
    )
    unit = Lifter(grid, weights.denominator)  # multipliers count as much as scores of weight 1
    totals: defaultdict[int, int] = defaultdict(int)
    maxima: list[Exact] = []
    for part, given, own, row in zip(parts, data["parts"], duals, leaf.multipliers, strict=True):
        part.lift(Lifter(grid, 0 if leaf.impossible else weights.count(given)))
        extra = [unit.lift(u) or 0 for u in row]
        for variable, u in zip(given["links"].tolist(), extra, strict=True):
            totals[variable] += u
        maxima.append(part.maximize(extra, own, unit))
    for variable, total in totals.items():
        if total and variable not in leaf.fixed:
            raise Refuted(f"at node {leaf.number} the multipliers of variable {variable} do not sum to zero")
    bound = add(*maxima, *(-totals[variable] for variable, on in leaf.fixed.items() if on))
    return None if bound is None else Fraction(bound, grid.denominator * weights.denominator)


def _find_score(data: Mapping[str, Any], parts: list[PlainPart], answer: Any) -> Fraction | None:
    if answer is None:
        return None
    weights, grid = _lift_weights(data), Grid(*(part.list_numbers() for part in parts))
    found = []
    for part, given, structure in zip(
        parts, data["parts"], read_list("the answer", answer, len(parts)), strict=True
    ):
        part.lift(Lifter(grid, weights.count(given)))
        found.append(part.read(structure))
    _check_agreement(data, [used for _, used in found])
    total = add(*(score for score, _ in found))
    if total is None:
        raise Refuted("the answer is forbidden: some part's structure scores -inf")
    return Fraction(total, grid.denominator * weights.denominator)


def _check_agreement(data: Mapping[str, Any], used: list[set[int]]) -> None:
    state: dict[int, bool] = {}
    for p, (own, given) in enumerate(zip(used, data["parts"], strict=True)):
        for cell, variable in enumerate(given["links"].tolist()):
            if state.setdefault(variable, cell in own) != (cell in own):
                raise Refuted(f"the answer's parts do not agree: part {p} differs on variable {variable}")
