"""Plain text, one sentence per line: already tokenised ("text"), or as people write it ("raw")."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from certus.annotation.sentence import Layout, Sentence
from certus.annotation.tokenizer import tokenize

TEXT = Layout("text", ("form",), " ")
RAW = Layout("raw", ("form",), " ")


def looks_raw(sample: str) -> bool:
    """Whether text is not tokenised yet: the tokeniser would change most of its lines."""
    lines = [line for line in sample.split("\n")[:200] if line.strip()]
    return 2 * sum(tokenize(line) != line.split() for line in lines) > len(lines)


def split_lines(texts: Iterator[str]) -> Iterator[tuple[str, str]]:
    """Yield each line, and its end."""
    for text in texts:
        pieces = text.split("\n")
        for piece in pieces[:-1]:
            yield piece, "\n"
        if pieces[-1]:
            yield pieces[-1], ""


def parse(body: str, gap: str, line: int, source: str, layout: Layout) -> Sentence | None:
    """Return the sentence of a line, or None if it is blank; arguments as in conllu.parse."""
    split: Callable[[str], list[str]] = tokenize if layout.format == "raw" else str.split
    words = split(body.removeprefix("\ufeff"))
    if not words:
        return None
    return Sentence({"form": words}, body + gap, [0] * len(words), line, source, layout)
