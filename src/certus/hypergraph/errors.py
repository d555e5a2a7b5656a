"""What can be wrong with a forest, and only with a forest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from certus import _native
from certus.errors import Infeasible, InvalidInput

_SHOWN = 8


class Cyclic(InvalidInput):
    """Some nodes derive one another in a circle, so there is no order in which to score them.

    Attributes:
        nodes: the nodes of the circle, each derived from the next, the last from the first.
    """

    def __init__(self, nodes: Sequence[Any]) -> None:
        self.nodes = list(nodes)
        shown = [repr(node) for node in self.nodes[:_SHOWN]]
        if len(self.nodes) > _SHOWN:
            shown.append(f"({len(self.nodes) - _SHOWN} more)")
        circle = " <- ".join([*shown, repr(self.nodes[0])])
        super().__init__(
            f"the hypergraph has a cycle, each node derived from the next: {circle}. Remove one of its "
            "edges, or make a copy of a node for each time it may be passed"
        )

    def __reduce__(self) -> tuple[type[Cyclic], tuple[list[Any]]]:
        return type(self), (self.nodes,)


class NoDerivation(Infeasible):
    """The goal cannot be derived: every way to it needs a forbidden edge, or a node that has no edges.

    Attributes:
        node: the node where it fails; the goal itself, or one that it needs.
    """

    def __init__(self, message: str, node: Any = None) -> None:
        self.node = node
        super().__init__(message)


def explain_too_large(advice: str) -> InvalidInput:
    """Explain that a derivation cannot be written down."""
    return InvalidInput(
        f"the derivation has more than {_native.MOST_DERIVATION_EDGES:,} edges, since nodes are used again "
        f"and again in it, so it is not written down; {advice}"
    )


def explain_no_derivation(node: Any, edges: int, goals: Sequence[Any]) -> NoDerivation:
    """Explain where the derivations of the goal fail: at a node with that many edges."""
    one = len(goals) == 1
    what = f"the goal {goals[0]!r} cannot" if one else f"none of the {len(goals)} goals can"
    needs = "it" if one else f"{goals[0]!r}"
    subject = f"{goals[0]!r}" if node == goals[0] else f"{node!r}, which {needs} needs,"
    if edges == 0:
        why = f"{subject} has no edges. A leaf needs one, too: an edge with an empty tail"
    else:
        all_of_them = "its only edge has" if edges == 1 else f"all of its {edges} edges have"
        why = f"{subject} is forbidden: {all_of_them} a score of -inf"
    return NoDerivation(f"{what} be derived: {why}", node)
