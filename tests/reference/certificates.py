"""Optima and the bounds of certificates the slow way: all structures are listed and scored in fractions.

Nothing here looks at how the checker does it: structures are enumerated, and what a proof is worth is the
largest value that any structure has under it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from certus.verification import Problem
from tests.reference.dependency import list_trees

Listed = list[tuple[Any, Fraction, tuple[int, ...]]]  # structures, with their scores and the cells they use


def list_structures(kind: str, data: Mapping[str, Any]) -> Listed:
    """Return all structures that are allowed."""
    found = []
    for structure, scores, cells in _LISTS[kind](data):
        if all(score > -math.inf for score in scores):
            found.append((structure, sum(map(Fraction, scores), Fraction(0)), tuple(cells)))
    return found


class Listing:
    """A problem with all of its structures; of a decomposition, those of each part, and all wholes.

    Attributes:
        parts: the data of each part, or of the problem itself.
        structures: of each part.
        wholes: what may be an answer, with its score.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem, self.data = problem, problem.data
        joint = problem.kind == "decomposition"
        self.parts = problem.data["parts"] if joint else [{"kind": problem.kind, **problem.data}]
        self.structures = [list_structures(part["kind"], part) for part in self.parts]
        self.wholes = self._combine() if joint else [(one, score) for one, score, _ in self.structures[0]]

    @property
    def optimum(self) -> Fraction | None:
        """The best score; None where nothing is possible."""
        return max((score for _, score in self.wholes), default=None)

    def _combine(self) -> list[tuple[Any, Fraction]]:
        """Go through the parts, and keep what agrees so far."""
        found: list[tuple[list[Any], Fraction, dict[int, bool]]] = [([], Fraction(0), {})]
        for part, listed in zip(self.parts, self.structures, strict=True):
            links, weight = part["links"].tolist(), Fraction(part["weight"])
            longer = []
            for (chosen, total, state), (one, score, cells) in itertools.product(found, listed):
                own = {variable: cell in cells for cell, variable in enumerate(links)}
                if all(state.get(variable, on) == on for variable, on in own.items()):
                    longer.append(([*chosen, one], total + weight * score, state | own))
            found = longer
        return [(chosen, total) for chosen, total, _ in found]


def _list_chain(data: Mapping[str, Any]) -> Iterator[tuple[Any, list[float], list[int]]]:
    emissions, transitions = data["emissions"], data["transitions"]
    length, labels = emissions.shape
    for path in itertools.product(range(labels), repeat=length):
        scores = [emissions[t, j] for t, j in enumerate(path)]
        for t, (i, j) in enumerate(itertools.pairwise(path)):
            scores.append(transitions[i, j] if transitions.ndim == 2 else transitions[t, i, j])
        ends = (("start", 0), ("end", -1)) if path else ()
        scores += [data[name][path[place]] for name, place in ends if name in data]
        yield list(path), scores, [t * labels + j for t, j in enumerate(path)]


def _list_ngrams(data: Mapping[str, Any]) -> Iterator[tuple[Any, list[float], list[int]]]:
    length, labels = data["emissions"].shape
    rows = itertools.pairwise(data["offsets"].tolist())
    weights = {
        tuple(data["sequences"][a:b].tolist()): weight
        for (a, b), weight in zip(rows, data["weights"].tolist(), strict=True)
    }
    tag = [labels + 1 + g for g in (*data["coarse"].tolist(), max(data["coarse"].tolist(), default=-1) + 1)]
    for path in itertools.product(range(labels), repeat=length):
        scores = [data["emissions"][t, y] for t, y in enumerate(path)]
        whole = (labels, *path, labels) if path else ()
        for t, m in itertools.product(range(1, len(whole)), range(1, data["order"] + 1)):
            ngram = whole[max(0, t - m) : t + 1]
            scores += [weights.get(ngram, 0.0), weights.get(tuple(tag[y] for y in ngram), 0.0)]
        yield list(path), scores, []


def _list_forest(data: Mapping[str, Any]) -> Iterator[tuple[Any, list[float], list[int]]]:
    used: dict[int, list[int]] = {edge: [] for edge in range(len(data["heads"]))}
    for edge, cell in zip(data.get("cell_edges", ()), data.get("cells", ()), strict=True):
        used[int(edge)].append(int(cell))
    for goal in data["goals"].tolist():
        for edges in _derive(data, goal):
            cells = [cell for edge in edges for cell in used[edge]]
            yield edges, [data["scores"][edge] for edge in edges], cells


def _derive(data: Mapping[str, Any], node: int) -> Iterator[list[int]]:
    for edge in (data["heads"] == node).nonzero()[0].tolist():
        tails = data["tails"][data["offsets"][edge] : data["offsets"][edge + 1]].tolist()
        for below in itertools.product(*(list(_derive(data, tail)) for tail in tails)):
            yield [edge, *itertools.chain.from_iterable(below)]


