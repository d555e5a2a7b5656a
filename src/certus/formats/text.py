"""Plain text: already tokenised, one sentence per line ("text"), or as people write it ("raw")."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from certus.annotation.sentence import Layout, Sentence
from certus.annotation.sentence_splitter import split_sentences
from certus.annotation.tokenizer import ENGLISH, check_rules, tokenize
from certus.errors import InvalidInput

TEXT = Layout("text", ("form",), " ")
RAW = Layout("raw", ("form",), " ")


@dataclass(frozen=True, kw_only=True)
class RawText:
    """How raw text is cut, the same way from its first line to its last.

    Attributes:
        tokens: the rules for tokens: "english", "penn" or "plain".
        sentences: "split", which splits lines into sentences, or "lines", which takes each line for one.
    """

    tokens: str = ENGLISH
    sentences: str = "split"

    def __post_init__(self) -> None:
        """Refuse rules that do not exist."""
        check_rules(self.tokens)
        if self.sentences not in ("split", "lines"):
            raise InvalidInput(f"sentences must be 'split' or 'lines', not {self.sentences!r}")


def looks_raw(sample: str, rules: str = ENGLISH) -> bool:
    """Whether text is not tokenised yet.

    A full stop or comma between blanks shows that a line is tokenised; if there is none, and the tokeniser
    would change the line, it is raw. The more frequent kind of lines decides.
    """
    lines = [line for line in sample.split("\n")[:200] if line.strip()]
    tokenised = [not {".", ","}.isdisjoint(line.split()) for line in lines]
    raw = sum(
        tokenize(line, rules) != line.split() for line, done in zip(lines, tokenised, strict=True) if not done
    )
    return raw >= sum(tokenised)


def split_lines(texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield each line, and its end."""
    for text in texts:
        pieces = text.split("\n")
        for piece in pieces[:-1]:
            yield piece, "\n"
        if pieces[-1]:
            yield pieces[-1], ""


def split_raw(texts: Iterable[str], raw: RawText) -> Iterator[tuple[str, str]]:
    """Yield each sentence of raw text, and the line end after it, if it is the last of its line."""
    for line, end in split_lines(texts):
        *others, last = split_sentences(line, raw.tokens) if raw.sentences == "split" else [line]
        for sentence in others:
            yield sentence, ""
        yield last, end


def parse(
    body: str, gap: str, line: int, source: str, layout: Layout, tokens: str = ENGLISH
) -> Sentence | None:
    """Return the sentence of a line or a part of it, or None if it is blank.

    Args:
        body: the text.
        gap: the line end after it.
        line: the number of the line.
        source: the name of the file.
        layout: TEXT or RAW.
        tokens: the rules for tokens of raw text.
    """
    text = body.removeprefix("\ufeff")
    words = tokenize(text, tokens) if layout.format == "raw" else text.split()
    if not words:
        return None
    return Sentence({"form": words}, body + gap, [0] * len(words), line, source, layout)


def parse_raw(text: str, source: str, raw: RawText) -> Iterator[Sentence]:
    """Yield the sentences of a raw text."""
    line = 1
    for body, gap in split_raw(["\n".join(text.splitlines()) + "\n"], raw):
        sentence = parse(body, gap, line, source, RAW, raw.tokens)
        line += gap.count("\n")
        if sentence is not None:
            yield sentence
