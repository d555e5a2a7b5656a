"""What a tagger predicts, as an expression over columns: ``upos``, ``upos+feats``, ``pos|chunk``.

========================  =====================================================================
``xpos``                  the values of one column
``upos+feats``            a tag and its morphological features: ``NOUN|Case=Nom|Number=Sing``
``pos|chunk``             columns joined into one label: ``NN|B-NP``
``upos|deprel|offset``    dependency parsing as tagging: ``NOUN|obj|-2``
========================  =====================================================================

``offset`` is how far away the head stands, head minus position: ``+1``, ``-3``, or ``root``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from certus.annotation.sentence import Sentence, resolve_column
from certus.errors import FormatError, InvalidInput

_VALUE = re.compile(r"(?:[^\\|]|\\.|\\\Z)*", re.DOTALL)  # up to a bar that is not marked
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


class Target:
    r"""The labels that an expression takes from a sentence, their parts, and the way back.

    ``+`` joins a tag with its features, ``|`` joins columns; ``+`` binds more tightly. Where ``|`` joins
    columns whose values hold a ``|`` themselves, that one is written ``\|``, so that every label can be
    taken apart again.

    Args:
        expression: names of columns joined by ``+`` and ``|``; ``word`` is a second name of ``form``, and
            ``offset`` stands for the distance to the head.
    """

    def __init__(self, expression: str) -> None:
        self.expression = "".join(expression.split())
        pieces = [piece.split("+") for piece in self.expression.split("|")]
        self._items = [tuple(map(resolve_column, piece)) for piece in pieces]
        names = [name for item in self._items for name in item]
        if "" in names:
            raise InvalidInput(f"target {expression!r} lacks a column name; write for example 'upos+feats'")
        if any(len(item) > 2 for item in self._items):
            raise InvalidInput(
                f"target {expression!r}: '+' joins one tag with its features; '|' joins columns"
            )
        fields = self.fields
        if len(set(fields)) < len(fields):
            raise InvalidInput(f"target {expression!r} uses a column twice")

    @property
    def fields(self) -> list[str]:
        """The columns that labels are taken from and written to; for ``offset``, that is ``head``."""
        return ["head" if name == "offset" else name for item in self._items for name in item]

    def labels(self, sentence: Sentence) -> list[str]:
        """Return the label of each token.

        Raises:
            FormatError: a column is missing, or a head is not a number; with file and line.
        """
        joined = [self._join(sentence, item) for item in self._items]
        if len(joined) == 1:
            return joined[0]
        escaped = (_escape(values) for values in joined)
        return list(map("|".join, zip(*escaped, strict=True)))

    def _join(self, sentence: Sentence, item: tuple[str, ...]) -> list[str]:
        """Return a column, or a tag column with its features."""
        values = [compute_offsets(sentence) if name == "offset" else sentence.column(name) for name in item]
        if len(values) == 1:
            return list(values[0])
        pairs = zip(_escape(values[0]), values[1], strict=True)
        return [tag if features in ("_", "") else f"{tag}|{features}" for tag, features in pairs]

    def parts(self, label: str) -> list[str]:
        """Return what a label is made of, so that labels can share what they have in common.

        A tag with features gives ``upos=NOUN`` and each attribute, ``Case=Nom``; joint columns give one part
        a column; one column alone is cut at each ``|`` (and in ``feats``, at each ``;``): ``xpos=NN``,
        ``xpos=SIN``. Every part but ``Attribute=value`` of features names its column, so that no two columns
        are confused.
        """
        values = self._split(label)
        if len(self._items) == 1 and len(self._items[0]) == 1:
            name = self._items[0][0]
            return _split_features(name, values[0]) if name == "feats" else _split_value(name, values[0])
        found = []
        for item, value in zip(self._items, values, strict=True):
            if len(item) == 1:
                found.append(f"{item[0]}={value}")
            else:
                tag, features = _tag_and_features(value)
                found.append(f"{item[0]}={tag}")
                found += [] if features == "_" else _split_features(item[1], features)
        return found

    def fill(self, sentence: Sentence, labels: Sequence[str]) -> dict[str, list[str]]:
        """Return what to write into which columns for these labels: the inverse of ``labels``.

        An offset becomes a head: position plus offset. One that points outside the sentence becomes 0,
        the root. A label without features gives ``_``.

        Args:
            sentence: the sentence that is labelled.
            labels: one per token.
        """
        if len(labels) != len(sentence):
            raise InvalidInput(
                f"{sentence.source}:{sentence.line}: {len(labels)} labels for {len(sentence)} tokens"
            )
        # Zipping the values of all tokens turns rows into columns; it needs at least one token.
        columns = list(zip(*map(self._split, labels), strict=True)) or [()] * len(self._items)
        filled: dict[str, list[str]] = {}
        for item, column in zip(self._items, columns, strict=True):
            if len(item) == 1:
                filled[item[0]] = list(column)
            else:
                pairs = [_tag_and_features(value) for value in column]
                filled[item[0]] = [tag for tag, _ in pairs]
                filled[item[1]] = [features for _, features in pairs]
        return {
            "head" if name == "offset" else name: find_heads(values) if name == "offset" else values
            for name, values in filled.items()
        }

    def _split(self, label: str) -> list[str]:
        """Return the value of each item of a label."""
        if len(self._items) == 1:
            return [label]
        values = label.split("|") if "\\" not in label else _split_label(label)
        if len(values) != len(self._items):
            raise InvalidInput(f"label {label!r} is no label of target {self.expression!r}")
        return values

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Target) and other.expression == self.expression

    def __hash__(self) -> int:
        return hash(self.expression)

    def __repr__(self) -> str:
        return f"Target({self.expression!r})"


def compute_offsets(sentence: Sentence) -> list[str]:
    """Return how far away the head of each token stands, with its sign; ``root`` for a head of 0."""
    found = []
    for position, head in enumerate(sentence.column("head"), 1):
        if not (head.isascii() and head.isdigit() and int(head) <= len(sentence)):
            raise FormatError(
                f"the head is {head!r}; a number from 0 to {len(sentence)} is needed",
                sentence.source,
                sentence.line_of(position - 1),
            )
        found.append("root" if head == "0" else f"{int(head) - position:+d}")
    return found


def find_heads(offsets: Iterable[str]) -> list[str]:
    """Return the head that each offset points to; 0 if it points outside the sentence."""
    numbers = [_number(offset) for offset in offsets]
    places = [position + offset if offset else 0 for position, offset in enumerate(numbers, 1)]
    return [str(place) if 0 < place <= len(places) else "0" for place in places]


def _number(offset: str) -> int:
    if offset == "root":
        return 0
    try:
        return int(offset)
    except ValueError:
        raise InvalidInput(f"{offset!r} is no offset; +1, -3 and root are") from None


def _escape(values: list[str]) -> list[str]:
    """Mark every ``|`` inside a value, if there are any."""
    whole = "".join(values)
    if "|" not in whole and "\\" not in whole:
        return values
    return [value.replace("\\", "\\\\").replace("|", "\\|") for value in values]


def _unescape(value: str) -> str:
    return _ESCAPED.sub(r"\1", value) if "\\" in value else value


def _split_label(label: str) -> list[str]:
    """Cut a label at each ``|`` that is not marked, and take the marks away."""
    values, place = [], 0
    while place <= len(label):
        end = _find_end(label, place)
        values.append(_unescape(label[place:end]))
        place = end + 1
    return values


def _find_end(label: str, place: int = 0) -> int:
    """Return where the value that begins at a place ends."""
    match = _VALUE.match(label, place)
    return match.end() if match else place


def _tag_and_features(value: str) -> tuple[str, str]:
    if "\\" in value:
        end = _find_end(value)
        return _unescape(value[:end]), value[end + 1 :] or "_"
    tag, _, features = value.partition("|")
    return tag, features or "_"


def _split_value(name: str, value: str) -> list[str]:
    return [f"{name}={piece}" for piece in value.split("|")]


def _split_features(name: str, value: str) -> list[str]:
    """Cut features at ``|``, or at ``;`` as UniMorph has it; Attribute=value stands for itself."""
    mark = ";" if ";" in value and "|" not in value else "|"
    return [piece if "=" in piece[1:] else f"{name}={piece}" for piece in value.split(mark)]
