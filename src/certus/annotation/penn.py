"""Words as the Penn Treebank writes them: brackets spelled out, quotation marks opening and closing."""

from __future__ import annotations

import re
from collections.abc import Sequence

_BRACKETS = {"(": "-LRB-", ")": "-RRB-", "[": "-LRB-", "]": "-RRB-", "{": "-LCB-", "}": "-RCB-"}
_QUOTES = {"“": "``", "”": "''", "‘": "`", "’": "'", "«": "``", "»": "''", "„": "``", "…": "..."}
_SLASHES = re.compile(r"(?<!\\)([/*])")  # which stand after a backslash there


def escape_words(words: Sequence[str]) -> list[str]:
    r"""Return words as a treebank has them. Straight double quotes open and close in turn.

    >>> escape_words(['"', "Yes", '"', "(", "and/or", ")"])
    ['``', 'Yes', "''", '-LRB-', 'and\\\\/or', '-RRB-']
    """
    found, opened = [], False
    for word in words:
        if word == '"':
            opened = not opened
            found.append("``" if opened else "''")
        else:
            found.append(_escape(word))
    return found


def escape_text(token: str, line: str, start: int) -> str:
    """Return a token as a treebank has it; a straight quote opens after a blank, a bracket or nothing.

    Args:
        token: as it stands in the line.
        line: the text.
        start: where in it the token begins.
    """
    if token in ('"', "'"):
        before = line[start - 1] if start else " "
        after = line[start + 1 : start + 2]
        opens = (before.isspace() or before in "([{-“‘`") and bool(after) and not after.isspace()
        return ("``" if opens else "''") if token == '"' else "`" if opens else "'"
    return _escape(token)


def _escape(word: str) -> str:
    if word in _BRACKETS or word in _QUOTES:
        return _BRACKETS.get(word) or _QUOTES[word]
    word = word.replace("’", "'").replace("(", "-LRB-").replace(")", "-RRB-")
    return _SLASHES.sub(r"\\\1", word)
