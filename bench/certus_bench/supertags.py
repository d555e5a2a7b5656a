"""Supertags from a treebank: for each word, the part of the tree that it heads, and how that is attached.

A supertag is an elementary tree in the manner of Chen & Vijay-Shanker 2000, written as text. It begins with
the part of speech and goes up through the constituents that the word heads, by the head rules of the parser.
A constituent names its arguments on either side of the head; the last one is an argument itself, or modifies
the constituent above it from the left (``>NP``) or from the right (``<VP``). So ``VBZ-VP[.NP]-S[NP.]`` is a
finite verb with subject and object, and ``JJ>NP`` an adjective before its noun.
"""

from __future__ import annotations

from collections.abc import Iterator

from certus.annotation.sentence import Layout
from certus.annotation.trees import Tree, prepare_tree, strip_functions
from certus.formats import Sentence
from certus.formats.brackets import read
from certus.storage.files import Source
from certus.syntax.constituency.heads import find_head

LAYOUT = Layout("columns", ("form", "pos", "supertag"), " ")
# Function tags of modifiers, and the labels that arguments of a constituent may have (Collins 1999, section
# 2.2.3).
_MODIFIERS = frozenset(["ADV", "VOC", "BNF", "DIR", "EXT", "LOC", "MNR", "TMP", "CLR", "PRP"])
_CLAUSAL = frozenset(["NP", "SBAR", "S", "VP"])
_ARGUMENTS = {"S": _CLAUSAL - {"VP"}, "SQ": _CLAUSAL, "SINV": _CLAUSAL, "VP": _CLAUSAL, "SBAR": {"S"}}


def read_supertags(source: Source, encoding: str = "utf-8") -> Iterator[Sentence]:
    """Yield the words of trees with their parts of speech and supertags; traces are left out."""
    for tree in read(source, encoding=encoding):
        whole = prepare_tree(tree, functions=True)
        if whole is None:
            continue
        supertags = [tag for child in whole.trees for tag in find_supertags(child)]
        columns = {"form": whole.words, "pos": whole.tags, "supertag": supertags}
        lines = list(map(" ".join, zip(*columns.values(), strict=True)))
        yield Sentence(columns, "\n".join(lines) + "\n\n", range(len(lines)), 1, str(source), LAYOUT)


def find_supertags(tree: Tree, above: str = "") -> Iterator[str]:
    """Yield the supertag of each word; ``above`` is what the word that heads the tree has above it."""
    if tree.is_tag:
        yield tree.label + above
        return
    label, names = strip_functions(tree.label), [child.label for child in tree.trees]
    head = find_head(label, names)
    arguments = [place != head and _is_argument(label, names, place, head) for place in range(len(names))]
    here = f"-{label}{_list_arguments(names, arguments, head)}"
    for place, child in enumerate(tree.trees):
        if place == head:
            yield from find_supertags(child, here + above)
        elif arguments[place]:
            yield from find_supertags(child)
        else:
            yield from find_supertags(child, f"{'>' if place < head else '<'}{label}")


def _is_argument(label: str, names: list[str], place: int, head: int) -> bool:
    """Whether a child is an argument: of a verb or clause by its label, of a preposition where it follows."""
    name, *functions = names[place].split("-")
    if label == "PP":
        return place == head + 1
    return name in _ARGUMENTS.get(label, ()) and not _MODIFIERS.intersection(functions)


def _list_arguments(names: list[str], arguments: list[bool], head: int) -> str:
    left, right = (
        ",".join(strip_functions(names[place]) for place in side if arguments[place])
        for side in (range(head), range(head + 1, len(names)))
    )
    return f"[{left}.{right}]" if left or right else ""
