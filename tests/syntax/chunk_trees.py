"""Trees over an invented language: flat, with the chunks of its sentences as constituents."""

from __future__ import annotations

from certus.syntax import Tree
from tests.models.invented import Token, tokens


def tree_of(sentence: list[Token]) -> Tree:
    """The chunks of a sentence side by side."""
    chunks: list[tuple[str, list[Tree]]] = []
    for word, tag, _, chunk in sentence:
        if chunk[:1] != "I" or not chunks:
            chunks.append((chunk[2:] or "PU", []))
        chunks[-1][1].append(Tree(tag, [word]))
    return Tree("TOP", [Tree("S", [Tree(name, children) for name, children in chunks])])


def trees(count: int, seed: int) -> list[Tree]:
    return [tree_of(sentence) for sentence in tokens(count, seed)]


def text(count: int, seed: int) -> str:
    """The same as a file."""
    return "".join(f"{tree}\n" for tree in trees(count, seed))
