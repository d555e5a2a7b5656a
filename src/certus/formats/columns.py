"""Files with one token per line and fields in columns: CoNLL-2000, CoNLL-2003, IOB2, TSV, CoNLL-X and 2007.

Fields are separated by tabs, or by blanks. Lines that mark a new document (``-DOCSTART-``, ``###MEDLINE:``)
and, in files with tabs, lines that begin with ``#`` and have none, are no tokens and are kept.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from certus.annotation.sentence import Layout, Sentence, resolve_column
from certus.errors import FormatError, InvalidInput
from certus.formats.blocks import split_columns, strip_carriage_returns
from certus.formats.conllu import make_ids

CONLLX = ("id", "form", "lemma", "cpos", "pos", "feats", "head", "deprel", "phead", "pdeprel")
USUAL = {
    1: ("form",),
    2: ("form", "tag"),
    3: ("form", "pos", "chunk"),
    4: ("form", "pos", "chunk", "ner"),
}

DOCUMENTS = ("-DOCSTART-", "###MEDLINE:")
ADDED = {  # the columns that certus tag appends, in their order, and what they hold
    "confidence": re.compile(r"[01]\.\d{4}|_"),
    "proof": re.compile(r"(?:rank=\d+,)?(?:optimal|gap=\S+)"),
}
SAMPLE_LINES = 2000  # that a guess looks at


def split_fields(line: str, separator: str) -> list[str]:
    """Return the fields of a line."""
    if separator == "\t":
        return line.split("\t")
    return [field for field in line.replace("\t", " ").split(" ") if field]


def is_token(line: str, separator: str) -> bool:
    """Whether a line holds a token: neither blank, nor a comment, nor the mark of a new document."""
    if not line.strip(" \t\r") or line.startswith(DOCUMENTS):
        return False
    return not (separator == "\t" and line.startswith("#") and "\t" not in line)


def find_first_token(sample: str) -> str:
    """Return the first line that is surely a token; empty if there is none yet."""
    lines = (line.removeprefix("\ufeff") for line in strip_carriage_returns(sample).split("\n"))
    separator = "\t" if "\t" in sample else " "
    return next((line for line in lines if is_token(line, separator)), "")


def split_sample(sample: str, separator: str) -> list[list[str]]:
    """Return the fields of the first tokens of a file, but for a last line that may be cut off."""
    lines = strip_carriage_returns(sample).split("\n")
    lines = (lines[:-1] or lines)[:SAMPLE_LINES]
    return [
        split_fields(line.removeprefix("\ufeff"), separator) for line in lines if is_token(line, separator)
    ]


def find_added(rows: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return the names of the last columns that ``certus tag`` has appended to a file."""
    found: tuple[str, ...] = ()
    for name, content in reversed(ADDED.items()):
        place = -1 - len(found)
        cells = {row[place] if len(row) > -place else "" for row in rows}
        if cells - {"_"} and all(map(content.fullmatch, cells)):
            found = name, *found
    return found


def make_layout(names: str | tuple[str, ...] | list[str], separator: str) -> Layout:
    """Check the names a user gives the columns; "_" stands for a column of no interest."""
    parts = names.replace(",", " ").split() if isinstance(names, str) else list(names)
    unique = tuple(
        f"_{place}" if name == "_" else resolve_column(name) for place, name in enumerate(parts, 1)
    )
    if len(set(unique)) < len(unique):
        raise InvalidInput(f"a column is named twice in {' '.join(parts)!r}")
    if "form" not in unique:
        raise InvalidInput(f"one of the columns must be 'word' (or 'form'); {' '.join(parts)!r} has none")
    return Layout("columns", unique, separator)


