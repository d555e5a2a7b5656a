"""Cuts a stream into the pieces between blank lines, at the speed of str.split, and joins them again."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from certus.annotation.sentence import Layout
from certus.errors import FormatError

LARGEST = 1 << 26  # characters without a blank line after which this cannot be a sentence

_BREAK = re.compile(r"\n(?:[ \t\r]*\n)+")
_END = re.compile(r"\n[ \t\r\n]*\Z")
_BLANK_LINE = re.compile(r"\n[ \t\r]*\n\Z")


def decode(chunk: Callable[[], bytes], source: str, encoding: str = "utf-8") -> Iterator[str]:
    """Yield the text of a stream in pieces that end at line ends.

    Raises:
        FormatError: bytes that are not of the encoding, with their line.
    """
    pending: list[bytes] = []
    lines = 1
    while piece := chunk():
        cut = piece.rfind(b"\n") + 1
        if cut:
            whole = b"".join([*pending, piece[:cut]])
            yield _decode(whole, source, lines, encoding)
            lines += whole.count(b"\n")
            pending = [piece[cut:]]
        else:
            pending.append(piece)
    if rest := b"".join(pending):
        yield _decode(rest, source, lines, encoding)


def _decode(piece: bytes, source: str, line: int, encoding: str) -> str:
    try:
        return piece.decode(encoding)
    except UnicodeDecodeError as error:
        start = error.start
        line += piece.count(b"\n", 0, start)
        place = start - piece.rfind(b"\n", 0, start)
        advice = "convert the file to UTF-8, or name its encoding, for example latin-1"
        if piece[:2] in (b"\xff\xfe", b"\xfe\xff"):
            advice = "it looks like UTF-16: convert it to UTF-8"
        elif b"\0" in piece:
            advice = "this seems to be no text at all"
        raise FormatError(
            f"byte {place} of this line, 0x{piece[start]:02x}, is not {encoding.upper()}; {advice}",
            source,
            line,
        ) from None


def split_blocks(texts: Iterator[str], source: str, *, eager: bool = False) -> Iterator[tuple[str, str]]:
    """Yield each run of lines without a blank one, and the line end and blank lines after it.

    The two of all blocks, strung together, are the file.

    Args:
        texts: the text in pieces that end at line ends.
        source: the name of the file, for errors.
        eager: yield at the first blank line, without waiting to see whether another follows.
    """
    carry = ""
    for text in texts:
        # No break was found in what is carried, except perhaps one at its very end.
        scanned = len(carry.rstrip(" \t\r\n"))
        text = carry + text
        start = 0
        for match in _BREAK.finditer(text, scanned):
            if match.end() == len(text) and not eager:
                break
            yield text[start : match.start()], match[0]
            start = match.end()
        carry = text[start:]
        if len(carry) > LARGEST:
            raise FormatError(
                f"{LARGEST:,} characters without a blank line, which ends a sentence; is it another format?",
                source,
            )
    if carry:
        end = _END.search(carry)
        cut = end.start() if end else len(carry)
        yield carry[:cut], carry[cut:]


def join_sentences(sentences: Iterable[tuple[str, Layout]]) -> Iterator[str]:
    """Yield the texts of sentences as they go into one file, one piece per sentence.

    The last sentence of a file may lack its line end or the blank line after it; where another sentence
    follows, it gets them. A byte order mark stays at the very beginning only. The sentences of one file come
    out byte for byte; only lines of raw text that hold several become several lines.

    Args:
        sentences: their texts and layouts, from one file or several.
    """
    missing = mark = ""
    for text, layout in sentences:
        yield missing + text.removeprefix(mark)
        missing, mark = _find_missing_end(text, layout), "\ufeff"


def _find_missing_end(text: str, layout: Layout) -> str:
    """Return what has to follow a sentence before another one can."""
    if text.endswith("\n\n"):
        return ""
    end = "\r\n" if "\r\n" in text else "\n"
    missing = "" if text.endswith("\n") else end
    if layout.format in ("text", "raw") or _BLANK_LINE.search(text + missing):
        return missing
    return missing + end


def split_columns(body: str, separator: str, width: int) -> list[list[str]] | None:
    """Return the columns of lines that all have ``width`` fields; None if one does not.

    One split for the whole sentence: line ends become fields of their own, which must then stand in a
    column of their own.
    """
    cells = body.replace("\n", f"{separator}\n{separator}").split(separator)
    stride = width + 1
    height, rest = divmod(len(cells) + 1, stride)
    if rest or body.count("\n") != height - 1 or cells[width::stride].count("\n") != height - 1:
        return None
    return [cells[column::stride] for column in range(width)]


def strip_carriage_returns(body: str) -> str:
    """Return lines with the line ends of Windows taken off."""
    return body.replace("\r\n", "\n").removesuffix("\r") if "\r" in body else body
