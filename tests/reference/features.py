"""The slow, obvious version of feature extraction: every feature is its template and its value in words.

Unlike the native code this asks Python what the characters are, so it also checks the native tables.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence

from certus.learn.features.templates import Template, Templates, Term

Value = tuple[str, ...]
Feature = tuple[int, Value]
Columns = Sequence[Sequence[str]]

HYPHENS = "-\u2010\u2011"
# Where letters can have case. What later versions of Unicode put there than the native tables know has none.
CASED = [
    (0x80, 0x2C2E), (0x2C30, 0x2C5E), (0x2C60, 0x2DFF), (0xA640, 0xA7BF),
    (0xAB30, 0xAB67), (0xFB00, 0xFB06), (0xFF21, 0xFF5A),
]  # fmt: skip
LATER = (0x1C89, 0x1C8A)
PUNCTUATION = [
    (0x80, 0xBF), (0xD7, 0xD7), (0xF7, 0xF7), (0x2000, 0x206F), (0x20A0, 0x20CF), (0x3000, 0x303F),
    (0xFE30, 0xFE6F), (0xFF01, 0xFF65),
]  # fmt: skip


def features(
    templates: Templates, columns: Columns, frequent: set[str], seen: Mapping[str, str] | None = None
) -> list[list[Feature]]:
    """Return the features of each token, in the order of the templates."""
    return [
        [
            (number, value)
            for number, template in enumerate(templates.templates)
            if holds(template.condition, word, frequent)
            for value in values(template, columns, t, seen or {})
        ]
        for t, word in enumerate(columns[0])
    ]


def holds(condition: str, word: str, frequent: set[str]) -> bool:
    return condition == "always" or (condition == "frequent") == (word in frequent)


def values(template: Template, columns: Columns, t: int, seen: Mapping[str, str]) -> list[Value]:
    """Return every combination of the values of the terms."""
    combined: list[Value] = [()]
    for term in template.terms:
        combined = [(*before, value) for value in term_values(term, columns, t, seen) for before in combined]
    return combined


def term_values(term: Term, columns: Columns, t: int, seen: Mapping[str, str]) -> list[str]:
    cells, at = columns[term.column], t + term.offset
    if not 0 <= at < len(cells):
        distance = at if at < 0 else at - len(cells) + 1
        return [] if term.several else [f"boundary {distance:+}"]
    text = lower(cells[at]) if term.lower else cells[at]
    if term.function == "each":
        return ["cell " + part for part in text.split("|") if part][:32]
    lengths = [n for n in range(term.low, term.high + 1) if n <= len(text)]
    match term.function:
        case "prefix":
            return [text[:n] for n in lengths]
        case "suffix":
            return [text[len(text) - n :] for n in lengths]
        case "seen":
            return [seen.get(text, "rare")]
        case "length":
            return [str(min(len(text), 15))]
        case "shape":
            return [shape(text)]
        case "flags":
            return [flags(text)]
        case _:
            return ["cell " + text]


def within(character: str, blocks: list[tuple[int, int]]) -> bool:
    return any(first <= ord(character) <= last for first, last in blocks)


def is_cased(character: str) -> bool:
    if character.isascii():
        return character.isalpha()
    return (
        within(character, CASED)
        and ord(character) not in LATER
        and unicodedata.category(character) in ("Lu", "Lt", "Ll")
    )


def lower(text: str) -> str:
    """Lower case letter by letter: no final sigma, and a dotted capital I becomes i."""
    return "".join((c.lower()[0] if is_cased(c) else c) for c in text)


def kind(character: str) -> str:
    """Return X, x, d, o, a mark (nothing) or the punctuation itself."""
    if is_cased(character):
        return "x" if unicodedata.category(character) == "Ll" else "X"
    if 0x300 <= ord(character) <= 0x36F:
        return ""
    if ord(character) < 0x10000 and unicodedata.category(character) == "Nd":
        return "d"
    if character.isascii() or (within(character, PUNCTUATION) and character not in "ªº"):
        return character
    return "o"


def shape(text: str) -> str:
    runs: list[str] = []
    for symbol in map(kind, text):
        if symbol and symbol != "".join(runs[-1:]):
            runs.append(symbol)
    return "".join(runs)


def flags(text: str) -> str:
    kinds = [kind(c) for c in text]
    punctuation = [k for k in kinds if k and k not in "Xxdo"]
    found = {
        "upper first": kinds[:1] == ["X"],
        "all upper": "X" in kinds and "x" not in kinds,
        "any upper": "X" in kinds,
        "digit": "d" in kinds,
        "hyphen": any(k in HYPHENS for k in punctuation),
        "other punctuation": any(k not in HYPHENS for k in punctuation),
        "non-ASCII": not text.isascii(),
    }
    return ", ".join(name for name, has in found.items() if has)