def _list_trees(data: Mapping[str, Any]) -> Iterator[tuple[Any, list[float], list[int]]]:
    words = len(data["arcs"])
    for heads in list_trees(words, False, bool(data["single_root"])):
        cells = [d * (words + 1) + h for d, h in enumerate(heads)]
        yield list(heads), [data["arcs"][d, h] for d, h in enumerate(heads)], cells


def _list_siblings(data: Mapping[str, Any]) -> Iterator[tuple[Any, list[float], list[int]]]:
    words = len(data["arcs"])
    arcs = [(m, h) for m in range(1, words + 1) for h in range(words + 1) if m != h]
    for size in range(len(arcs) + 1):
        for chosen in itertools.combinations(arcs, size):
            scores = [data["arcs"][m - 1, h] for m, h in chosen]
            for h in range(words + 1):
                own = [m for m, head in chosen if head == h]
                for row in (sorted((m for m in own if m < h), reverse=True), sorted(m for m in own if m > h)):
                    scores += [data["siblings"][h, s, m] for s, m in itertools.pairwise([words + 1, *row])]
            cells = [(m - 1) * (words + 1) + h for m, h in chosen]
            yield cells, scores, cells


def _list_table(data: Mapping[str, Any]) -> Iterator[tuple[Any, list[float], list[int]]]:
    shape, single = data["shape"].tolist(), data["single"].tolist()
    firsts = [0, *itertools.accumulate(1 if one else n for one, n in zip(single, shape, strict=True))]
    for place, entry in zip(itertools.product(*map(range, shape)), data["table"], strict=True):
        each = zip(place, single, firsts, strict=False)
        cells = [first + (0 if one else state) for state, one, first in each if state or not one]
        yield list(place), [entry, *(data["scores"][cell] for cell in cells)], cells


def _list_cells(data: Mapping[str, Any]) -> Iterator[tuple[Any, list[float], list[int]]]:
    count = len(data["scores"])
    for on in itertools.product([False, True], repeat=count):
        true = [a != bool(b) for a, b in zip(on, data["negated"], strict=True)]
        cells = [cell for cell in range(count) if on[cell]]
        if _accepts(data, true):
            yield cells, [data["scores"][cell] for cell in cells], cells


def _accepts(data: Mapping[str, Any], true: list[bool]) -> bool:
    if "least" in data:
        return bool(data["least"] <= sum(true) <= data["most"])
    if "weights" in data:
        return bool(sum(w for w, on in zip(data["weights"], true, strict=True) if on) <= data["capacity"])
    return any(true[:-1]) == true[-1]


_LISTS = {
    "chain": _list_chain,
    "ngrams": _list_ngrams,
    "forest": _list_forest,
    "trees": _list_trees,
    "siblings": _list_siblings,
    "table": _list_table,
    "count": _list_cells,
    "or-output": _list_cells,
    "knapsack": _list_cells,
}


# -- what a proof is worth ----------------------------------------------------------------------------------


def shows_bound(listing: Listing, proof: Mapping[str, Any], bound: Fraction | None) -> bool:
    """Whether a proof, well formed, shows that nothing exceeds a bound, by the letter of the definition."""
    kind = listing.problem.kind
    found = (
        _bound_decomposition(listing, proof)
        if kind == "decomposition"
        else _BOUNDS[kind](listing.data, proof)
    )
    if found is False or found is None:
        return found is None
    step = _find_step(listing)
    worth = found // step * step if step else found
    return bound is not None and worth <= bound


def _read(number: Any) -> Fraction | None:
    return None if number is None else Fraction(number)


def _bound_chain(data: Mapping[str, Any], proof: Mapping[str, Any]) -> Any:
    """Add up the largest value of each bracket, over all pairs; a dead label must be dead."""
    potentials = [[_read(p) for p in row] for row in proof["potentials"]]
    length, labels = data["emissions"].shape
    node = [[float(x) for x in row] for row in data["emissions"]]
    if length:
        node[0] = [x + (data["start"][j] if "start" in data else 0.0) for j, x in enumerate(node[0])]
        node[-1] = [x + (data["end"][j] if "end" in data else 0.0) for j, x in enumerate(node[-1])]
    brackets: list[list[Fraction]] = [[] for _ in range(length + 1)]
    for t, j in itertools.product(range(length), range(labels)):
        ahead = None if potentials[t][j] is None or node[t][j] == -math.inf else Fraction(node[t][j])
        for i in range(labels) if t else [0]:
            step = 0.0
            if t:
                step = (
                    data["transitions"][i, j]
                    if data["transitions"].ndim == 2
                    else data["transitions"][t - 1, i, j]
                )
            if ahead is None or step == -math.inf:
                continue
            if t and potentials[t - 1][i] is None:
                return False
            before = potentials[t - 1][i] if t else Fraction(0)
            brackets[t].append(ahead + Fraction(step) + potentials[t][j] - before)  # type: ignore[operator]
    if length:
        if any(p is None and node[-1][j] > -math.inf for j, p in enumerate(potentials[-1])):
            return False
        brackets[length] = [-p for p in potentials[-1] if p is not None]
    if any(not bracket for bracket in brackets[: length + 1 if length else 0]):
        return None
    return sum((max(bracket) for bracket in brackets if bracket), Fraction(0))


