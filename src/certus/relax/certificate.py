"""The certificate of a decomposition: multipliers, with branches where those of no single leaf suffice.

The search knows the optimum already; the certificate proves it anew, node by node. Each relaxation is
minimised once by the kernels, without fixing or branching of their own. What is fixed at a node is a part for
each variable, whose only structure is that value: so its multipliers are those of the leaf.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certus import _native
from certus.part import Part
from certus.relax.assembly import assemble, list_links
from certus.relax.layout import Layout
from certus.relax.optimizers import Auto
from certus.relax.tree_duals import find_duals, prove_impossible
from certus.verification import Certificate, CertificateError, Problem, certify, make_problem
from certus.verification.decompositions import bound_leaf, find_step
from certus.verification.errors import Refuted

MOST_NODES = 2000  # of a certificate's tree
CLOSE = 1e-9  # of the magnitude of scores: the gap that a leaf may leave

Fixed = dict[int, bool]


@dataclass(frozen=True, eq=False)
class Stated:
    """A decomposition in the terms of certificates.

    Attributes:
        problem: as plain data.
        relax: makes the relaxation for the kernels, with some variables fixed by parts of their own.
        copies: by part, the plain cell of each of its copies in the relaxation.
    """

    problem: Problem
    relax: Callable[[Fixed], _native.Relaxation]
    copies: Sequence[NDArray[np.int64]]


def describe_part(part: Part, name: str) -> dict[str, Any]:
    """Return a part as plain data; one that cannot be is refused by name."""
    state = getattr(part, "state_part", None)
    stated = state() if callable(state) else None
    if stated is None:
        raise CertificateError(
            f"there is no certificate with the part {name}: it does not state itself as plain data "
            "(state_part), so nobody else could maximise it"
        )
    described: dict[str, Any] = stated
    return described


def certify_whole(stated: Stated, answer: Any, target: float) -> Certificate:
    """Return the certificate that no whole scores more than ``target``; -inf: that none is possible."""
    return certify(stated.problem, answer, {"nodes": _Prover(stated, target).prove()})


class _Prover:
    """Builds the tree of branches."""

    def __init__(self, stated: Stated, target: float) -> None:
        self._stated, self._data = stated, stated.problem.data
        step = float(find_step(self._data))
        slack = CLOSE * (1 + abs(target)) if np.isfinite(target) else 0.0
        self._target = target + (step * 0.9 if step > slack else slack)
        links = np.concatenate([np.empty(0, np.int64), *(part["links"] for part in self._data["parts"])])
        self._shared = np.bincount(links, minlength=self._data["variables"]) > 1
        self._large = sum(
            part["weight"] * np.abs(x[np.isfinite(x)]).sum()
            for part in self._data["parts"]
            for x in part.values()
            if _is_score(x)
        )
        self._nodes: list[dict[str, Any]] = []

    def prove(self) -> list[dict[str, Any]]:
        """Go down from the root, depth first."""
        self._nodes.append({})
        waiting: list[tuple[int, Fixed]] = [(0, {})]
        while waiting:
            number, fixed = waiting.pop()
            leaf, doubt = self._try_leaf(fixed)
            if leaf is not None:
                self._nodes[number] = leaf
                continue
            if len(self._nodes) >= MOST_NODES:
                raise CertificateError(f"no certificate of at most {MOST_NODES} branches was found")
            variable = self._choose_variable(fixed, doubt)
            first = len(self._nodes)
            self._nodes[number] = {"variable": variable, "off": first, "on": first + 1}
            self._nodes += [{}, {}]
            waiting += [(first, fixed | {variable: False}), (first + 1, fixed | {variable: True})]
        return self._nodes

    def _try_leaf(self, fixed: Fixed) -> tuple[dict[str, Any] | None, NDArray[np.float64]]:
        """Return the leaf that closes a node, or None; and how undecided each variable is."""
        relaxation = self._stated.relax(fixed)
        limits = _native.SearchLimits(seconds=np.inf, nodes=1, tolerance=1e-12, tighten=False)
        relaxation.run(limits, Auto().native, None)
        doubt = self._find_doubt(relaxation.average)
        for given in (relaxation.multipliers, relaxation.best_multipliers):
            if len(given) and relaxation.bound > -np.inf:
                leaf = self._make_leaf(self._split(given))
                if self._bound(leaf, fixed) <= self._target:
                    return leaf, doubt
        pushes = self._push(fixed)
        if fixed and len(relaxation.multipliers):
            leaf = self._make_leaf(self._enforce(self._split(relaxation.multipliers), pushes))
            if self._bound(leaf, fixed) <= self._target:
                return leaf, doubt
        leaf = self._make_leaf(pushes, impossible=True)
        return leaf if self._bound(leaf, fixed) < 0 else None, doubt

    def _push(self, fixed: Fixed) -> list[list[float]]:
        """Return 1 for the cells of variables that are fixed on, -1 for those fixed off, by part."""
        value = {variable: 1.0 if on else -1.0 for variable, on in fixed.items()}
        return [[value.get(v, 0.0) for v in part["links"].tolist()] for part in self._data["parts"]]

    def _enforce(self, multipliers: list[list[float]], pushes: list[list[float]]) -> list[list[float]]:
        """Push cells that are fixed so hard that no part gains by breaking what is fixed.

        A part gains at most twice the scores and the other multipliers; a power of two, which adds exactly.
        """
        pairs = [list(zip(*rows, strict=True)) for rows in zip(multipliers, pushes, strict=True)]
        most = self._large + abs(self._target if np.isfinite(self._target) else 0.0)
        most += sum(abs(u) for row in pairs for u, push in row if not push)
        strength = float(2.0 ** np.ceil(np.log2(1 + 2 * most)))
        return [[strength * push if push else u for u, push in row] for row in pairs]

    def _bound(self, leaf: dict[str, Any], fixed: Fixed) -> float:
        try:
            bound = bound_leaf(self._data, leaf, fixed)
        except Refuted:
            return np.inf
        return -np.inf if bound is None else float(bound)

    def _split(self, multipliers: NDArray[np.float64]) -> list[list[float]]:
        """Return multipliers of copies by part, for all of its cells."""
        rows, begin = [], 0
        for part, cells in zip(self._data["parts"], self._stated.copies, strict=True):
            row = np.zeros(len(part["links"]))
            np.add.at(row, cells, multipliers[begin : begin + len(cells)])
            rows.append(row.tolist())
            begin += len(cells)
        return rows

    def _make_leaf(self, multipliers: list[list[float]], impossible: bool = False) -> dict[str, Any]:
        rows: list[list[float] | None] = [row if any(row) else None for row in multipliers]
        leaf: dict[str, Any] = {"multipliers": rows}
        if impossible:
            leaf["impossible"] = True
        duals = {
            str(p): _find_tree_duals(part, multipliers[p], impossible)
            for p, part in enumerate(self._data["parts"])
            if part["kind"] == "trees"
        }
        return {**leaf, "duals": duals} if duals else leaf

    def _find_doubt(self, average: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return for each variable how far its copies are from being decided, and from one another."""
        doubt, begin = np.zeros(self._data["variables"]), 0
        if len(average):
            for part, cells in zip(self._data["parts"], self._stated.copies, strict=True):
                own = average[begin : begin + len(cells)]
                np.add.at(doubt, part["links"][cells], own * (1 - own))
                begin += len(cells)
        return doubt

    def _choose_variable(self, fixed: Fixed, doubt: NDArray[np.float64]) -> int:
        free = self._shared.copy()
        free[list(fixed)] = False
        if not free.any():
            raise CertificateError("no certificate was found: nothing is left to branch on")
        return int(np.argmax(np.where(free, doubt, -1.0)))


