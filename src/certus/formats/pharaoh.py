"""Links as Pharaoh wrote them, one sentence pair per line: ``0-0 1-2 2-1``, from 0, source before target.

Gold files tell sure links (``1-2``) from possible ones (``1p2``, also ``1?2``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from certus.errors import FormatError
from certus.formats.blocks import decode
from certus.formats.text import split_lines
from certus.storage.files import Source, check_encoding, name_of, open_source

_LINK = re.compile(r"(\d{1,9})([-p?])(\d{1,9})(?::\S*)?", re.ASCII)
_SAMPLE = 200  # lines that tell what a file holds


@dataclass(frozen=True)
class GoldLinks:
    """The links of a sentence pair: the ``sure`` ones, and all that are ``possible``, sure ones included."""

    sure: frozenset[tuple[int, int]]
    possible: frozenset[tuple[int, int]]


def read_links(source: Source, *, encoding: str = "utf-8") -> Iterator[GoldLinks]:
    """Yield the links of each line; a link with a number after a colon (``1-2:0.93``) is a link."""
    check_encoding(encoding)
    name = name_of(source)
    with open_source(source) as chunk:
        for number, (line, _) in enumerate(split_lines(decode(chunk, name, encoding)), 1):
            yield parse_links(line, name, number)


def parse_links(line: str, source: str | None = None, number: int | None = None) -> GoldLinks:
    """Return the links of a line."""
    sure, possible = set(), set()
    for token in line.split():
        found = _LINK.fullmatch(token)
        if found is None:
            raise FormatError(f"{token!r} is no link such as 0-1 or 0p1", source, number)
        link = int(found[1]), int(found[3])
        possible.add(link)
        if found[2] == "-":
            sure.add(link)
    return GoldLinks(frozenset(sure), frozenset(possible))


def format_links(links: Iterable[tuple[int, int]]) -> str:
    """Return links in one line."""
    return " ".join(f"{i}-{j}" for i, j in links)


def looks_linked(path: str) -> bool:
    """Whether the first lines of a file hold links, and nothing else."""
    if path == "-":
        return False
    with open_source(path) as chunk:
        text = decode(chunk, path, "latin-1")
        lines = [line.split() for line, _ in islice(split_lines(text), _SAMPLE)]
    tokens = [token for line in lines for token in line]
    return bool(tokens) and all(map(_LINK.fullmatch, tokens))
