"""Bracketed trees, as in the .mrg files of the Penn Treebank: several a line, or one over many lines.

A tree is ``(LABEL tree ...)`` or ``(TAG word)``; the label of the root may be missing. Brackets among the
words are written -LRB- and -RRB- in treebanks, and stay so.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator

from certus.annotation.sentence import Sentence
from certus.annotation.trees import Tree, prepared
from certus.errors import FormatError
from certus.formats import guess
from certus.formats.blocks import decoded
from certus.formats.conllu import build
from certus.storage.files import Source, atomic, check_encoding, check_readable, name_of, opened

# A tag with its word, which most brackets are; an opening bracket with its label; a closing one; the rest.
_TOKEN = re.compile(r"\(([^\s()]+)[ \t]+([^\s()]+)[ \t]*\)|\(([^\s()]*)|(\))|([^\s()]+)")
_WORD, _OPEN, _CLOSE = 2, 3, 4


def looks_bracketed(path: str) -> bool:
    """Whether there is a file of this name that holds bracketed trees."""
    if path == "-" or not os.path.isfile(path):
        return False
    with opened(path) as chunk:
        return guess.bracketed(path, chunk()[:4096].decode("utf-8", errors="replace"))


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


def tagged(texts: Iterable[str], name: str) -> Iterator[Sentence]:
    """Yield the words of trees as CoNLL-U sentences, with their tags as xpos; traces are left out.

    Args:
        texts: the pieces of a file.
        name: of the file.
    """
    empty = True
    for tree in filter(None, map(prepared, _trees(texts, name))):
        sentence = build(tree.words, {"xpos": tree.tags})
        sentence.source = name
        empty = False
        yield sentence
    if empty:
        raise FormatError("holds no sentence", name)


def parse(text: str, source: str = "<text>") -> Iterator[Tree]:
    """Yield the trees of a text."""
    return _trees(iter([text]), source)


class _Open:
    """A bracket that is not closed yet."""

    __slots__ = ("children", "label", "place", "word")

    def __init__(self, label: str, place: _Place) -> None:
        self.label = label
        self.place = place
        self.children: list[Tree] = []
        self.word: str | None = None


class _Place:
    """Where a token stands. Lines are counted when something is wrong, and not before."""

    __slots__ = ("lines", "start", "text")

    def __init__(self, text: str, lines: int, start: int) -> None:
        self.text = text
        self.lines = lines  # before the text
        self.start = start

    def error(self, reason: str, source: str) -> FormatError:
        return FormatError(reason, source, self.lines + self.text.count("\n", 0, self.start) + 1)


def _trees(texts: Iterable[str], source: str) -> Iterator[Tree]:
    stack: list[_Open] = []
    lines = 0
    for text in texts:
        for token in _TOKEN.finditer(text):
            kind = token.lastindex
            if kind == _WORD:
                tree = Tree(token[1], (token[2],))
            elif kind == _OPEN:
                stack.append(_Open(token[3], _Place(text, lines, token.start())))
                continue
            elif kind == _CLOSE:
                tree = _closed(stack, _Place(text, lines, token.start()), source)
            else:
                _bare(stack, token[5], _Place(text, lines, token.start()), source)
                continue
            if not stack:
                yield tree
            elif stack[-1].word is not None:
                raise _untagged(stack[-1].word, stack[-1].place, source)
            else:
                stack[-1].children.append(tree)
        lines += text.count("\n")
    if stack:
        raise stack[-1].place.error("the bracket that opens here is never closed", source)


def _closed(stack: list[_Open], place: _Place, source: str) -> Tree:
    if not stack:
        raise place.error("a bracket is closed that was never opened", source)
    done = stack.pop()
    if done.word is not None:
        return Tree(done.label, (done.word,))
    if not done.children:
        name = f" {done.label!r}" if done.label else ""
        raise place.error(f"the constituent{name} is empty; it needs a word or constituents", source)
    return Tree(done.label, done.children)


def _bare(stack: list[_Open], word: str, place: _Place, source: str) -> None:
    """Take a word that stands alone: a label after a bracket and blanks, or the word of a tag."""
    if not stack:
        raise place.error(f"the word {word!r} stands outside of all brackets; a tree is (S (NN x))", source)
    above = stack[-1]
    if above.children or above.word is not None:
        raise _untagged(word, place, source)
    if above.label:
        above.word = word
    else:
        above.label = word


def _untagged(word: str, place: _Place, source: str) -> FormatError:
    return place.error(f"the word {word!r} has no tag of its own: write (TAG {word})", source)


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
