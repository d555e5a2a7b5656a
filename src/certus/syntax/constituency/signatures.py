"""Classes of words that were not seen: what their look tells about their tag."""

from __future__ import annotations

_SUFFIXES = 3  # the most letters of a suffix


def make_signatures(word: str, first: bool = False) -> tuple[str, ...]:
    """Return the classes of a word, the most telling first: its look alone, and with ever fewer last letters.

    The look is case, digits and hyphens. It comes last, but for words that are too short for the longest
    suffix: those look like many others that end differently.

    Args:
        word: as it is written.
        first: whether the word begins a sentence, where a capital says little.
    """
    letters = any(map(str.isalpha, word))
    digits = any(map(str.isdigit, word))
    if letters and word.isupper() and len(word) > 1:
        look = "CAPS"
    elif word[:1].isupper():
        look = "First" if first else "Cap"
    else:
        look = "lower" if letters else "none"
    if digits:
        look += "/mix" if letters else "/num"
    if "-" in word[1:]:
        look += "/dash"
    longest = min(_SUFFIXES, len(word) - 2) if letters and not digits else 0
    suffixes = tuple(f"{look}/{word[-length:].lower()}" for length in range(longest, 0, -1))
    return (*suffixes, look) if longest == _SUFFIXES else (look, *suffixes)
