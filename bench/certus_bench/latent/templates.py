"""The feature templates of Sun & Tsujii (2009), tables 1 and 2, in the language of docs/features.md.

Each is there twice, as in the paper: with the state, and with two in a row; the latter go with labels, which
all their states share (docs/papers/sun2009.md).
"""

from __future__ import annotations

from collections.abc import Sequence


def _single(name: str, offsets: Sequence[int]) -> list[str]:
    return [name.format(offset) for offset in offsets]


def _rows(name: str, size: int, first: int, last: int) -> list[str]:
    """List runs of so many neighbours that lie between two offsets."""
    return [
        " ".join(name.format(offset) for offset in range(begin, begin + size))
        for begin in range(first, last - size + 2)
    ]


def _both(templates: Sequence[str]) -> str:
    """Write templates down for single states, then for two in a row."""
    return "\n".join([*templates, *(f"pair {template}" for template in templates)])


_AROUND = range(-2, 3)
_WORDS = [*_single("word[{}]", _AROUND), *_rows("word[{}]", 2, -1, 1)]

WORDS = _both(_WORDS)
"""Table 2, for NP chunking: the five words around and the bigrams of the word with its neighbours."""

_PARTS_OF_SPEECH = [
    *_single("pos[{}]", _AROUND),
    *_rows("pos[{}]", 2, -2, 2),
    *_rows("pos[{}]", 3, -2, 2),
]
# The paper's "orthography mode" is a word's shape here; prefixes and suffixes are named in its section 4.1.
_ORTHOGRAPHY = [
    *_single("shape(word[{}])", _AROUND),
    *_rows("shape(word[{}])", 2, -2, 2),
    "prefix(word[0], 1..4)",
    "suffix(word[0], 1..4)",
]

RICH = _both([*_WORDS, *_PARTS_OF_SPEECH, *_ORTHOGRAPHY])
"""Table 1, for biomedical entities: words, parts of speech and orthography."""