def _is_score(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind == "f"


def _find_tree_duals(part: Mapping[str, Any], multipliers: list[float], impossible: bool) -> dict[str, Any]:
    """Return the duals of a part of trees under multipliers."""
    arcs, weight = part["arcs"].tolist(), Fraction(0 if impossible else part["weight"])
    width, single = len(arcs) + 1, bool(part["single_root"])
    scores = [
        [
            None if x == -np.inf else weight * Fraction(x) + Fraction(multipliers[d * width + h])
            for h, x in enumerate(row)
        ]
        for d, row in enumerate(arcs)
    ]
    return find_duals(scores, single) or prove_impossible(scores, single)


def state_whole(
    parts: Sequence[Part],
    names: Sequence[str],
    weights: Sequence[float],
    spaces: Sequence[dict[str, tuple[int, ...]]],
    layout: Layout,
) -> Stated:
    """Return the parts of a decomposition in the terms of certificates."""
    plain, copies, variables = [], [], len(layout.reserve)
    for part, name, weight, shapes, blocks in zip(parts, names, weights, spaces, layout.blocks, strict=True):
        links = list_links(part, shapes, blocks, layout)
        alone = links.variables < 0
        links.variables[alone] = variables + np.arange(alone.sum())
        variables += int(alone.sum())
        plain.append({**describe_part(part, name), "weight": weight, "links": links.variables})
        copies.append(links.copies)

    def relax(fixed: Fixed) -> _native.Relaxation:
        return assemble(parts, names, weights, spaces, layout, integral=False, fixed=fixed).relaxation

    return Stated(make_problem("decomposition", {"parts": plain, "variables": variables}), relax, copies)


def list_structure(value: Any) -> list[int]:
    """Return what a part chose as certificates have it: labels, heads, states or edges, or the cells used."""
    array = np.asarray(value)
    numbers: list[int] = (array if array.ndim == 1 else np.flatnonzero(array)).tolist()
    return numbers
