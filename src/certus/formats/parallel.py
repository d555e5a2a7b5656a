"""Sentence pairs: two files line by line, or one whose lines are ``source ||| target``, or with a tab."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest

from certus.errors import FormatError
from certus.formats.blocks import decode
from certus.formats.text import split_lines
from certus.storage.files import Source, check_encoding, name_of, open_source

BARS = "|||"


@dataclass(frozen=True)
class SentencePair:
    """The words of a sentence and of its translation, and the line that they stand on."""

    source: list[str]
    target: list[str]
    line: int


def read_pairs(
    first: Source, second: Source | None = None, *, encoding: str = "utf-8"
) -> Iterator[SentencePair]:
    """Yield sentence pairs; words are what blanks separate.

    Args:
        first: the source sentences, or pairs if there is no second file.
        second: the target sentences, as many as there are source sentences.
        encoding: of the files.

    Raises:
        FormatError: a line without a separator, or files of different numbers of lines.
    """
    check_encoding(encoding)
    if second is None:
        yield from _read_joint(first, encoding)
    else:
        yield from _read_two(first, second, encoding)


def _read_two(first: Source, second: Source, encoding: str) -> Iterator[SentencePair]:
    names = name_of(first), name_of(second)
    with open_source(first) as one, open_source(second) as other:
        sides = (
            split_lines(decode(one, names[0], encoding)),
            split_lines(decode(other, names[1], encoding)),
        )
        for number, (left, right) in enumerate(zip_longest(*sides), 1):
            if left is None or right is None:
                shorter, longer = names if left is None else names[::-1]
                raise FormatError(
                    f"there is no line {number}, but {longer} has one: the files must be line by line "
                    "translations of each other",
                    shorter,
                    number,
                )
            yield SentencePair(_split(left[0]), _split(right[0]), number)


def _read_joint(source: Source, encoding: str) -> Iterator[SentencePair]:
    name = name_of(source)
    with open_source(source) as chunk:
        for number, (line, _) in enumerate(split_lines(decode(chunk, name, encoding)), 1):
            yield parse_pair(line, name, number)


def parse_pair(line: str, source: str | None = None, number: int = 1) -> SentencePair:
    """Return the pair of a line ``source ||| target``, or ``source TAB target``."""
    separator = BARS if BARS in line else "\t"
    sides = line.split(separator)
    if len(sides) != 2:
        raise FormatError(
            f"this line has {len(sides) - 1} separators, but there must be one, ||| or a tab, between a "
            "sentence and its translation",
            source,
            number,
        )
    return SentencePair(_split(sides[0]), _split(sides[1]), number)


def _split(text: str) -> list[str]:
    return text.removeprefix("\ufeff").split()