def guess(
    sample: str,
    source: str,
    names: str | tuple[str, ...] | list[str] | None = None,
    usual: Sequence[str] | None = None,
) -> Layout:
    """Work out separator and column names from the first token line.

    Args:
        sample: the beginning of the file.
        source: the name of the file.
        names: the names of the columns, if the user gives them.
        usual: the names that columns of such files have, from the first on.
    """
    first = find_first_token(sample)
    separator = "\t" if "\t" in first else " "
    if names is not None:
        given = make_layout(names, separator)
        # Blanks may be tabs here and spaces there; fields with spaces inside are only found between tabs.
        blanks = len(split_fields(first, "\t")) != len(given.names) == len(split_fields(first, " "))
        return make_layout(names, " ") if blanks else given
    fields = split_fields(first, separator)
    added = find_added(split_sample(sample, separator))
    if added:
        shorter = guess(separator.join(fields[: -len(added)]), source, usual=usual)
        return Layout("columns", (*shorter.names, *added), separator)
    width = len(fields)
    if fields[:1] == ["1"] and 6 <= width <= len(CONLLX):
        return Layout("columns", CONLLX[:width], separator)
    if usual is not None and width <= len(usual) and "form" in usual[:width]:
        return make_layout(tuple(usual[:width]), separator)
    if width == 3 and fields[2].isdecimal():
        return Layout("columns", ("form", "pos", "head"), separator)
    if width in USUAL:
        return Layout("columns", USUAL[width], separator)
    if not fields:
        return Layout("columns", USUAL[1], separator)
    raise FormatError(
        f"{width} columns, and no usual names for them; name them, for example 'word lemma pos'",
        source,
    )


def parse(body: str, gap: str, line: int, source: str, layout: Layout) -> Sentence | None:
    """Return the sentence of a block, or None if it has no token; arguments as in conllu.parse."""
    names, separator = layout.names, layout.separator
    tokens = strip_carriage_returns(body)
    if not _is_odd(tokens, separator):
        columns = split_columns(tokens, separator, len(names))
        if columns is not None:
            found = dict(zip(names, columns, strict=True))
            rows = range(len(columns[0]))
            if "" not in found["form"] and ("id" not in found or found["id"] == make_ids(len(rows))):
                return Sentence(found, body + gap, rows, line, source, layout)
    return _parse_lines(body, gap, line, source, layout)


def _is_odd(tokens: str, separator: str) -> bool:
    """Whether a block needs a closer look before it can be split at every separator."""
    if any(mark in tokens for mark in ("\ufeff", *DOCUMENTS)):
        return True
    if separator == "\t":
        return "\n#" in tokens or tokens.startswith("#")
    return any(odd in tokens for odd in ("  ", "\t", " \n", "\n ")) or tokens[:1] == " " or tokens[-1:] == " "


def _parse_lines(body: str, gap: str, line: int, source: str, layout: Layout) -> Sentence | None:
    names, separator = layout.names, layout.separator
    rows, cells = [], []
    for row, text in enumerate(strip_carriage_returns(body).split("\n")):
        text = text.removeprefix("\ufeff")
        if not is_token(text, separator):
            continue
        fields = split_fields(text, separator)
        if len(fields) != len(names):
            raise FormatError(_explain_width(text, fields, layout), source, line + row)
        rows.append(row)
        cells.append(fields)
        _check(dict(zip(names, fields, strict=True)), len(rows), source, line + row)
    if not rows:
        return None
    columns = dict(zip(names, map(list, zip(*cells, strict=True)), strict=True))
    return Sentence(columns, body + gap, rows, line, source, layout)


def _check(fields: dict[str, str], token: int, source: str, line: int) -> None:
    if not fields["form"]:
        raise FormatError("the word is empty", source, line)
    if fields.get("id", str(token)) != str(token):
        raise FormatError(f"id {fields['id']!r} is out of order: {token} was expected", source, line)


def _explain_width(text: str, fields: list[str], layout: Layout) -> str:
    """Say what is wrong with a line that has another number of columns."""
    wanted = f"{len(layout.names)} ({' '.join(layout.names)})"
    if layout.separator == "\t" and "\t" not in text and len(text.split()) == len(layout.names):
        return (
            f"there is no tab in this line; its fields are separated by spaces: tabs are needed for {wanted}"
        )
    plural = "s" * (len(fields) != 1)
    return f"{len(fields)} column{plural} instead of {wanted}; the columns can be given other names"