def _bound_forest(data: Mapping[str, Any], proof: Mapping[str, Any]) -> Any:
    inside = [_read(value) for value in proof["inside"]]
    for edge, score in enumerate(data["scores"].tolist()):
        below = [inside[v] for v in data["tails"][data["offsets"][edge] : data["offsets"][edge + 1]]]
        if score == -math.inf or None in below:
            continue
        head = inside[data["heads"][edge]]
        if head is None or Fraction(score) + sum(below) > head:
            return False
    return max((inside[goal] for goal in data["goals"] if inside[goal] is not None), default=None)


def _bound_trees(data: Mapping[str, Any], proof: Mapping[str, Any]) -> Any:
    free = bool(proof.get("impossible"))
    arcs = [
        [None if x == -math.inf else Fraction(0 if free else x) for x in row] for row in data["arcs"].tolist()
    ]
    found = _bound_arcs(arcs, bool(data["single_root"]), proof)
    return found if found is False or not free else None if found < 0 else False


def _bound_arcs(arcs: list[list[Fraction | None]], single_root: bool, proof: Mapping[str, Any]) -> Any:
    words, root = [Fraction(y) for y in proof["words"]], Fraction(proof["root"])
    sets = [(frozenset(entry["words"]), Fraction(entry["value"])) for entry in proof["sets"]]
    if any(value < 0 or not own for own, value in sets) or (root and not (single_root and arcs)):
        return False
    for d, row in enumerate(arcs):
        for h, score in enumerate(row):
            entered = sum(value for own, value in sets if d in own and h - 1 not in own)
            if h != d + 1 and score is not None and score > words[d] - entered + root * (h == 0):
                return False
    return sum(words) - sum(value for _, value in sets) + root


def _bound_decomposition(listing: Listing, proof: Mapping[str, Any]) -> Any:
    worth, waiting = [], [(0, dict[int, bool]())]
    while waiting:
        number, fixed = waiting.pop()
        node = proof["nodes"][number]
        if "variable" in node:
            if node["variable"] in fixed:
                return False
            waiting += [
                (node["off"], fixed | {node["variable"]: False}),
                (node["on"], fixed | {node["variable"]: True}),
            ]
            continue
        found = _bound_leaf(listing, node, fixed)
        if found is False or (node.get("impossible") and found is not None and found >= 0):
            return False
        if found is not None and not node.get("impossible"):
            worth.append(found)
    return max(worth, default=None)


def _bound_leaf(listing: Listing, node: Mapping[str, Any], fixed: Mapping[int, bool]) -> Any:
    sums = dict.fromkeys(range(listing.data["variables"]), Fraction(0))
    total, empty, free = Fraction(0), False, bool(node.get("impossible"))
    for p, part in enumerate(listing.parts):
        row = node["multipliers"][p]
        extra = [Fraction(0 if row is None else row[cell]) for cell in range(len(part["links"]))]
        for variable, u in zip(part["links"].tolist(), extra, strict=True):
            sums[variable] += u
        weight = Fraction(0 if free else part["weight"])
        if part["kind"] == "trees":
            width = len(part["arcs"]) + 1
            arcs = [
                [
                    None if x == -math.inf else weight * Fraction(x) + extra[d * width + h]
                    for h, x in enumerate(own)
                ]
                for d, own in enumerate(part["arcs"].tolist())
            ]
            best = _bound_arcs(arcs, bool(part["single_root"]), node["duals"][str(p)])
            if best is False:
                return False
        else:
            values = [
                weight * score + sum((extra[cell] for cell in cells), Fraction(0))
                for _, score, cells in listing.structures[p]
            ]
            best = max(values, default=None)
        empty, total = empty or best is None, total + (best or 0)
    if any(value and variable not in fixed for variable, value in sums.items()):
        return False
    return None if empty else total - sum(sums[variable] for variable, on in fixed.items() if on)


_BOUNDS = {
    "chain": _bound_chain,
    "forest": _bound_forest,
    "trees": _bound_trees,
}


def _find_step(listing: Listing) -> Fraction:
    """Return the greatest number of which every score is a multiple."""
    numbers = []
    for part in listing.parts:
        names = ("emissions", "transitions", "start", "end", "scores", "table", "arcs", "siblings")
        for name in names:
            for x in part[name].ravel().tolist() if name in part else ():
                if x > -math.inf:
                    numbers.append(Fraction(x) * Fraction(part.get("weight", 1.0)))
    unit = math.lcm(*(x.denominator for x in numbers)) if numbers else 1
    return Fraction(math.gcd(*(int(x * unit) for x in numbers)), unit)
