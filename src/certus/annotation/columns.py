"""The columns of a sentence that a model looks at, taken from whatever form the sentence is given in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from certus.annotation.sentence import Sentence
from certus.errors import InvalidInput

Words: TypeAlias = "Sequence[str] | Sentence | Mapping[str, Sequence[str]]"
Columns: TypeAlias = list[list[str]]  # of one sentence: the cells of each column, the words first


def select_columns(sentence: Words, names: Sequence[str]) -> Columns:
    """Return the columns of a sentence that are named, in that order; the words are the first.

    A list of words is enough where the words are all that is looked at.
    """
    if isinstance(sentence, Sentence):
        return [sentence.column(name) for name in names]
    if isinstance(sentence, str):
        raise InvalidInput(f"a sentence is a list of words, not a text: {sentence[:40]!r}")
    if isinstance(sentence, Mapping):
        return _select_from_mapping(sentence, names)
    if len(names) > 1:
        raise InvalidInput(
            f"the tagger looks at the columns {', '.join(names)}: give a mapping from them to lists, "
            "or a Sentence"
        )
    return [_check_texts(sentence, names[0])]


def _select_from_mapping(sentence: Mapping[str, Sequence[str]], names: Sequence[str]) -> Columns:
    given = {"word" if name == "form" else name: values for name, values in sentence.items()}
    missing = next((name for name in names if name not in given), None)
    if missing is not None:
        raise InvalidInput(f"the tagger looks at column {missing!r}, which the sentence has not")
    columns = [_check_texts(given[name], name) for name in names]
    for name, column in zip(names, columns, strict=True):
        if len(column) != len(columns[0]):
            raise InvalidInput(f"column {name!r} has {len(column)} values for {len(columns[0])} words")
    return columns


def _check_texts(values: Sequence[str], name: str) -> list[str]:
    """Return the cells of a column; refuse those that are no text, or none that UTF-8 can hold."""
    cells = list(values)
    try:
        "".join(cells).encode()
    except (TypeError, UnicodeEncodeError):
        place = next(place for place, value in enumerate(cells) if not _is_text(value))
        raise InvalidInput(f"{name} {place} of the sentence is {cells[place]!r}, which is no text") from None
    return cells


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and not any("\ud800" <= character <= "\udfff" for character in value)
