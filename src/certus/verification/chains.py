"""Chains: potentials that bound every label sequence.

A certificate gives each label j at each position t a potential p[t][j]. Along any label sequence y they
cancel, so that its score is::

    (emission[0][y0] + p[0][y0])
        + sum over t >= 1 of (step[t][y(t-1)][yt] + emission[t][yt] + p[t][yt] - p[t-1][y(t-1)])
        + (-p[T-1][y(T-1)])

and no more than the sum of the largest value that each bracket can have: that is the bound. A potential of
-inf says that no sequence goes on from there, which is checked backwards from the end. Start and end scores
are added to the emissions of the first and the last position.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from certus.verification.errors import CertificateError, Refuted
from certus.verification.exact import Exact, Grid, add, find_largest, round_down
from certus.verification.findings import Findings
from certus.verification.shapes import read_floats, read_list, take
from certus.verification.work import limit_steps


@dataclass(frozen=True)
class ChainScores:
    """The scores of a chain on a grid.

    Attributes:
        nodes: (T, L) emissions, with start and end added.
        steps: (T - 1, L, L) [from][to]; the same list T - 1 times where transitions are shared.
        distinct: all scores, each once.
    """

    nodes: list[list[Exact]]
    steps: list[list[list[Exact]]]
    distinct: list[Exact]


def list_numbers(data: Mapping[str, Any]) -> list[float]:
    """Return all scores of a chain."""
    names = ("emissions", "transitions", "start", "end")
    return [number for name in names if name in data for number in data[name].ravel().tolist()]


def read_scores(data: Mapping[str, Any], grid: Grid) -> ChainScores:
    """Return the scores of a chain on a grid; what does not fit together is refused."""
    emissions, transitions = data["emissions"], data["transitions"]
    length, labels = emissions.shape
    shape = transitions.shape
    each = (shape[0] if length == 0 else length - 1, labels, labels)  # without positions, any number
    if shape not in ((labels, labels), each):
        raise CertificateError(f"transitions of {length} x {labels} emissions cannot have the shape {shape}")
    nodes = [grid.lift_all(row) for row in emissions.tolist()]
    distinct = [number for row in nodes for number in row]
    matrices = [
        [grid.lift_all(row) for row in matrix] for matrix in transitions.reshape(-1, labels, labels).tolist()
    ]
    distinct += [number for matrix in matrices for row in matrix for number in row]
    for name, place in (("start", 0), ("end", -1)):
        if name in data:
            extra = grid.lift_all(data[name].tolist())
            if len(extra) != labels:
                raise CertificateError(f"{name} must have {labels} scores, not {len(extra)}")
            distinct += extra
            if length:
                nodes[place] = [add(a, b) for a, b in zip(nodes[place], extra, strict=True)]
    steps = matrices if transitions.ndim == 3 else matrices * max(length - 1, 0)
    return ChainScores(nodes, steps, distinct)


def check(data: Mapping[str, Any], answer: Any, proof: Mapping[str, Any]) -> Findings:
    """Check the potentials of a certificate; return the exact score of its answer and the bound."""
    length, labels = data["emissions"].shape
    limit_steps("the chain", length * labels**2)
    rows = read_list("potentials", take(proof, "potentials", "the proof"), length)
    potentials = [read_floats(f"potentials[{t}]", row, labels) for t, row in enumerate(rows)]
    grid = Grid(list_numbers(data), (number for row in potentials for number in row))
    scores = read_scores(data, grid)
    lifted = [grid.lift_all(row) for row in potentials]
    bound = round_down(_find_bound(scores, lifted), scores.distinct)
    return Findings(grid.lower(find_score(scores, answer)), grid.lower(bound))


def _find_bound(scores: ChainScores, potentials: list[list[Exact]]) -> Exact:
    nodes, length = scores.nodes, len(scores.nodes)
    if length == 0:
        return 0
    total = find_largest(map(add, nodes[0], potentials[0]))
    for t in range(1, length):
        entering = [(j, add(nodes[t][j], p)) for j, p in enumerate(potentials[t])]
        reached = [(j, value) for j, value in entering if value is not None]
        total = add(total, _find_largest_step(t, scores.steps[t - 1], reached, potentials[t - 1]))
    for j, (node, potential) in enumerate(zip(nodes[-1], potentials[-1], strict=True)):
        if node is not None and potential is None:
            raise Refuted(f"potentials[{length - 1}][{j}] says that no sequence ends there, but one does")
    return add(total, find_largest(None if p is None else -p for p in potentials[-1]))


def _find_largest_step(
    t: int, step: list[list[Exact]], reached: list[tuple[int, int]], before: list[Exact]
) -> Exact:
    """Return the largest value of a bracket: from the labels before position t to those at t."""
    best: Exact = None
    for i, row in enumerate(step):
        values = [value + own for j, value in reached if (own := row[j]) is not None]
        potential = before[i]
        if potential is None:
            if values:
                raise Refuted(
                    f"potentials[{t - 1}][{i}] says that nothing goes on from there, but something does"
                )
        elif values:
            own = max(values) - potential
            best = own if best is None or own > best else best
    return best


def find_score(scores: ChainScores, answer: Any) -> Exact:
    """Return the score of a label sequence, None for no answer; one that cannot be is refuted."""
    if answer is None:
        return None
    length = len(scores.nodes)
    labels = read_list("the answer", answer)
    if len(labels) != length:
        raise Refuted(f"the answer has {len(labels)} labels, but there are {length} positions")
    for t, label in enumerate(labels):
        if isinstance(label, bool) or not isinstance(label, int) or not 0 <= label < len(scores.nodes[t]):
            raise Refuted(f"the answer has no label at position {t}: {str(label)[:50]}")
    found = add(*(scores.nodes[t][j] for t, j in enumerate(labels)))
    found = add(found, *(scores.steps[t][i][j] for t, (i, j) in enumerate(itertools.pairwise(labels))))
    if found is None:
        raise Refuted("the answer is forbidden: some score on its way is -inf")
    return found


def maximize(data: Mapping[str, Any], scores: ChainScores, extra: list[int]) -> Exact:
    """Return the best score of any label sequence plus ``extra``, (T * L,), by plain dynamic programming."""
    labels = data["emissions"].shape[1]
    best: list[Exact] = []
    for t, node in enumerate(scores.nodes):
        own = [add(score, extra[t * labels + j]) for j, score in enumerate(node)]
        if t:
            step = scores.steps[t - 1]
            ways = [find_largest(add(best[i], step[i][j]) for i in range(labels)) for j in range(labels)]
            own = [add(a, b) for a, b in zip(own, ways, strict=True)]
        best = own
    return find_largest(best) if scores.nodes else 0
