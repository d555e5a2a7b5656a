"""Classes of words that were not seen: what their look tells about their tag."""

from __future__ import annotations

_SUFFIXES = 3  # the most letters of a suffix


def make_signature(word: str, suffix: int = _SUFFIXES, first: bool = False) -> str:
    """Return the class of a word: case, digits, hyphens, and its last letters.

    Args:
        word: as it is written.
        suffix: how many of the last letters to tell.
        first: whether the word begins a sentence, where a capital says little.
    """
    letters = sum(map(str.isalpha, word))
    digits = sum(map(str.isdigit, word))
    capital = word[:1].isupper()
    if letters and word.isupper() and len(word) > 1:
        case = "CAPS"
    elif capital:
        case = "First" if first else "Cap"
    else:
        case = "lower" if letters else "none"
    parts = [case]
    if digits:
        parts.append("num" if not letters else "mix")
    if "-" in word[1:]:
        parts.append("dash")
    if suffix and letters and not digits and len(word) > suffix + 1:
        parts.append(word[-suffix:].lower())
    return "/".join(parts)


def make_signatures(word: str, first: bool = False) -> list[str]:
    """Return the classes of a word, the narrowest first."""
    found = [make_signature(word, length, first) for length in range(_SUFFIXES, -1, -1)]
    return list(dict.fromkeys(found))
