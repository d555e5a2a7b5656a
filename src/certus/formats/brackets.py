"""Bracketed trees, as in the .mrg files of the Penn Treebank: several per line, or one over many lines.

A tree is ``(LABEL tree ...)`` or ``(TAG word)``; the label of the root may be missing. Brackets among the
words are written -LRB- and -RRB- in treebanks, and stay so.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator

from certus.annotation.bracketed_text import parse_brackets
from certus.annotation.sentence import Sentence
from certus.annotation.trees import Tree, parse_trees, prepare_tree
from certus.errors import FormatError
from certus.formats import guess
from certus.formats.blocks import decode
from certus.formats.conllu import build
from certus.storage.files import Source, check_encoding, check_readable, name_of, open_atomically, open_source


def looks_bracketed(path: str) -> bool:
    """Whether there is a file of this name that holds bracketed trees."""
    if path == "-" or not os.path.isfile(path):
        return False
    with open_source(path) as chunk:
        return guess.is_bracketed(path, chunk()[:4096].decode("utf-8", errors="replace"))


def read(source: Source, *, encoding: str = "utf-8") -> Iterator[Tree]:
    """Read trees one at a time, in constant memory.

    Args:
        source: a path ("-" is stdin; a name in .gz is decompressed) or an open stream.
        encoding: of the bytes.

    Raises:
        FormatError: an unbalanced bracket, a word outside of brackets or without a tag, an empty constituent;
            with file and line.
    """
    check_encoding(encoding)
    check_readable(source)
    return _read(source, encoding)


def _read(source: Source, encoding: str) -> Iterator[Tree]:
    name = name_of(source)
    with open_source(source) as chunk:
        yield from parse_trees(decode(chunk, name, encoding), name)


def read_answers(source: Source, *, encoding: str = "utf-8") -> Iterator[Tree | None]:
    """Read the trees that a parser found; None where it found none and wrote ``(())`` or the like.

    Arguments and errors are those of ``read``.
    """
    check_encoding(encoding)
    check_readable(source)
    return _read_answers(source, encoding)


def _read_answers(source: Source, encoding: str) -> Iterator[Tree | None]:
    name = name_of(source)

    def make_node(label: str, children: list[Tree | None]) -> Tree | None:
        kept = [child for child in children if child is not None]
        return Tree(label, kept) if kept else None

    with open_source(source) as chunk:
        texts = decode(chunk, name, encoding)
        yield from parse_brackets(
            texts, name, lambda tag, word: Tree(tag, (word,)), make_node, allow_empty=True
        )


def read_tagged(texts: Iterable[str], name: str) -> Iterator[Sentence]:
    """Yield the words of trees as CoNLL-U sentences, with their tags as xpos; traces are left out.

    Args:
        texts: the pieces of a file.
        name: of the file.
    """
    empty = True
    for tree in filter(None, map(prepare_tree, parse_trees(texts, name))):
        sentence = build(tree.words, {"xpos": tree.tags})
        sentence.source = name
        empty = False
        yield sentence
    if empty:
        raise FormatError("holds no sentence", name)


def parse(text: str, source: str = "<text>") -> Iterator[Tree]:
    """Yield the trees of a text."""
    return parse_trees([text], source)


def write(
    trees: Iterable[Tree], path: str | os.PathLike[str], *, encoding: str = "utf-8", pretty: bool = False
) -> int:
    """Write trees, one per line; return how many there were.

    Args:
        trees: to write.
        path: "-" is stdout. A file is complete or not there; a name in .gz is compressed.
        encoding: of the bytes.
        pretty: whether to spread a tree over lines, as treebanks do.
    """
    check_encoding(encoding)
    texts = ((indent_tree(tree) if pretty else str(tree)) + "\n" for tree in trees)
    if os.fspath(path) == "-":
        count = sum(bool(sys.stdout.buffer.write(text.encode(encoding))) for text in texts)
        sys.stdout.buffer.flush()
        return count
    with open_atomically(path, encoding=encoding) as file:
        return sum(bool(file.write(text)) for text in texts)


def indent_tree(tree: Tree) -> str:
    """Return a tree with a line for each constituent that holds more than tags."""
    lines: list[str] = []
    open_ = [(tree, 0, 0)]  # with its depth, and how many brackets close after it
    while open_:
        node, depth, closed = open_.pop()
        if all(child.is_tag for child in node.trees):
            lines.append("  " * depth + str(node) + ")" * closed)
            continue
        lines.append(f"{'  ' * depth}({node.label}")
        *others, last = node.trees
        open_.append((last, depth + 1, closed + 1))
        open_.extend((child, depth + 1, 0) for child in reversed(others))
    return "\n".join(lines)
