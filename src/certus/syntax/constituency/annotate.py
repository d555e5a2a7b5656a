"""State splits: labels refined by what stands above and below, so that a grammar sees more context.

A refined label is the label, a caret and marks: ``NP^S`` is an NP below an S. The marks are a function of the
tree, so refined and plain trees stand for each other one to one, and ``strip_marks`` takes the marks off
again. What of a label itself would read as a mark is escaped.

The splits are those of Klein & Manning 2003, "Accurate unlexicalized parsing", under their names there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache

from certus.annotation.trees import Tree, strip_functions
from certus.errors import InvalidInput
from certus.syntax.constituency.heads import find_head_leaf

MARK = "^"
HIDDEN = "@"  # begins the labels that binarisation makes
_SPECIAL = re.compile(r"[\^@\\|<>_]")
_ESCAPED = re.compile(r"\\(.)")
_MARKS = re.compile(r"(?<!\\)((?:\\\\)*)\^.*")
_FINITE = frozenset(["VBD", "VBZ", "VBP", "MD"])
_FORMS_OF_BE = frozenset(["be", "is", "was", "are", "were", "been", "being", "am", "'s", "'re", "'m"])
_FORMS_OF_HAVE = frozenset(["have", "has", "had", "having", "'ve", "'d"])


@dataclass(frozen=True)
class Place:
    """Where a constituent stands: its ancestors' labels, nearest first."""

    tree: Tree
    label: str
    above: tuple[str, ...]


Split = Callable[[Place], "str | None"]


def _unary_internal(place: Place) -> str | None:
    return "U" if not place.tree.is_tag and len(place.tree.children) == 1 and place.above else None


def _tag_parent(place: Place) -> str | None:
    return place.above[0] if place.tree.is_tag and place.above else None


def _split_in(place: Place) -> str | None:
    """Prepositions by the grandparent: noun modifiers, verb modifiers, complementisers."""
    if not place.tree.is_tag or place.label != "IN" or len(place.above) < 2:
        return None
    return place.above[1]


def _split_aux(place: Place) -> str | None:
    if not place.tree.is_tag or place.label[:2] != "VB":
        return None
    word = place.tree.word.lower()
    return "BE" if word in _FORMS_OF_BE else "HAVE" if word in _FORMS_OF_HAVE else None


def _split_cc(place: Place) -> str | None:
    if not place.tree.is_tag or place.label != "CC":
        return None
    return "BUT" if place.tree.word.lower() == "but" else "&" if place.tree.word == "&" else None


def _split_percent(place: Place) -> str | None:
    return "%" if place.tree.is_tag and place.tree.word == "%" else None


def _temporal(place: Place) -> str | None:
    return "TMP" if place.label == "NP" and "-TMP" in place.tree.label else None


def _possessive(place: Place) -> str | None:
    last = place.tree.trees[-1:]
    return "P" if place.label == "NP" and last and last[0].label == "POS" else None


def _split_vp(place: Place) -> str | None:
    if place.label != "VP":
        return None
    tag = find_head_leaf(place.tree).label
    return "VBF" if tag in _FINITE else tag


def _base_np(place: Place) -> str | None:
    children = place.tree.trees
    if place.label != "NP" or not children or not all(child.is_tag for child in children):
        return None
    return "B"


def _dominates_verb(place: Place) -> str | None:
    if place.tree.is_tag or place.label == "TOP":
        return None
    return "v" if any(leaf.label[:2] == "VB" or leaf.label == "MD" for leaf in place.tree.leaves()) else None


def _right_recursive_np(place: Place) -> str | None:
    if place.label != "NP" or place.tree.is_tag:
        return None
    tree = place.tree
    while not tree.is_tag:
        tree = tree.trees[-1]
        if strip_functions(tree.label) == "NP" and not tree.is_tag:
            return "RR"
    return None


SPLITS: dict[str, Split] = {
    "unary-internal": _unary_internal,
    "tag-parent": _tag_parent,
    "split-in": _split_in,
    "split-aux": _split_aux,
    "split-cc": _split_cc,
    "split-percent": _split_percent,
    "temporal": _temporal,
    "possessive": _possessive,
    "split-vp": _split_vp,
    "base-np": _base_np,
    "dominates-verb": _dominates_verb,
    "right-recursive": _right_recursive_np,
}


def annotate(tree: Tree, vertical: int = 1, splits: Iterable[str] = ()) -> Tree:
    """Refine the labels of a tree.

    Args:
        tree: with function tags or without; they are taken off.
        vertical: how many generations a constituent's label tells, itself included: 2 adds the parent's.
        splits: names of SPLITS.
    """
    names = list(splits)
    check_splits(names)
    chosen = [SPLITS[name] for name in names]
    labels: list[str] = []
    open_: list[tuple[Tree, tuple[str, ...]]] = [(tree, ())]
    while open_:
        node, above = open_.pop()
        label = strip_functions(node.label)
        labels.append(_refine(Place(node, label, above), vertical, chosen))
        open_.extend((child, (label, *above[: max(vertical - 2, 2)])) for child in reversed(node.trees))
    return tree.relabel(labels)


def check_splits(names: Iterable[str]) -> None:
    """Refuse a split that does not exist."""
    for name in names:
        if name not in SPLITS:
            raise InvalidInput(f"there is no split {name!r}; there are {', '.join(SPLITS)}")


def _refine(place: Place, vertical: int, splits: list[Split]) -> str:
    """Return the label of a constituent with its marks."""
    marks = [] if place.tree.is_tag else list(place.above[: vertical - 1])
    marks += [mark for mark in (split(place) for split in splits) if mark is not None]
    label = escape_label(place.label)
    return label + MARK + MARK.join(marks) if marks else label


@lru_cache(maxsize=1 << 16)  # labels are few, and asked for again and again
def escape_label(label: str) -> str:
    """Return a label in which nothing reads as a mark."""
    return _SPECIAL.sub(r"\\\g<0>", label)


@lru_cache(maxsize=1 << 16)
def strip_marks(label: str) -> str:
    """Return a label without its marks."""
    return _ESCAPED.sub(r"\1", _MARKS.sub(r"\1", label)) if MARK in label or "\\" in label else label
