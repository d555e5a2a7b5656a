"""Reads and writes annotated sentences, one at a time, whatever the format."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import TypeAlias

from certus.annotation.sentence import Layout, Sentence
from certus.errors import FormatError
from certus.formats import columns as column_files
from certus.formats import conllu, guess, text
from certus.formats.blocks import decode, join_sentences, split_blocks
from certus.storage.files import (
    Source,
    check_encoding,
    check_readable,
    is_interactive,
    name_of,
    open_atomically,
    open_source,
)

Parse: TypeAlias = Callable[[str, str, int, str], "Sentence | None"]


def read(
    source: Source,
    format: str | None = None,
    columns: str | Sequence[str] | None = None,
    *,
    usual: Sequence[str] | None = None,
    encoding: str = "utf-8",
    tokens: str = "english",
    sentences: str = "split",
) -> Iterator[Sentence]:
    """Read sentences one at a time, in constant memory.

    Args:
        source: a path ("-" is stdin; a name in .gz is decompressed) or an open stream.
        format: "conllu", "conllx", "columns", "brackets" (trees: their words, with their tags as xpos),
            "text" (tokenised, one sentence per line) or "raw" (text to be split into sentences and tokens);
            None guesses from name and content.
        columns: the names in a column file, such as "word pos chunk"; None takes the usual ones.
        usual: the names in column files of this kind, such as those that a model was trained on; a file with
            fewer columns has the first of them.
        encoding: of the bytes; old corpora may need "latin-1".
        tokens: how raw text is tokenised: "english", "penn" (the Penn Treebank's tokens) or "plain"
            (punctuation is cut off, in any language).
        sentences: "split" splits the lines of raw text into sentences, "lines" takes each line for one.

    Raises:
        FormatError: the file is not what it should be; with file and line.
    """
    guess.check(format, columns)
    check_encoding(encoding)
    check_readable(source)
    raw = text.RawText(tokens=tokens, sentences=sentences)
    return _read_sentences(source, format, columns, usual, encoding, raw)


def _read_sentences(
    source: Source,
    format: str | None,
    names: str | Sequence[str] | None,
    usual: Sequence[str] | None,
    encoding: str,
    raw: text.RawText,
) -> Iterator[Sentence]:
    name, eager = name_of(source), is_interactive(source)
    with open_source(source) as chunk:
        texts = decode(chunk, name, encoding)
        sample = ""
        while not guess.is_enough(sample, format, names, eager) and (piece := next(texts, "")):
            sample += piece
        layout = guess.guess_layout(name, sample, format, names, raw.tokens, usual)
        whole = chain([sample], texts)
        if layout is guess.TREES:
            from certus.formats.brackets import read_tagged  # the room of trees is large, and seldom needed

            yield from read_tagged(whole, name)
            return
        if layout.format == "raw":
            pieces = text.split_raw(whole, raw)
        elif layout.format == "text":
            pieces = text.split_lines(whole)
        else:
            pieces = split_blocks(whole, name, eager=eager)
        yield from _parse_pieces(pieces, name, _choose_parser(layout, raw), eager)


def _choose_parser(layout: Layout, raw: text.RawText) -> Parse:
    if layout.format == "conllu":
        return conllu.parse
    if layout.format == "columns":
        return partial(column_files.parse, layout=layout)
    return partial(text.parse, layout=layout, tokens=raw.tokens)


def _parse_pieces(
    pieces: Iterator[tuple[str, str]], name: str, parse: Parse, eager: bool
) -> Iterator[Sentence]:
    """Parse pieces; those without a token go before the next sentence, or at the end after the last.

    A sentence is therefore held back until the next one has been seen, unless somebody waits for it.
    """
    line, lead, held, count = 1, "", None, 0
    for body, gap in pieces:
        sentence = parse(body, gap, line, name)
        line += body.count("\n") + gap.count("\n")
        if sentence is None:
            lead += body + gap
            continue
        if lead:
            sentence.prepend(lead)
            lead = ""
        if held is not None:
            yield held
        held, count = sentence, count + 1
        if eager:
            yield sentence
            held = None
    if not count:
        raise FormatError("holds no sentence", name)
    if held is not None:
        held.text += lead
        yield held


def write(sentences: Iterable[Sentence], path: str | os.PathLike[str], *, encoding: str = "utf-8") -> int:
    """Write sentences as they are; return how many there were.

    Args:
        sentences: with the layout they came with, from one file or several.
        path: "-" is stdout. A file is complete or not there; a name in .gz is compressed.
        encoding: of the bytes.
    """
    check_encoding(encoding)
    texts = join_sentences((sentence.text, sentence.layout) for sentence in sentences)
    if os.fspath(path) == "-":
        count = sum(bool(sys.stdout.buffer.write(text.encode(encoding))) for text in texts)
        sys.stdout.buffer.flush()
        return count
    with open_atomically(path, encoding=encoding) as file:
        return sum(bool(file.write(text)) for text in texts)
