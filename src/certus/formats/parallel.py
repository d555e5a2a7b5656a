"""Sentence pairs: two files line by line, or one whose lines are ``source ||| target``, or with a tab."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import zip_longest

from certus.errors import FormatError
from certus.formats.blocks import decode
from certus.storage.files import Source, check_encoding, name_of, open_source

BARS = "|||"


@dataclass(frozen=True)
class SentencePair:
    """The words of a sentence and of its translation, and the line that they stand on.

    Attributes:
        source: words.
        target: words.
        line: from 1.
        fault: why the line could not be read, where such lines are passed over; both sides are empty then.
    """

    source: list[str]
    target: list[str]
    line: int
    fault: str | None = field(default=None, kw_only=True)


def read_pairs(
    first: Source, second: Source | None = None, *, encoding: str = "utf-8", skip: bool = False
) -> Iterator[SentencePair]:
    """Yield sentence pairs; words are what blanks separate.

    Args:
        first: the source sentences, or pairs if there is no second file.
        second: the target sentences, as many as there are source sentences.
        encoding: of the files.
        skip: whether a line that cannot be read becomes an empty pair with its ``fault``, so that nothing
            else is lost, instead of an error.

    Raises:
        FormatError: bytes that are not of the encoding, a line without a separator, or files of different
            numbers of lines.
    """
    check_encoding(encoding)
    for number, made in enumerate(_read_lines(first, second, encoding), 1):
        try:
            yield made(number)
        except FormatError as error:
            if not skip:
                raise
            yield SentencePair([], [], number, fault=str(error))


def _read_lines(
    first: Source, second: Source | None, encoding: str
) -> Iterator[Callable[[int], SentencePair]]:
    """Yield for each line what makes a pair of it, once it is given its number."""
    names = name_of(first), None if second is None else name_of(second)
    if second is None:
        with open_source(first) as chunk:
            for line in _split_bytes(chunk):
                yield partial(_read_joint, line, names[0], encoding)
        return
    with open_source(first) as one, open_source(second) as other:
        for sides in zip_longest(_split_bytes(one), _split_bytes(other)):
            yield partial(_join, sides, names, encoding)


def _split_bytes(chunk: Callable[[], bytes]) -> Iterator[bytes]:
    """Yield lines without their ends."""
    rest = b""
    while piece := chunk():
        *lines, rest = (rest + piece).split(b"\n")
        yield from lines
    if rest:
        yield rest


def _decode(line: bytes, source: str, number: int, encoding: str) -> str:
    try:
        return line.decode(encoding)
    except UnicodeDecodeError:
        pieces = iter([line])
        try:  # once more, where errors are said as everywhere else
            return "".join(decode(lambda: next(pieces, b""), source, encoding))
        except FormatError as error:
            raise FormatError(error.reason, source, number) from None


def _read_joint(line: bytes, name: str, encoding: str, number: int) -> SentencePair:
    return parse_pair(_decode(line, name, number, encoding), name, number)


def _join(
    sides: tuple[bytes | None, bytes | None], names: tuple[str, str | None], encoding: str, number: int
) -> SentencePair:
    for side, name, other in ((sides[0], *names), (sides[1], *names[::-1])):
        if side is None:
            raise FormatError(
                f"there is no line {number}, but {other} has one: the files must be line by line "
                "translations of each other",
                name,
                number,
            )
    left, right = (
        _decode(side, str(name), number, encoding)
        for side, name in zip(sides, names, strict=True)
        if side is not None
    )
    return SentencePair(_split(left), _split(right), number)


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
