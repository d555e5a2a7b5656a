"""A grammar estimated from a treebank: relative frequencies of the rules of binarised, annotated trees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from certus.syntax.annotate import HIDDEN, annotate
from certus.syntax.binarize import binarize
from certus.syntax.trees import Tree, rooted



@dataclass
class Counts:
    """How often each rule occurs."""

    binary: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    unary: Counter[tuple[str, str]] = field(default_factory=Counter)
    words: Counter[tuple[str, str]] = field(default_factory=Counter)  # word, tag
    symbols: Counter[str] = field(default_factory=Counter)

    def add(self, tree: Tree) -> None:
        """Count the rules of a binarised tree."""
        for node in tree.nodes():
            self.symbols[node.label] += 1
            if node.is_tag:
                self.words[node.word, node.label] += 1
            elif len(node.children) == 1:
                self.unary[node.label, node.trees[0].label] += 1
            else:
                self.binary[node.label, node.trees[0].label, node.trees[1].label] += 1


def count(trees: Iterable[Tree]) -> Counts:
    """Count the rules of binarised trees."""
    counts = Counts()
    for tree in trees:
        counts.add(tree)
    return counts


def without_loops(tree: Tree) -> Tree:
    """Return a tree without constituents over one of the same label: no best derivation has any."""
    while len(tree.children) == 1 and not tree.is_tag and tree.trees[0].label == tree.label:
        if tree.trees[0].is_tag:
            break
        tree = tree.trees[0]
    if tree.is_tag:
        return tree
    return Tree(tree.label, [without_loops(child) for child in tree.trees])


def transformed(
    trees: Iterable[Tree],
    *,
    vertical: int,
    horizontal: int | None,
    direction: str,
    splits: Iterable[str],
    min_hidden: int,
) -> list[Tree]:
    """Annotate and binarise trees; hidden labels that occur less than ``min_hidden`` times tell less."""
    annotated = [annotate(rooted(tree), vertical, splits) for tree in trees]
    if min_hidden <= 1 or not horizontal:
        return [binarize(tree, direction, horizontal) for tree in annotated]
    seen: Counter[str] = Counter()
    for shorter in range(1, horizontal + 1):
        for tree in annotated:
            binary = binarize(tree, direction, shorter)
            seen.update(node.label for node in binary.nodes() if node.label.startswith(HIDDEN))
    known = {label for label, count in seen.items() if count >= min_hidden}
    return [binarize(tree, direction, horizontal, known) for tree in annotated]
