"""Text that language models learn from and are measured on: files, or sentences in memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeAlias, cast

from certus.errors import FormatError, InvalidInput
from certus.formats.blocks import decode
from certus.storage.files import Source, check_encoding, name_of, open_source

Sentence: TypeAlias = "str | Sequence[str]"
Text: TypeAlias = "Source | Iterable[Sentence]"

BATCH = 10_000  # sentences that go to the kernels together


def add_texts(
    texts: Iterable[Text],
    encoding: str,
    add_text: Callable[[str], object],
    add_sentences: Callable[[list[Sentence], int], object],
    count_lines: Callable[[], int],
) -> None:
    """Hand on texts, one after the other.

    Args:
        texts: paths, streams, or sentences.
        encoding: of files.
        add_text: takes whole lines, a sentence each.
        add_sentences: takes sentences, and the number of the first.
        count_lines: says how many lines were taken in all; errors are blamed on the next.
    """
    check_encoding(encoding)
    for text in texts:
        if is_file(text):
            before = count_lines()
            try:
                for piece in read_texts(cast(Source, text), encoding):
                    add_text(piece)
            except FormatError:
                raise
            except InvalidInput as error:
                line = count_lines() - before + 1
                raise FormatError(str(error), name_of(cast(Source, text)), line) from None
        else:
            _hand_on(cast("Iterable[Sentence]", text), add_sentences)


def is_file(text: Text) -> bool:
    """Whether this is a path or a stream, not sentences."""
    return isinstance(text, (str, os.PathLike)) or hasattr(text, "read")


def read_texts(source: Source, encoding: str) -> Iterator[str]:
    """Yield a file in pieces of whole lines, without a byte order mark."""
    with open_source(source) as chunk:
        for number, piece in enumerate(decode(chunk, name_of(source), encoding)):
            yield piece.removeprefix("\ufeff") if number == 0 else piece


def _hand_on(sentences: Iterable[Sentence], add: Callable[[list[Sentence], int], object]) -> None:
    left = iter(_check_sentences(sentences))
    first = 0
    while batch := list(islice(left, BATCH)):
        add(batch, first)
        first += len(batch)


def _check_sentences(sentences: Iterable[Sentence]) -> Iterator[Sentence]:
    for number, sentence in enumerate(sentences):
        if isinstance(sentence, os.PathLike) or (number == 0 and _names_file(sentence)):
            raise InvalidInput(f"{sentence} is a file among sentences: give files one by one, not in a list")
        yield sentence if isinstance(sentence, (str, list)) else _list_words(sentence, number)


def _list_words(sentence: Sentence, number: int) -> list[str]:
    try:
        return list(sentence)
    except TypeError:
        raise InvalidInput(
            f"sentence {number} is {type(sentence).__name__}; a text or a list of words is needed"
        ) from None


def _names_file(sentence: Sentence) -> bool:
    return isinstance(sentence, str) and len(sentence.split()) == 1 and os.path.isfile(sentence)
