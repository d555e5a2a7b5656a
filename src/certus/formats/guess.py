"""Works out the format of a file from its name and its beginning."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath

from certus.annotation.sentence import Layout
from certus.annotation.tokenizer import ENGLISH
from certus.errors import FormatError, InvalidInput
from certus.formats import columns, conllu, text

FORMATS = ("conllu", "conllx", "columns", "brackets", "text", "raw")
TREES = Layout("brackets", ("form", "xpos"), "")
SAMPLE = 1 << 16  # characters that a guess is made from

_TREE = re.compile(r"\s*\(\s*[^\s()]*\s*\(\s*[^\s()]+[\s(]")
_UNTAGGED = re.compile(r"\)\s*[^\s()]")
_TAG = re.compile(r"O|[BIESLU]-\S+|[A-Z_$.,:;#'`()-][A-Z0-9_$.,:;#'`()-]*")


def check(format: str | None, names: str | Sequence[str] | None) -> None:
    """Refuse a format that does not exist, or column names where the columns have names."""
    if format is not None and format not in FORMATS:
        raise InvalidInput(f"format {format!r} is unknown; the formats are {', '.join(FORMATS)}")
    if names is not None:
        if format not in (None, "columns"):
            raise InvalidInput(f"columns cannot be named in format {format!r}; leave the format out")
        columns.make_layout(names if isinstance(names, str) else tuple(names), "\t")


def is_enough(sample: str, format: str | None, names: str | Sequence[str] | None, waiting: bool) -> bool:
    """Whether this much of a file tells its layout.

    Args:
        sample: the beginning.
        format: the format, if it is given.
        names: the names of the columns, if they are given.
        waiting: whether somebody types the file and cannot be asked to go on.
    """
    if format in ("conllu", "brackets", "text", "raw"):
        return True
    if format is not None or names is not None:
        return bool(columns.find_first_token(sample))
    return len(sample) >= SAMPLE or (waiting and bool(sample.strip("\ufeff \t\r\n")))


def guess_layout(
    name: str,
    sample: str,
    format: str | None = None,
    names: str | Sequence[str] | None = None,
    tokens: str = ENGLISH,
    usual: Sequence[str] | None = None,
) -> Layout:
    """Return the layout of a file.

    Args:
        name: its name; the suffix tells CoNLL-U, and two columns from text.
        sample: its beginning.
        format: one of FORMATS; None to guess.
        names: the names of its columns, which then are separated by tabs or blanks.
        tokens: the rules for tokens, which tell text that is tokenised.
        usual: the names that columns of such files have, from the first on.
    """
    if names is not None:
        return columns.guess(sample, name, names if isinstance(names, str) else tuple(names))
    chosen = format or _format(name, sample, tokens)
    if chosen == "conllu":
        return conllu.LAYOUT
    if chosen == "conllx":
        return _guess_conllx(sample, name)
    if chosen == "columns":
        return columns.guess(sample, name, usual=usual)
    if chosen == "brackets":
        return TREES
    return text.RAW if chosen == "raw" else text.TEXT


def _guess_conllx(sample: str, name: str) -> Layout:
    first = columns.find_first_token(sample)
    separator = "\t" if "\t" in first else " "
    width = len(columns.split_fields(first, separator))
    if not 6 <= width <= len(columns.CONLLX):
        raise FormatError(f"{width} columns instead of 8 or 10: this is not CoNLL-X", name)
    return Layout("columns", columns.CONLLX[:width], separator)


def is_bracketed(name: str, sample: str) -> bool:
    """Whether a file holds trees, by its name or its beginning.

    That is a bracket within a bracket, and no word after one that closes: text with brackets has those.
    """
    beginning = sample[:4096].lstrip("\ufeff")
    if _get_suffix(name) == ".mrg":
        return True
    return bool(_TREE.match(beginning)) and not _UNTAGGED.search(beginning)


def _get_suffix(name: str) -> str:
    suffixes = [suffix for suffix in PurePath(name).suffixes if suffix != ".gz"]
    return suffixes[-1].lower() if suffixes else ""


def _format(name: str, sample: str, tokens: str) -> str:
    suffix = _get_suffix(name)
    if suffix == ".conllu":
        return "conllu"
    if suffix in (".conll", ".conllx", ".iob", ".iob2", ".bio", ".tsv", ".iobes"):
        return "columns"
    if is_bracketed(name, sample):
        return "brackets"
    if "\t" in sample:
        return "conllu" if _has_ten_columns(sample) else "columns"
    if _looks_tagged(sample) or sample.lstrip("\ufeff \r\n").startswith(columns.DOCUMENTS):
        return "columns"
    return "raw" if text.looks_raw(sample, tokens) else "text"


def _has_ten_columns(sample: str) -> bool:
    """Whether the first line that is no comment has the ten columns of CoNLL-U."""
    lines = (
        line for line in sample.split("\n") if line.strip() and not line.lstrip("\ufeff").startswith("#")
    )
    first = next(lines, "").lstrip("\ufeff")
    return first.count("\t") == 9 and first[:1] == "1"


def _looks_tagged(sample: str) -> bool:
    """Whether all lines have as many fields and the last looks like a tag: nobody writes text like that."""
    fields = columns.split_sample(sample, " ")
    last = -1 - len(columns.find_added(fields))
    tags = {found[last] if len(found) >= -last else "" for found in fields}
    widths = {len(found) for found in fields}
    uniform = len(fields) > 1 and len(widths) == 1 and widths.pop() > 1
    # Sentences may well end in the same punctuation, so one of the tags must be more than that.
    return uniform and any(tag[:1].isalpha() for tag in tags) and all(map(_TAG.fullmatch, tags))
