"""Constituency trees, and their standard preparation: function tags, indices and traces taken off."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, TypeVar, cast

from certus.annotation import tree_drawing
from certus.annotation.bracketed_text import parse_brackets
from certus.errors import InvalidInput

T = TypeVar("T")
TOP = "TOP"  # the label of roots, which treebanks leave empty
TRACE = "-NONE-"  # the tag of what is not there
_FUNCTION = re.compile(r"(?<=.)[-=].*")


class Tree:
    """A constituent: a label over other constituents, or a tag over one word.

    Attributes:
        label: of the constituent, such as "NP", or the tag.
        children: its constituents, or of a tag one word.
    """

    __slots__ = ("children", "label")

    def __init__(self, label: str, children: Sequence[Tree] | Sequence[str]) -> None:
        self.label = label
        self.children = cast("tuple[Tree, ...] | tuple[str]", tuple(children))

    @classmethod
    def parse(cls, text: str) -> Tree:
        """Return the one tree that a bracketed text holds."""
        found = list(parse_trees([text]))
        if len(found) != 1:
            raise InvalidInput(f"the text holds {len(found)} trees, not one")
        return found[0]

    @property
    def is_tag(self) -> bool:
        """Whether this is a tag over a word."""
        return isinstance(self.children[0], str)

    @property
    def trees(self) -> tuple[Tree, ...]:
        """The constituents right below; none below a tag."""
        return () if self.is_tag else cast("tuple[Tree, ...]", self.children)

    @property
    def word(self) -> str:
        """The word of a tag."""
        return cast(str, self.children[0])

    def nodes(self) -> Iterator[Tree]:
        """Yield this constituent and all below, parents first, from left to right."""
        open_ = [self]
        while open_:
            tree = open_.pop()
            yield tree
            open_.extend(reversed(tree.trees))

    def fold(self, combine: Callable[[Tree, list[T]], T]) -> T:
        """Build something from a tree, bottom up, however deep it is.

        Args:
            combine: called with a constituent and what it returned for each of those right below.
        """
        done: list[T] = []
        for tree in reversed(list(self.nodes())):
            done.append(combine(tree, [done.pop() for _ in tree.trees]))
        return done[0]

    def relabel(self, labels: Sequence[str]) -> Tree:
        """Return the same tree with other labels, in the order of ``nodes``."""
        return assemble_tree(labels, [len(tree.trees) for tree in self.nodes()], self.words)

    def __reduce__(self) -> tuple[Any, ...]:
        """Be pickled and copied flat, since trees can be deeper than what recursion allows."""
        nodes = list(self.nodes())
        arity = [len(tree.trees) for tree in nodes]
        return assemble_tree, ([tree.label for tree in nodes], arity, self.words)

    def leaves(self) -> Iterator[Tree]:
        """Yield the tags, from left to right."""
        return (tree for tree in self.nodes() if tree.is_tag)

    @property
    def words(self) -> list[str]:
        """The words, from left to right."""
        return [tree.word for tree in self.leaves()]

    @property
    def tags(self) -> list[str]:
        """The tags of the words."""
        return [tree.label for tree in self.leaves()]

    def spans(self) -> list[tuple[str, int, int]]:
        """Return the label, first word and end of every constituent that is no tag, parents first."""
        found: list[tuple[str, int, int]] = []
        open_: list[tuple[Tree, int]] = [(self, -1)]
        position = 0
        while open_:
            tree, place = open_.pop()
            if place >= 0:
                label, begin, _ = found[place]
                found[place] = (label, begin, position)
            elif tree.is_tag:
                position += 1
            else:
                open_.append((tree, len(found)))
                found.append((tree.label, position, -1))
                open_.extend((child, -1) for child in reversed(tree.trees))
        return found

    def pretty(self) -> str:
        """Draw the tree for a terminal."""
        return tree_drawing.draw_text(self)

    def svg(self) -> str:
        """Draw the tree as an SVG picture."""
        return tree_drawing.draw_svg(self)

    def _repr_svg_(self) -> str:
        return self.svg()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        return self._flatten() == other._flatten()

    def __hash__(self) -> int:
        return hash(tuple(self._flatten()))

    def _flatten(self) -> list[tuple[str, object]]:
        """All there is to a tree, flat, so that deep ones can be compared."""
        return [(t.label, t.word if t.is_tag else len(t.children)) for t in self.nodes()]

    def __str__(self) -> str:
        """Write the tree in brackets, on one line."""
        parts: list[str] = []
        open_: list[Tree | None] = [self]
        while open_:
            tree = open_.pop()
            if tree is None:
                parts.append(")")
            elif tree.is_tag:
                parts.append(f" ({tree.label} {tree.word})")
            else:
                parts.append(f" ({tree.label}")
                open_.append(None)
                open_.extend(reversed(tree.trees))
        return "".join(parts)[1:]

    def __repr__(self) -> str:
        return f"Tree.parse({str(self)!r})"


def parse_trees(texts: Iterable[str], source: str = "<text>") -> Iterator[Tree]:
    """Yield the trees of a text that comes in pieces; messages call it ``source``."""
    return parse_brackets(texts, source, lambda tag, word: Tree(tag, (word,)), Tree)


def assemble_tree(labels: Sequence[str], arity: Sequence[int], words: Sequence[str]) -> Tree:
    """Return the tree of nodes in preorder: their labels, and how many children each has, 0 over a word."""
    done: list[Tree] = []
    place = len(words)
    for label, count in zip(reversed(labels), reversed(arity), strict=True):
        if count == 0:
            place -= 1
            done.append(Tree(label, (words[place],)))
        else:
            children = done[-count:]
            children.reverse()
            done[-count:] = [Tree(label, children)]
    return done[0]


@lru_cache(maxsize=1 << 16)  # labels are few, and asked for again and again
def strip_functions(label: str) -> str:
    """Return a label without function tags and indices: NP for NP-SBJ-1 and NP=2; -LRB- stays."""
    return label if label[:1] == "-" else _FUNCTION.sub("", label)


def remove_functions(tree: Tree) -> Tree:
    """Return a tree whose labels lack function tags and indices."""
    return tree.relabel([strip_functions(node.label) for node in tree.nodes()])


def remove_traces(tree: Tree) -> Tree | None:
    """Return a tree without empty elements, and without what holds nothing else; None if all goes."""
    return tree.fold(_keep_words)


def _keep_words(tree: Tree, below: list[Tree | None]) -> Tree | None:
    if tree.is_tag:
        return None if tree.label == TRACE else tree
    kept = [child for child in below if child is not None]
    return Tree(tree.label, kept) if kept else None


def add_root(tree: Tree, top: str = TOP) -> Tree:
    """Return a tree whose root is labelled ``top``: in place of no label, or above another one."""
    if tree.label == top and not tree.is_tag:
        return tree
    return Tree(top, tree.trees) if tree.label == "" and not tree.is_tag else Tree(top, [tree])


def prepare_tree(tree: Tree, *, functions: bool = False, traces: bool = False) -> Tree | None:
    """Return a tree as parsers are trained and scored on; None if nothing is left of it.

    Args:
        tree: as it stands in the treebank.
        functions: whether to keep function tags and indices.
        traces: whether to keep empty elements.
    """
    left = tree if traces else remove_traces(tree)
    if left is None:
        return None
    return add_root(left if functions else remove_functions(left))
