"""Chunks and entities in tag sequences, as the conlleval program of the CoNLL shared tasks sees them.

A tag is a mark and a type, ``B-NP``; IOB1, IOB2, IOBES and BILOU are read by the same rules, and so is any
sequence a model makes up, legal or not. The rules for B, I and O are those of conlleval; E and S (L and U)
end or are a span of their own, which conlleval knows only in part.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

_TAG = re.compile(r"O|[BIESLU](?:-.+)?", re.DOTALL)
_CLOSED = frozenset("ESLU[]")  # marks after which a span is over
_OPEN = frozenset("BI")
_NEW = frozenset("BSU[]")  # marks that always begin a span
_GOING_ON = frozenset("IEL")
_OUTSIDE = frozenset("O.")


class Span(NamedTuple):
    """A chunk or entity: tokens from ``start`` up to, not including, ``end``."""

    start: int
    end: int
    type: str


def is_tag(value: str) -> bool:
    """Whether a value can be the tag of a span, or O."""
    return _TAG.fullmatch(value) is not None


def find_spans(tags: Iterable[str]) -> list[Span]:
    """Return the spans of a sentence, from left to right."""
    found: list[Span] = []
    start, before, type_before = -1, "O", ""
    for place, tag in enumerate([*tags, "O"]):
        mark, _, type = tag.partition("-")
        changes = type != type_before
        begins = _begins(before, mark, changes)
        if start >= 0 and (begins or _is_end(before, mark, changes)):
            found.append(Span(start, place, type_before))
            start = -1
        if begins:
            start = place
        before, type_before = mark, type
    return found


def begins_between(before: str, now: str) -> bool:
    """Whether a span begins at a tag that follows another; outside of a sentence is O."""
    (mark_before, _, type_before), (mark, _, type) = before.partition("-"), now.partition("-")
    return _begins(mark_before, mark, type != type_before)


def ends_between(before: str, now: str) -> bool:
    """Whether the span of a tag ends where another tag follows it."""
    (mark_before, _, type_before), (mark, _, type) = before.partition("-"), now.partition("-")
    return _is_end(mark_before, mark, type != type_before)


def _begins(before: str, mark: str, changes: bool) -> bool:
    """Whether a span begins at a mark: conlleval's startOfChunk."""
    if mark in _OUTSIDE:
        return False
    return mark in _NEW or changes or (mark in _GOING_ON and (before in _CLOSED or before == "O"))


def _is_end(before: str, mark: str, changes: bool) -> bool:
    """Whether the span of the tag before ends there: conlleval's endOfChunk."""
    if before in _OUTSIDE:
        return False
    return before in _CLOSED or changes or (before in _OPEN and (mark in _NEW or mark == "O"))
