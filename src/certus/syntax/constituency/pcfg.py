"""A grammar estimated from a treebank: relative frequencies of the rules of binarised, annotated trees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from certus.annotation.trees import Tree, add_root
from certus.checks import check_count
from certus.errors import InvalidInput
from certus.syntax.constituency.annotate import HIDDEN, annotate, check_splits
from certus.syntax.constituency.binarize import binarize, check_direction

# The splits that pay on a treebank of some thousand trees.
USUAL = (
    "unary-internal",
    "tag-parent",
    "split-in",
    "split-aux",
    "split-cc",
    "split-percent",
    "temporal",
    "possessive",
    "split-vp",
    "base-np",
    "right-recursive",
)


@dataclass(frozen=True)
class GrammarOptions:
    """How a grammar is estimated.

    Attributes:
        vertical: how many generations the label of a constituent tells; 2 adds the parent's label.
        horizontal: how many of the children made last the hidden labels of binarisation tell; None: all.
        direction: of binarisation: "head" (from the head outwards), "left" or "right".
        splits: refinements of labels; names of certus.syntax.constituency.annotate.SPLITS.
        min_hidden: hidden labels that occur less often tell fewer children.
        rare: words seen at most this often tell about words never seen.
        trusted: words seen at least this often have the tags they were seen with, and no others.
        word_prior: how much the class of a word counts beside the tags it was seen with.
        split_prior: how much the refinements of a tag in general count beside those of a word.
        class_prior: how much a wider class of words counts beside a narrower one.
    """

    vertical: int = 2
    horizontal: int | None = 2
    direction: str = "head"
    splits: tuple[str, ...] = USUAL
    min_hidden: int = 20
    rare: int = 5
    trusted: int = 20
    word_prior: float = 1.0
    split_prior: float = 5.0
    class_prior: float = 5.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "splits", tuple(self.splits))
        least = {"vertical": 1, "horizontal": 0, "min_hidden": 1, "rare": 0, "trusted": 1}
        for name, value in least.items():
            given = getattr(self, name)
            if name != "horizontal" or given is not None:
                check_count(name, given, least=value)
        for name in ("word_prior", "split_prior", "class_prior"):
            if not 0 < getattr(self, name) < float("inf"):
                raise InvalidInput(f"{name} is {getattr(self, name)}; it must be a number above 0")
        check_splits(self.splits)
        check_direction(self.direction)

    @property
    def lexical(self) -> dict[str, Any]:
        """Those of the lexicon."""
        names = ("rare", "trusted", "word_prior", "split_prior", "class_prior")
        return {name: getattr(self, name) for name in names}


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

    def by_word(self) -> dict[str, dict[str, int]]:
        """Return for each word the preterminals it was seen with."""
        found: dict[str, dict[str, int]] = {}
        for (word, tag), count in self.words.items():
            found.setdefault(word, {})[tag] = count
        return found


def count(trees: Iterable[Tree]) -> Counts:
    """Count the rules of binarised trees."""
    counts = Counts()
    for tree in trees:
        counts.add(tree)
    return counts


def transform_trees(trees: Iterable[Tree], options: GrammarOptions) -> list[Tree]:
    """Annotate and binarise trees."""
    annotated = [annotate(add_root(tree), options.vertical, options.splits) for tree in trees]
    longest, direction = options.horizontal, options.direction
    if options.min_hidden <= 1 or not longest:
        return [binarize(tree, direction, longest) for tree in annotated]
    seen: Counter[str] = Counter()
    widest = max((len(node.trees) for tree in annotated for node in tree.nodes()), default=0)
    for horizontal in range(1, min(longest, widest) + 1):
        for tree in annotated:
            binary = binarize(tree, direction, horizontal)
            seen.update(node.label for node in binary.nodes() if node.label.startswith(HIDDEN))
    known = {label for label, count in seen.items() if count >= options.min_hidden}
    return [binarize(tree, direction, longest, known) for tree in annotated]
