"""Trees with at most two children per constituent, and back.

Constituents with more children become nested ones with hidden labels: an at sign, the label of the
constituent, and the labels of the children that were made last, at most ``horizontal`` of them (a Markov
assumption; None keeps all). What is hidden is told from the label alone, so ``unbinarize`` needs nothing else
and loses nothing.

A binarised tree has unary rules where the treebank has them; the parser treats them exactly.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from certus.annotation.trees import Tree
from certus.errors import InvalidInput
from certus.syntax.constituency.annotate import HIDDEN, escape_label, strip_marks
from certus.syntax.constituency.heads import find_head

DIRECTIONS = ("right", "left", "head")


def binarize(
    tree: Tree,
    direction: str = "right",
    horizontal: int | None = None,
    known: Collection[str] | None = None,
) -> Tree:
    """Return a tree in which no constituent has more than two children.

    Args:
        tree: with plain or annotated labels (see certus.syntax.constituency.annotate); they are kept. Those
            that begin with an at sign are refused unless they are annotated, which escapes them.
        direction: "right": the first child beside the rest; "left": the last child beside the rest; "head":
            the head grows first to the right, then to the left.
        horizontal: how many of the children made last a hidden label tells.
        known: the hidden labels there are. Others tell fewer children, as many as make them known, or none.
    """
    check_direction(direction)
    for node in tree.nodes():
        if node.label.startswith(HIDDEN):
            raise InvalidInput(
                f"the label {node.label!r} begins with '@', as those that binarisation makes do; "
                "annotate (or escape_label) keeps it apart from them"
            )
    return tree.fold(lambda node, below: _binarize_node(node, below, direction, horizontal, known))


def check_direction(direction: str) -> None:
    """Refuse a direction that does not exist."""
    if direction not in DIRECTIONS:
        raise InvalidInput(f"there is no direction {direction!r}; there are {', '.join(DIRECTIONS)}")


def _binarize_node(
    tree: Tree,
    children: list[Tree],
    direction: str,
    horizontal: int | None,
    known: Collection[str] | None,
) -> Tree:
    """Return a constituent whose children are binarised already, and at most two."""
    if tree.is_tag:
        return tree
    if len(children) <= 2:
        return Tree(tree.label, children)
    names = [escape_label(strip_marks(child.label)) for child in children]
    order = _order_children(direction, tree, names)
    # From the inside out: each step takes one more child to a side of what is made already.
    made = children[order[-1]]
    for step in range(len(order) - 2, -1, -1):
        place = order[step]
        pair = (children[place], made) if place < order[-1] else (made, children[place])
        label = (
            tree.label
            if step == 0
            else _make_hidden_label(tree, direction, names, order, step, horizontal, known)
        )
        made = Tree(label, pair)
    return made


def _order_children(direction: str, tree: Tree, names: Sequence[str]) -> list[int]:
    """Return the places of the children from the outermost to the innermost."""
    count = len(names)
    if direction == "right":
        return list(range(count))
    if direction == "left":
        return list(range(count - 1, -1, -1))
    place = find_head(strip_marks(tree.label), [strip_marks(name) for name in names])
    return [*range(place), *range(count - 1, place - 1, -1)]


def _make_hidden_label(
    tree: Tree,
    direction: str,
    names: Sequence[str],
    order: Sequence[int],
    step: int,
    horizontal: int | None,
    known: Collection[str] | None,
) -> str:
    """Return the label of what is left once the children of the steps before ``step`` are taken off.

    Rightwards and leftwards it tells the children outside of it, nearest first. From heads, it tells the head
    and the children inside of it, outermost first: these are what is generated before in each case.
    """
    if direction == "head":
        told = [names[order[-1]], *(names[place] for place in order[step:-1])]
        start = f"{HIDDEN}{tree.label}{'<' if order[step] < order[-1] else '>'}"
    else:
        told = [names[place] for place in reversed(order[:step])]
        start = f"{HIDDEN}{tree.label}|"
    kept = len(told) if horizontal is None else min(horizontal, len(told))
    while True:
        label = start + "_".join(told[:kept])
        if known is None or kept == 0 or label in known:
            return label
        kept -= 1


def unbinarize(tree: Tree) -> Tree:
    """Return the tree that was binarised, its labels without marks."""
    return tree.fold(_join_hidden)


def _join_hidden(tree: Tree, below: list[Tree]) -> Tree:
    """Return a constituent with the children of hidden ones in their place."""
    if tree.is_tag:
        return Tree(strip_marks(tree.label), tree.children)
    children: list[Tree] = []
    for child, done in zip(tree.trees, below, strict=True):
        children.extend(done.trees if child.label.startswith(HIDDEN) else [done])
    return Tree(strip_marks(tree.label), children)
