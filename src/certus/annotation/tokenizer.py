"""Small tokenisers for text that nobody has tokenised yet: one set of rules for all lines of a file.

- ``english`` cuts as the English treebanks of Universal Dependencies do: clitics (``do n't``, ``dog 's``) and
  hyphens (``long - term``, but ``co-worker``) stand on their own; abbreviations, numbers, dates, addresses
  and emoticons are whole.
- ``penn`` cuts as the Penn Treebank does: clitics as above, but words with hyphens, slashes and ampersands
  are whole; quotation marks open or close, and brackets are spelled out (see ``certus.annotation.penn``).
- ``plain`` is for all other languages: punctuation is cut off the words, and nothing else.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import chain

from certus.annotation.penn import escape_text
from certus.errors import InvalidInput

ENGLISH, PENN, PLAIN = "english", "penn", "plain"
RULES = (ENGLISH, PENN, PLAIN)

# A name or a number follows these, so that no sentence ends with them.
TITLES = (
    "Mr Mrs Ms Dr Prof Rev Gen Col Capt Lt Sgt Sen Rep Gov Pres Hon St Messrs Mt Ft vs cf approx fig pp ca"
)
ABBREVIATIONS = (
    f"{TITLES} Jr Sr Inc Corp Co Cos Ltd Bros Dept Univ Assn Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov "
    "Dec Ave Blvd Rd etc al dept est vol Calif Conn Mass Pa Va Ill Mich Minn Wis Fla Ariz Ala Tenn Wash Ore "
    "Colo Nev Ga Del Ky Md La Ind Pty"
)
_PREFIXES = (
    "a anti co counter cyber de e ex extra inter intra mega micro mid mini mis multi neo non out over "
    "post pre pro pseudo quasi re semi sub super trans ultra un under uni vice x"
)
_SLANG = {"gim": "me", "gon": "na", "got": "ta", "lem": "me", "wan": "na"}  # gimme, gonna, ...
_MARKS = {"Pc", "Pd", "Pe", "Pf", "Pi", "Po", "Ps", "Sc", "Sm", "So"}
_QUOTE = "['’]"
_CLITICS = "(?i:s|re|ve|ll|d|m)"
_ACRONYM = r"(?:[^\W\d_]\.){2,}(?![^\W\d_])"
_NUMBER = r"(?:(?<!\S)[-+])?\d+(?:[.,:/-]\d+)+(?!\w)|(?<!\S)[-+]\d+(?!\w)"


def tokenize(line: str, rules: str = ENGLISH) -> list[str]:
    """Return the tokens of a line of text.

    Args:
        line: the text.
        rules: "english", "penn" or "plain".

    >>> tokenize("They don't (long-term).", "penn")
    ['They', 'do', "n't", '-LRB-', 'long-term', '-RRB-', '.']
    """
    pattern = _build_pattern(rules)
    if rules == PENN:
        return [escape_text(match[0], line, match.start()) for match in pattern.finditer(line)]
    return [match[0] for match in pattern.finditer(line)]


def choose_rules(knows: Callable[[list[str]], Sequence[bool]]) -> str:
    """Return the rules that the training data of a model followed.

    Args:
        knows: tells of words whether the training data has them.
    """
    has_brackets, has_clitics = knows(["-LRB-", "n't"])
    return PENN if has_brackets else ENGLISH if has_clitics else PLAIN


def check_rules(rules: str) -> None:
    """Refuse the name of rules that do not exist."""
    if rules not in RULES:
        raise InvalidInput(f"there are no rules {rules!r} for tokens; there are {', '.join(RULES)}")


@lru_cache(maxsize=len(RULES))
def _build_pattern(rules: str) -> re.Pattern[str]:
    """Build the pattern at the first use: the classes of Unicode have to be looked up."""
    check_rules(rules)
    word = rf"[^\s{_marks()}]"  # letters and digits of any script, with the signs that combine with them
    build = {ENGLISH: _list_english, PENN: _list_penn, PLAIN: _list_plain}[rules]
    return re.compile("|".join((*_list_common(), *build(word), r"([^\w\s])\1+", r"\S")))


def _list_common() -> tuple[str, ...]:
    """Return the patterns of addresses, emoticons and initials."""
    return (
        r"(?:https?://|ftp://|www\.)[^\s<>\"]*[^\s<>\".,;:!?'’”)\]}]",
        r"[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+",  # no name is longer; long runs of hyphens would take forever
        r"@\w+",
        r"(?<!\S)[:;=][-']?[()DPp\[\]|/](?!\S)|(?<!\S)<3(?!\S)|\^_\^",
        r"[A-Z]\.(?=,|\s+[A-Z])",
    )


def _list_english(word: str) -> tuple[str, ...]:
    return (
        rf"#\w+|{_ACRONYM}",
        _NUMBER,
        rf"(?:{_join(ABBREVIATIONS)})\.(?!\w)",
        *_list_clitics(),
        rf"(?i:{_join(_PREFIXES)})-[A-Za-z]+(?!\w)",
        rf"{word}+(?:(?:\.|{_QUOTE}(?!(?:{_CLITICS}|t)(?!\w))|-(?![A-Za-z])){word}+)*",
    )


def _list_penn(word: str) -> tuple[str, ...]:
    end = r"(?!\w|[\"”’')\]]*\s*$)"  # the full stop of a sentence is a token of its own
    return (
        rf"{_ACRONYM}(?:-{word}+)*",
        _NUMBER,
        rf"{_QUOTE}\d\ds?(?!\w)|[A-Z]{{1,2}}\$|\.{{3}}(?=\.(?!\.))",
        rf"(?:{_join(ABBREVIATIONS)})\.{end}",
        *_list_clitics(),
        rf"{word}+(?:(?:\.|[-/&]|{_QUOTE}(?!(?:{_CLITICS}|t)(?!\w))){word}+)*",
    )


def _list_plain(word: str) -> tuple[str, ...]:
    return (
        rf"#\w+|{_ACRONYM}",
        _NUMBER,
        r"[A-Z]{1,2}\$",
        rf"{word}+(?:[-./&'’]{word}+)*",
    )


def _list_clitics() -> tuple[str, ...]:
    """Return the patterns of English words that are written together."""
    slang = "|".join(rf"{first}(?={second}(?!\w))" for first, second in _SLANG.items())
    endings = "|".join(rf"(?<={first}){second}(?!\w)" for first, second in _SLANG.items())
    return (
        r"Nos?\.(?=\s*\d)",
        rf"[A-Za-z]+?(?=(?i:n{_QUOTE}t)(?!\w))|(?i:n{_QUOTE}t)(?!\w)",
        rf"{_QUOTE}{_CLITICS}(?!\w)",
        r"(?i:can(?=not\b))",
        rf"(?<!\w)(?i:{slang})|(?i:{endings})",
    )


def _join(words: str) -> str:
    """Return the alternatives of a pattern, the longest first."""
    return "|".join(sorted(words.split(), key=len, reverse=True))


@lru_cache(maxsize=1)
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
