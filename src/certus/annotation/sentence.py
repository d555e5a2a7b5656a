"""A sentence of an annotated file: its columns, and the text they came from."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from certus.errors import FormatError, InvalidInput

_BLANKS = re.compile(r"([ \t]+)")


@dataclass(frozen=True)
class Layout:
    """How the token lines of a file are laid out.

    Attributes:
        format: "conllu", "columns", "text" or "raw".
        names: the columns, in order.
        separator: what stands between two fields of a line; text has none.
    """

    format: str
    names: tuple[str, ...]
    separator: str


class Sentence:
    """The tokens of a sentence by column, and what is needed to write it back byte for byte.

    Multiword ranges, empty nodes and comments are not tokens: they live in ``text`` only.

    Attributes:
        columns: the fields by column name, one list each, one element a token; the words are "form".
        text: all lines from the end of the sentence before to the end of this one, blank lines included.
        rows: for each token, the index of its line in ``text``.
        top: the line number, from 1, of the first line of ``text``.
        source: the name of the file.
        layout: how the token lines are laid out.
    """

    __slots__ = ("columns", "layout", "rows", "source", "text", "top")

    def __init__(
        self,
        columns: dict[str, list[str]],
        text: str,
        rows: Sequence[int],
        top: int,
        source: str,
        layout: Layout,
    ) -> None:
        self.columns = columns
        self.text = text
        self.rows = rows
        self.top = top
        self.source = source
        self.layout = layout

    @property
    def words(self) -> list[str]:
        """The words."""
        return self.columns["form"]

    @property
    def line(self) -> int:
        """The line number of the first token."""
        return self.line_of(0)

    def line_of(self, token: int) -> int:
        """Return the line number of a token; tokens are counted from 0."""
        return self.top + self.rows[token]

    def column(self, name: str) -> list[str]:
        """Return the fields of a column; "word" is a second name of "form".

        In CoNLL-X, "upos" and "xpos" are what it calls "cpos" and "pos".

        Raises:
            FormatError: there is no such column.
        """
        found = self.columns.get(resolve_column(name))
        if found is None and "cpos" in self.columns:
            found = self.columns.get(_IN_CONLL_X.get(name, ""))
        if found is None:
            is_text = self.layout.format in ("text", "raw")
            read_as = ": it was read as text (another format can be named)" if is_text else ""
            raise FormatError(
                f"there is no column {name!r}; the columns are {', '.join(self.columns)}{read_as}",
                self.source,
                self.line,
            )
        return found

    def prepend(self, lead: str) -> None:
        """Take over lines that stand before the sentence and belong to no other."""
        shift = lead.count("\n")
        rows = self.rows
        self.text = lead + self.text
        self.top -= shift
        self.rows = (
            range(rows.start + shift, rows.stop + shift)
            if isinstance(rows, range)
            else [row + shift for row in rows]
        )

    def __len__(self) -> int:
        return len(self.columns["form"])

    def __repr__(self) -> str:
        words = " ".join(self.words[:8]) + (" ..." if len(self) > 8 else "")
        return f"Sentence({words!r}, {self.source}:{self.line}, columns={' '.join(self.columns)})"


_IN_CONLL_X = {"upos": "cpos", "xpos": "pos"}


def resolve_column(name: str) -> str:
    """Return the name under which a column is kept: "word" is "form"."""
    return "form" if name == "word" else name


def replace(sentence: Sentence, fields: Mapping[str, Sequence[str]]) -> Sentence:
    """Return a sentence in which some columns of the token lines hold other values.

    Comments, multiword ranges, empty nodes, other columns, separators and line ends stay as they are.

    Args:
        sentence: the original, which stays as it is.
        fields: by column name, one value per token.
    """
    columns = dict(sentence.columns)
    for name, values in fields.items():
        sentence.column(name)
        columns[resolve_column(name)] = _check_values(sentence, name, values)
    if sentence.layout.format in ("text", "raw"):
        raise InvalidInput(
            "a line of plain text has no fields to replace; certus.formats.build makes CoNLL-U of its words"
        )
    text = _rewrite(sentence, columns)
    return Sentence(columns, text, sentence.rows, sentence.top, sentence.source, sentence.layout)


def _check_values(sentence: Sentence, name: str, values: Sequence[str]) -> list[str]:
    """Refuse values that would break the line they are written into."""
    where = f"{sentence.source}:{sentence.line}: "
    if len(values) != len(sentence):
        raise InvalidInput(f"{where}{len(values)} values of {name!r} for {len(sentence)} tokens")
    breaking = "\t\n\r " if sentence.layout.separator == " " else "\t\n\r"
    whole = "".join(values)
    if "" in values or any(character in whole for character in breaking):
        bad = next(value for value in values if not value or any(c in value for c in breaking))
        raise InvalidInput(f"{where}{bad!r} cannot be written as {name!r}: it is empty or breaks the line")
    return list(values)


def _rewrite(sentence: Sentence, columns: dict[str, list[str]]) -> str:
    """Write the columns into the text of the sentence."""
    lines = sentence.text.split("\n")
    separator = sentence.layout.separator
    fresh = list(map(separator.join, zip(*columns.values(), strict=True)))
    rows = sentence.rows
    if separator == " " and not _is_regular(sentence.text):
        table = zip(*columns.values(), strict=True)
        fresh = [_respace(lines[row], fields) for row, fields in zip(rows, table, strict=True)]
    elif "\r" in sentence.text:
        fresh = [new + "\r" * lines[row].endswith("\r") for row, new in zip(rows, fresh, strict=True)]
    if "\ufeff" in sentence.text:
        fresh = [_keep_mark(lines[row], new) for row, new in zip(rows, fresh, strict=True)]
    if isinstance(rows, range):
        lines[rows.start : rows.stop] = fresh
    else:
        for row, new in zip(rows, fresh, strict=True):
            lines[row] = new
    return "\n".join(lines)


def _keep_mark(line: str, new: str) -> str:
    """Keep the byte order mark that a line begins with."""
    return "\ufeff" + new if line.startswith("\ufeff") and not new.startswith("\ufeff") else new


def _is_regular(text: str) -> bool:
    """Whether single spaces are the only blanks between fields."""
    lines = f"\n{text}\n"
    return not any(odd in lines for odd in ("  ", "\t", " \n", "\n ", "\r", "\ufeff"))


def _respace(line: str, fields: Sequence[str]) -> str:
    """Put fields into a line, between the blanks that are there."""
    bare = line.removesuffix("\r").removeprefix("\ufeff").strip(" \t")
    pieces = _BLANKS.split(bare)
    pieces[::2] = fields
    start = line.index(bare)
    return line[:start] + "".join(pieces) + line[start + len(bare) :]
