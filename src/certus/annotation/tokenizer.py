"""A small tokeniser for text that nobody has tokenised yet.

English is cut as in English treebanks: clitics (``do n't``, ``dog 's``) and hyphens (``long - term``, but
``co-worker``) on their own, abbreviations, numbers, dates, addresses and emoticons whole. In other languages
and scripts, punctuation is cut off the words, and nothing else.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import chain

_ABBREVIATIONS = (
    "Mr Mrs Ms Dr Prof Rev Gen Col Capt Lt Sgt Sen Rep Gov Pres Hon St Jr Sr Inc Corp Co Ltd Bros Dept Univ "
    "Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec Ave Blvd Rd vs etc al approx dept est fig vol pp cf ca"
)
_PREFIXES = (
    "a anti al co counter cyber de e el ex extra inter intra mega micro mid mini mis multi neo non out over "
    "post pre pro pseudo quasi re semi sub super trans ultra un under uni vice x"
)
_MARKS = {"Pc", "Pd", "Pe", "Pf", "Pi", "Po", "Ps", "Sc", "Sm", "So"}


@lru_cache(maxsize=1)
def _build_pattern() -> re.Pattern[str]:
    """Build the pattern at the first use: the classes of Unicode have to be looked up."""
    marks = _marks()
    word = rf"[^\s{marks}]"  # letters and digits of any script, with the signs that combine with them
    quote = "['’]"
    abbreviations = "|".join(sorted(_ABBREVIATIONS.split(), key=len, reverse=True))
    prefixes = "|".join(sorted(_PREFIXES.split(), key=len, reverse=True))
    alternatives = (
        r"(?:https?://|ftp://|www\.)[^\s<>\"]*[^\s<>\".,;:!?'’”)\]}]",
        r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+",
        rf"[@#]{word}+",
        r"(?<!\S)[:;=][-']?[()DPp\[\]|/](?!\S)|(?<!\S)<3(?!\S)|\^_\^",
        rf"(?:(?<!\S)[-+])?\d+(?:[.,:/-]\d+)+(?!{word})|(?<!\S)[-+]\d+(?!{word})",
        r"(?:[^\W\d_]\.){2,}",
        rf"(?:{abbreviations})\.(?!{word})",
        r"[A-Z]\.(?=\s+[A-Z])",
        rf"[A-Za-z]+?(?=n{quote}t(?!{word}))|n{quote}t(?!{word})",
        rf"{quote}(?:s|re|ve|ll|d|m)(?!{word})",
        r"[Cc]an(?=not\b)",
        rf"(?i:{prefixes})-[A-Za-z]+(?!{word})",
        rf"{word}+(?:(?:\.|{quote}(?!(?:s|re|ve|ll|d|m|t)(?!{word}))|-(?![A-Za-z])){word}+)*",
        r"([^\w\s])\1+",
        r"\S",
    )
    return re.compile("|".join(alternatives))


def _marks() -> str:
    """Return punctuation and symbols of all scripts, as the inside of a character class.

    The underscore belongs to words. The scripts of East Asia and the private planes, where no punctuation is,
    are left out to save time at the first call.
    """
    places = chain(range(0x21, 0x3400), range(0xA4D0, 0xAC00), range(0xFB00, 0x10000))
    marks = [place for place in places if unicodedata.category(chr(place)) in _MARKS and place != 0x5F]
    marks += [ord("^"), ord("`"), *range(0x1F000, 0x1FB00)]  # the last are emoji
    runs: list[list[int]] = []
    for place in sorted(marks):
        if runs and runs[-1][1] == place - 1:
            runs[-1][1] = place
        else:
            runs.append([place, place])
    return "".join(f"{re.escape(chr(first))}-{re.escape(chr(last))}" for first, last in runs)


def tokenize(line: str) -> list[str]:
    """Return the tokens of a line of text."""
    return [match[0] for match in _build_pattern().finditer(line)]
