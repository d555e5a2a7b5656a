"""CoNLL-U: ten columns, comments, multiword ranges, empty nodes (https://universaldependencies.org/format.html).

Files of SIGMORPHON 2019 are CoNLL-U with the whole morphological bundle in ``feats``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from certus.annotation.sentence import Layout, Sentence
from certus.errors import FormatError, InvalidInput
from certus.formats.blocks import split_columns, strip_carriage_returns

FIELDS = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
LAYOUT = Layout("conllu", FIELDS, "\t")

_RANGE = re.compile(r"([1-9]\d*)-([1-9]\d*)")
_EMPTY = re.compile(r"(\d+)\.([1-9]\d*)")
_ids = [str(number) for number in range(1, 129)]


def make_ids(count: int) -> list[str]:
    """Return "1", "2" and so on."""
    while len(_ids) < count:
        _ids.extend(str(number) for number in range(len(_ids) + 1, 2 * len(_ids) + 1))
    return _ids[:count]


def parse(body: str, gap: str, line: int, source: str) -> Sentence | None:
    """Return the sentence of a block, or None if it has only comments.

    Args:
        body: the lines, without the last line end.
        gap: the last line end and the blank lines after it.
        line: the number of the first line.
        source: the name of the file.
    """
    start = comments = 0
    while body.startswith("#", start):
        start = body.find("\n", start) + 1
        comments += 1
        if not start:
            return None
    tokens = strip_carriage_returns(body[start:])
    columns = None if "\n#" in tokens or "\ufeff" in tokens[:1] else split_columns(tokens, "\t", len(FIELDS))
    if columns is None or "" in columns[1]:
        return _parse_lines(body, gap, line, source)
    rows: Sequence[int] = range(comments, comments + len(columns[0]))
    if columns[0] != make_ids(len(rows)):
        rows = _remove_others(columns, rows, line, source)
    if not rows:
        return None
    return Sentence(dict(zip(FIELDS, columns, strict=True)), body + gap, rows, line, source, LAYOUT)


def _remove_others(columns: list[list[str]], rows: Sequence[int], line: int, source: str) -> list[int]:
    """Check the ids, and take ranges and empty nodes out of the columns; return the rows that stay."""
    kept: list[int] = []
    others = []
    covered = 0  # the last token of the last range
    for place, name in enumerate(columns[0]):
        if name == str(len(kept) + 1):
            kept.append(rows[place])
        else:
            covered = _check_other_id(name, len(kept), covered, source, line + rows[place])
            others.append(place)
    if covered > len(kept):
        raise FormatError(f"a range ends at token {covered}, but there are {len(kept)}", source, line)
    for column in columns:
        for place in reversed(others):
            del column[place]
    return kept


def _parse_lines(body: str, gap: str, line: int, source: str) -> Sentence | None:
    """Parse line by line what is out of the ordinary: comments between tokens, and most that is wrong."""
    rows: list[int] = []
    cells: list[list[str]] = []
    for row, text in enumerate(strip_carriage_returns(body).split("\n")):
        text = text.removeprefix("\ufeff")
        if text.startswith("#") or not text.strip(" \t\r"):
            continue
        fields = text.split("\t")
        if len(fields) != len(FIELDS):
            raise FormatError(_explain_width(text, fields), source, line + row)
        if not fields[1]:
            raise FormatError("the form, column 2, is empty", source, line + row)
        rows.append(row)
        cells.append(fields)
    if not rows:
        return None
    columns = list(map(list, zip(*cells, strict=True)))
    kept = _remove_others(columns, rows, line, source)
    if not kept:
        return None
    return Sentence(dict(zip(FIELDS, columns, strict=True)), body + gap, kept, line, source, LAYOUT)


def _explain_width(text: str, fields: list[str]) -> str:
    """Say what is wrong with a line that has not ten columns."""
    if len(fields) == 1:
        found = len(text.split())
        spaces = "; its fields are separated by spaces" if found >= len(FIELDS) else ""
        return f"there is no tab in this line{spaces}: CoNLL-U has ten columns separated by tabs"
    return f"{len(fields)} columns instead of 10: this is not CoNLL-U (another format can be named)"


def _check_other_id(name: str, tokens: int, covered: int, source: str, line: int) -> int:
    """Check the id of a line that is no token; return the last token of the last range."""
    span, empty = _RANGE.fullmatch(name), _EMPTY.fullmatch(name)
    if span:
        first, last = int(span[1]), int(span[2])
        if first == tokens + 1 and last >= first and first > covered:
            return last
    elif empty and int(empty[1]) == tokens:
        return covered
    raise FormatError(
        f"id {name!r} is out of order: {tokens + 1} or a range that starts there was expected", source, line
    )


def build(
    words: Sequence[str], fields: Mapping[str, Sequence[str]] | None = None, *, text: str | None = None
) -> Sentence:
    """Make a CoNLL-U sentence of words.

    Args:
        words: one or more.
        fields: values of other columns, one per word; "_" everywhere else.
        text: the untokenised sentence, written as a comment; where no blank follows a word there, MISC
            says SpaceAfter=No.
    """
    if not words or "" in words:
        raise InvalidInput("a sentence needs at least one word, and no word is empty")
    columns = {name: ["_"] * len(words) for name in FIELDS}
    columns["id"], columns["form"] = make_ids(len(words)), list(words)
    comment = ""
    if text is not None:
        columns["misc"] = _find_spacing(words, text)
        comment = f"# text = {' '.join(text.split())}\n"
    for name, values in (fields or {}).items():
        if name not in columns:
            raise InvalidInput(f"CoNLL-U has no column {name!r}; the columns are {', '.join(FIELDS)}")
        columns[name] = list(values)
    if any(len(values) != len(words) for values in columns.values()):
        raise InvalidInput(f"every column needs {len(words)} values, one per word")
    if any(mark in value for values in columns.values() for value in values for mark in "\t\n\r"):
        raise InvalidInput("no value may hold a tab or a line end")
    lines = map("\t".join, zip(*columns.values(), strict=True))
    body = comment + "\n".join(lines)
    first = comment.count("\n")
    return Sentence(columns, body + "\n\n", range(first, first + len(words)), 1, "<words>", LAYOUT)


def _find_spacing(words: Sequence[str], text: str) -> list[str]:
    """Find the words in their text, and say after which there is no blank."""
    place = 0
    marks = []
    for word in words:
        found = text.find(word, place)
        if found < 0:
            return ["_"] * len(words)
        place = found + len(word)
        glued = place < len(text) and not text[place].isspace()
        marks.append("SpaceAfter=No" if glued else "_")
    return marks
