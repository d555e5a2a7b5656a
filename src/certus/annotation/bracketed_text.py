"""Trees written in brackets: ``(LABEL tree ...)`` or ``(TAG word)``; the label of the root may be missing.

What trees are made of is the caller's affair, so that trees can be read from text where they are defined.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar

from certus.errors import FormatError

T = TypeVar("T")  # a tree

# A tag with its word, which most brackets are; an opening bracket with its label; a closing one; the rest.
_TOKEN = re.compile(r"\(([^\s()]+)[ \t]+([^\s()]+)[ \t]*\)|\(([^\s()]*)|(\))|([^\s()]+)")
_WORD, _OPEN, _CLOSE = 2, 3, 4


class _Open(Generic[T]):
    """A bracket that is not closed yet."""

    __slots__ = ("children", "label", "place", "word")

    def __init__(self, label: str, place: _Place) -> None:
        self.label = label
        self.place = place
        self.children: list[T] = []
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


def parse_brackets(
    texts: Iterable[str],
    source: str,
    make_tag: Callable[[str, str], T],
    make_node: Callable[[str, list[T]], T],
    *,
    allow_empty: bool = False,
) -> Iterator[T]:
    """Yield the trees of a text.

    Args:
        texts: pieces of it.
        source: what to call it in messages.
        make_tag: makes a tree of a tag and its word.
        make_node: makes a tree of a label and what is below it.
        allow_empty: whether there may be nothing below it, as in ``(())``, which stands for no tree at all.

    Raises:
        FormatError: an unbalanced bracket, a word outside of brackets or without a tag, an empty constituent;
            with the line.
    """
    stack: list[_Open[T]] = []
    lines = 0
    for number, piece in enumerate(texts):
        text = piece if number else piece.removeprefix("\ufeff")
        for token in _TOKEN.finditer(text):
            kind = token.lastindex
            if kind == _WORD:
                tree = make_tag(token[1], token[2])
            elif kind == _OPEN:
                stack.append(_Open(token[3], _Place(text, lines, token.start())))
                continue
            elif kind == _CLOSE:
                place = _Place(text, lines, token.start())
                tree = _close(stack, place, source, make_tag, make_node, allow_empty)
            else:
                _take_word(stack, token[5], _Place(text, lines, token.start()), source)
                continue
            if not stack:
                yield tree
            elif stack[-1].word is not None:
                raise _explain_untagged(stack[-1].word, stack[-1].place, source)
            else:
                stack[-1].children.append(tree)
        lines += text.count("\n")
    if stack:
        raise stack[-1].place.error("the bracket that opens here is never closed", source)


def _close(
    stack: list[_Open[T]],
    place: _Place,
    source: str,
    make_tag: Callable[[str, str], T],
    make_node: Callable[[str, list[T]], T],
    allow_empty: bool,
) -> T:
    if not stack:
        raise place.error("a bracket is closed that was never opened", source)
    done = stack.pop()
    if done.word is not None:
        return make_tag(done.label, done.word)
    if not done.children and not allow_empty:
        name = f" {done.label!r}" if done.label else ""
        raise place.error(f"the constituent{name} is empty; it needs a word or constituents", source)
    return make_node(done.label, done.children)


def _take_word(stack: list[_Open[T]], word: str, place: _Place, source: str) -> None:
    """Take a word that stands alone: a label after a bracket and blanks, or the word of a tag."""
    if not stack:
        raise place.error(f"the word {word!r} stands outside of all brackets; a tree is (S (NN x))", source)
    above = stack[-1]
    if above.children or above.word is not None:
        raise _explain_untagged(word, place, source)
    if above.label:
        above.word = word
    else:
        above.label = word


def _explain_untagged(word: str, place: _Place, source: str) -> FormatError:
    return place.error(f"the word {word!r} has no tag of its own: write (TAG {word})", source)
