"""Phrase tables as Moses writes them: ``source ||| target ||| scores``, and perhaps more fields after these.

Scores are probabilities, or logarithms of base 10 where one of them is negative. Names that end in .gz are
decompressed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from certus import _native
from certus.errors import FormatError, InvalidInput
from certus.formats.blocks import decode
from certus.storage.files import Source, check_encoding, name_of, open_source

SCORES = {kind.name.lower(): kind for kind in _native.ScoreKind}


@dataclass(frozen=True)
class PhraseTableFile:
    """What a file holds.

    Attributes:
        arrays: native/translate/phrase_table_builder.hpp describes them.
        entries: how many phrase pairs there are.
        features: how many scores each has.
        logarithmic: whether a score is negative.
    """

    arrays: dict[str, NDArray[Any]]
    entries: int
    features: int
    logarithmic: bool


def read_phrase_table(source: Source, *, scores: str = "guessed", encoding: str = "utf-8") -> PhraseTableFile:
    """Return the phrase table of a file.

    Args:
        source: a path, or a stream.
        scores: what the numbers are: "probability", "log10" or "natural"; or "guessed".
        encoding: of the file.

    Raises:
        FormatError: with file and line.
    """
    check_encoding(encoding)
    if scores not in SCORES:
        raise InvalidInput(f"scores are {scores!r}; they can be {', '.join(SCORES)}")
    reader = _native.PhraseTableReader(SCORES[scores])
    name = name_of(source)
    with open_source(source) as chunk:
        try:
            for number, piece in enumerate(decode(chunk, name, encoding)):
                reader.add_text(piece.removeprefix("\ufeff") if number == 0 else piece)
        except FormatError:
            raise
        except InvalidInput as error:
            raise FormatError(str(error), name, reader.lines + 1) from None
    if not reader.entries:
        raise FormatError("the phrase table is empty", name)
    return PhraseTableFile(reader.finish(), reader.entries, reader.features, reader.is_logarithmic)
