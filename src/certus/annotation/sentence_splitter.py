"""Splits lines of text into sentences, and rather too seldom than too often.

A sentence ends after a full stop, a question mark or an exclamation mark, and the quotation marks and
brackets that close behind it, if a blank follows and then a word that begins with a capital letter (or with a
letter of a script that has no capitals). A full stop ends no sentence

- inside of a number, an address or a name, since no blank follows (``3.5``, ``example.org``);
- after an initial (``J. Smith``), a title (``Dr. Owl``) or a number of one or two digits (``1. Owls``);
- after an acronym or an abbreviation (``U.S.``, ``Inc.``), unless a word follows that often begins sentences;
- before a number (``No. 5``), or if there are several (``...``), since that may only be a pause.

The marks of East Asia (``。！？``) need no blank. The end of a line always ends a sentence.
"""

from __future__ import annotations

import re

from certus.annotation.tokenizer import ABBREVIATIONS, PLAIN, TITLES

# Words that often begin a sentence and, after an abbreviation, hardly ever go on with one.
STARTERS = (
    "The This That These Those It He She We They You But And In On At If When While As For After Before "
    "There Here What Who Why How Where However Also His Her Its Their Our My"
)
_CLOSING, _OPENING = "\"'”’»)]}", "\"'“‘„«([{¿¡"
_END = re.compile(rf"[。！？]+[」』”’）]*|(?<![.!?؟।])[.!?؟।]+[{re.escape(_CLOSING)}]*(?=\s)")
_ACRONYM = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]")  # without its last full stop; one letter is an initial
_NUMBER = re.compile(r"\d{1,2}|[ivxIVX]{1,5}")
_TITLES = frozenset(TITLES.split())
_ABBREVIATIONS = frozenset(ABBREVIATIONS.split())
_STARTERS = frozenset(STARTERS.split())
_REACH = 40  # characters that are looked at on either side of a mark


def split_sentences(line: str, rules: str = PLAIN) -> list[str]:
    """Return the sentences of a line of text, with the blanks after them: strung together, they are the line.

    Args:
        line: the text.
        rules: those of the tokens; abbreviations are known of English alone.

    >>> split_sentences("Dr. Owl paid $3.50. She left.", "english")
    ['Dr. Owl paid $3.50. ', 'She left.']
    """
    found, begin = [], 0
    for end in _END.finditer(line):
        after = end.end()
        while after < len(line) and line[after].isspace():
            after += 1
        if after == len(line):
            break
        before = line[max(begin, end.start() - _REACH) : end.start()]
        if _ends_sentence(before, end[0], line[after : after + _REACH], rules):
            found.append(line[begin:after])
            begin = after
    return [*found, line[begin:]]


def _ends_sentence(before: str, end: str, following: str, rules: str) -> bool:
    """Whether a mark ends a sentence.

    Args:
        before: what stands before it in the sentence.
        end: the mark, with what closes behind it.
        following: what stands after the blanks behind it.
        rules: of the tokens.
    """
    mark = end.rstrip(_CLOSING)
    if mark[0] in "。！？":
        return True
    first = following.lstrip(_OPENING)[:1]
    may_begin = first.isupper() or (first.isalpha() and not first.islower())
    if mark != ".":
        return may_begin and mark.strip(".") != ""
    word = before.split()[-1].lstrip(_OPENING) if before.split() else ""
    return may_begin and _may_end(word, following, rules)


def _may_end(word: str, following: str, rules: str) -> bool:
    """Whether a word before a full stop may be the last of a sentence."""
    if _NUMBER.fullmatch(word):
        return False
    if rules == PLAIN:
        return _ACRONYM.fullmatch(word) is None
    if word in _TITLES or (len(word) == 1 and word.isupper() and word != "I"):
        return False
    if word in _ABBREVIATIONS or _ACRONYM.fullmatch(word):
        return following.lstrip(_OPENING).split()[0].rstrip(",") in _STARTERS
    return True
