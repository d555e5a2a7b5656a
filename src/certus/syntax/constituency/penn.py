"""Words as the Penn Treebank writes them: brackets spelled out, quotation marks opening and closing."""

from __future__ import annotations

from collections.abc import Sequence

_BRACKETS = {"(": "-LRB-", ")": "-RRB-", "[": "-LRB-", "]": "-RRB-", "{": "-LCB-", "}": "-RCB-"}
_QUOTES = {"“": "``", "”": "''", "‘": "`", "’": "'", "«": "``", "»": "''"}


def escape_words(words: Sequence[str]) -> list[str]:
    """Return words as a treebank has them. Straight double quotes open and close in turn.

    >>> escape_words(['"', "Yes", '"', "(", "no", ")"])
    ['``', 'Yes', "''", '-LRB-', 'no', '-RRB-']
    """
    found, opened = [], False
    for word in words:
        if word == '"':
            opened = not opened
            found.append("``" if opened else "''")
        else:
            found.append(
                _BRACKETS.get(word) or _QUOTES.get(word) or word.replace("(", "-LRB-").replace(")", "-RRB-")
            )
    return found
