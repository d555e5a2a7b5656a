"""Packed forests: inside values that bound every derivation.

A certificate gives each node v a value I[v], such that for every edge e::

    score[e] + sum of I[v] over its tails v  <=  I[head of e]

Then no derivation of a node scores more than the node's value: by induction over the derivation, from its
leaves. So the largest value of a goal is a bound. A value of -inf says that a node has no derivation.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from certus.verification.errors import CertificateError, Refuted
from certus.verification.exact import Exact, Grid, add, find_largest, is_more, round_down
from certus.verification.findings import Findings
from certus.verification.shapes import read_floats, take


def list_tails(data: Mapping[str, Any]) -> list[list[int]]:
    """Return the tails of each edge; a forest that does not fit together is refused."""
    heads, offsets, tails = (data[name].tolist() for name in ("heads", "offsets", "tails"))
    nodes = data["nodes"]
    if len(data["scores"]) != len(heads) or len(offsets) != len(heads) + 1 or offsets[0] != 0:
        raise CertificateError("a forest has a score and a head for each edge, and offsets from 0 on")
    if offsets[-1] != len(tails) or any(a > b for a, b in itertools.pairwise(offsets)):
        raise CertificateError(f"offsets must never fall and end at {len(tails)}, the number of tails")
    if any(not 0 <= node < nodes for node in [*heads, *tails, *data["goals"].tolist()]):
        raise CertificateError(f"nodes of the forest go from 0 to {nodes - 1}")
    return [tails[a:b] for a, b in itertools.pairwise(offsets)]


def check(data: Mapping[str, Any], answer: Any, proof: Mapping[str, Any]) -> Findings:
    """Check the inside values of a certificate; return the exact score of its answer and the bound."""
    tails, heads = list_tails(data), data["heads"].tolist()
    numbers = data["scores"].tolist()
    values = read_floats("inside", take(proof, "inside", "the proof"), data["nodes"])
    grid = Grid(numbers, values)
    scores, inside = grid.lift_all(numbers), grid.lift_all(values)
    for edge, score in enumerate(scores):
        value = add(score, *(inside[node] for node in tails[edge]))
        if is_more(value, inside[heads[edge]]):
            raise Refuted(
                f"edge {edge} with the inside values of its tails is worth more than its head {heads[edge]}"
            )
    bound = round_down(find_largest(inside[goal] for goal in data["goals"].tolist()), scores)
    return Findings(grid.lower(find_score(data, tails, scores, answer)), grid.lower(bound))


def find_score(data: Mapping[str, Any], tails: list[list[int]], scores: list[Exact], answer: Any) -> Exact:
    """Return the score of a derivation: edges in preorder."""
    if answer is None:
        return None
    heads, total = data["heads"].tolist(), 0
    if not isinstance(answer, list) or not answer:
        raise Refuted("the answer is no derivation")
    wanted: list[int] | None = None  # the nodes that are still to be derived, the next one last
    for place, edge in enumerate(answer):
        if isinstance(edge, bool) or not isinstance(edge, int) or not 0 <= edge < len(scores):
            raise Refuted(f"answer[{place}] is no edge: {str(edge)[:50]}")
        if wanted is None:
            wanted = [heads[edge]] if heads[edge] in data["goals"].tolist() else []
        if not wanted or wanted.pop() != heads[edge]:
            raise Refuted(
                f"answer[{place}], edge {edge}, does not derive the node that is next in a derivation"
            )
        score = scores[edge]
        if score is None:
            raise Refuted(f"the answer is forbidden: edge {edge} scores -inf")
        total += score
        wanted.extend(reversed(tails[edge]))
    if wanted:
        raise Refuted(f"the answer is no whole derivation: node {wanted[-1]} is not derived")
    return total


def maximize(data: Mapping[str, Any], tails: list[list[int]], values: list[Exact]) -> Exact:
    """Return the best sum of the ``values`` of edges over any derivation of a goal: dynamic programming."""
    own: defaultdict[int, list[int]] = defaultdict(list)
    for edge, head in enumerate(data["heads"].tolist()):
        own[head].append(edge)
    inside: dict[int, Exact] = {}
    done: defaultdict[int, int] = defaultdict(int)  # 1: its tails come first; 2: known
    for goal in data["goals"].tolist():
        waiting = [goal]
        while waiting:
            node = waiting[-1]
            left = [t for e in own[node] for t in tails[e] if done[t] != 2] if done[node] != 2 else []
            if done[node] == 0 and left:
                done[node] = 1
                if any(done[t] == 1 for t in left):
                    raise CertificateError(f"node {node} of a forest is derived from itself")
                waiting.extend(left)
                continue
            if left:
                raise CertificateError(f"node {node} of a forest is derived from itself")
            if done[node] != 2:
                inside[node] = find_largest(add(values[e], *(inside[t] for t in tails[e])) for e in own[node])
                done[node] = 2
            waiting.pop()
    return find_largest(inside[goal] for goal in data["goals"].tolist())
