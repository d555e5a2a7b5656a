"""Bracketed trees, as in the .mrg files of the Penn Treebank: several a line, or one over many lines.

A tree is ``(LABEL tree ...)`` or ``(TAG word)``; the label of the root may be missing. Brackets among the words
are written -LRB- and -RRB- in treebanks, and stay so.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator

from certus.errors import FormatError
from certus.formats.blocks import decoded
from certus.formats.files import Source, atomic, check_encoding, check_readable, name_of, opened
from certus.syntax.trees import Tree

# A tag with its word, which most brackets are; an opening bracket with its label; the rest one by one.
_TOKEN = re.compile(r"\(([^\s()]+)[ \t]+([^\s()]+)[ \t]*\)|\(([^\s()]*)|(\))|(\n)|([^\s()]+)")
_BEGINNING = re.compile(rb"(?:\xef\xbb\xbf)?\s*\(\s*[^\s()]*\s*\(\s*[^\s()]+[\s(]")
_WORD, _OPEN, _CLOSE, _LINE = 2, 3, 4, 5


def looks_bracketed(path: str) -> bool:
    """Whether a file holds bracketed trees: whether it begins with a bracket within a bracket, or around a tag."""
    if path == "-" or not os.path.isfile(path):
        return False
    with opened(path) as chunk:
        return bool(_BEGINNING.match(chunk()[:4096]))


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
    with opened(source) as chunk:
        yield from _trees(decoded(chunk, name, encoding), name)


def parse(text: str, source: str = "<text>") -> Iterator[Tree]:
    """Yield the trees of a text."""
    return _trees(iter([text]), source)


class _Open:
    """A bracket that is not closed yet."""

    __slots__ = ("children", "label", "line", "word")

    def __init__(self, label: str, line: int) -> None:
        self.label = label
        self.line = line
        self.children: list[Tree] = []
        self.word: str | None = None


def _trees(texts: Iterable[str], source: str) -> Iterator[Tree]:
    stack: list[_Open] = []
    line = 1
    for text in texts:
        for token in _TOKEN.finditer(text):
            kind = token.lastindex
            if kind == _WORD:
                tree = Tree(token[1], (token[2],))
            elif kind == _OPEN:
                stack.append(_Open(token[3], line))
                continue
            elif kind == _CLOSE:
                tree = _closed(stack, source, line)
            elif kind == _LINE:
                line += 1
                continue
            else:
                _bare(stack, token[6], source, line)
                continue
            if not stack:
                yield tree
            elif stack[-1].word is not None:
                raise _untagged(stack[-1].word, source, line)
            else:
                stack[-1].children.append(tree)
    if stack:
        raise FormatError("the bracket that opens here is never closed", source, stack[-1].line)


def _closed(stack: list[_Open], source: str, line: int) -> Tree:
    if not stack:
        raise FormatError("a bracket is closed that was never opened", source, line)
    done = stack.pop()
    if done.word is not None:
        return Tree(done.label, (done.word,))
    if not done.children:
        name = f" {done.label!r}" if done.label else ""
        raise FormatError(f"the constituent{name} is empty; it needs a word or constituents", source, line)
    return Tree(done.label, done.children)


def _bare(stack: list[_Open], word: str, source: str, line: int) -> None:
    """Take a word that stands alone: a label after a bracket and blanks, or the word of a tag."""
    if not stack:
        raise FormatError(f"the word {word!r} stands outside of all brackets", source, line)
    place = stack[-1]
    if place.children or place.word is not None:
        raise _untagged(word, source, line)
    if place.label:
        place.word = word
    else:
        place.label = word


def _untagged(word: str, source: str, line: int) -> FormatError:
    return FormatError(f"the word {word!r} has no tag of its own: write (TAG {word})", source, line)


def write(
    trees: Iterable[Tree], path: str | os.PathLike[str], *, encoding: str = "utf-8", pretty: bool = False
) -> int:
    """Write trees, one a line; return how many there were.

    Args:
        trees: to write.
        path: "-" is stdout. A file is complete or not there; a name in .gz is compressed.
        encoding: of the bytes.
        pretty: whether to spread a tree over lines, as treebanks do.
    """
    check_encoding(encoding)
    texts = ((indented(tree) if pretty else str(tree)) + "\n" for tree in trees)
    if os.fspath(path) == "-":
        count = sum(bool(sys.stdout.buffer.write(text.encode(encoding))) for text in texts)
        sys.stdout.buffer.flush()
        return count
    with atomic(path, encoding=encoding) as file:
        return sum(bool(file.write(text)) for text in texts)


def indented(tree: Tree, depth: int = 0) -> str:
    """Return a tree with a line for each constituent that holds more than tags."""
    if all(child.is_tag for child in tree.trees):
        return "  " * depth + str(tree)
    below = "\n".join(indented(child, depth + 1) for child in tree.trees)
    return f"{'  ' * depth}({tree.label}\n{below})"
