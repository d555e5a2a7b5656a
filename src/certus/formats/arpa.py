r"""N-gram models as text, in the format of ARPA: ``\data\``, counts, and a section for each order.

Logarithms in such files are of base 10; here they are natural. Names that end in .gz are compressed.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator

from certus import _native
from certus.errors import FormatError, InvalidInput
from certus.formats.blocks import decode
from certus.storage.files import Source, check_encoding, name_of, open_atomically, open_source

_STATES = 1 << 14  # written together


def read_ngrams(source: Source, *, unknown: float = 1e-100, encoding: str = "utf-8") -> _native.Ngrams:
    """Return the model of a file.

    N-grams whose context or suffix is missing, as pruned models have them, get it with the probability that
    backing off gives: no answer changes.

    Args:
        source: a path, or a stream.
        unknown: the probability of unknown words, if the file has no ``<unk>``; 0 forbids them.
        encoding: of the file.

    Raises:
        FormatError: with file and line.
    """
    check_encoding(encoding)
    if not 0 <= unknown <= 1:
        raise InvalidInput(f"unknown is {unknown}; a probability from 0 to 1 is needed")
    reader = _native.ArpaReader(math.log(unknown) if unknown else -math.inf)
    name = name_of(source)
    with open_source(source) as chunk:
        try:
            for piece in decode(chunk, name, encoding):
                reader.add_text(piece)
            return reader.finish()
        except FormatError:
            raise
        except InvalidInput as error:
            raise FormatError(str(error), name, max(reader.lines, 1)) from None


def write_model(
    path: str | os.PathLike[str], model: _native.LanguageModel, state_ends: list[int], arcs: list[int]
) -> None:
    """Write a model, whole or not at all.

    Args:
        path: the file.
        model: what to write.
        state_ends: for each length of contexts, the state after the last one.
        arcs: for each order, how many n-grams there are.
    """
    with open_atomically(path, binary=True) as file:
        for piece in _write_pieces(model, state_ends, arcs):
            file.write(piece)


def _write_pieces(model: _native.LanguageModel, state_ends: list[int], arcs: list[int]) -> Iterator[bytes]:
    yield b"\\data\\\n" + b"".join(b"ngram %d=%d\n" % (k, count) for k, count in enumerate(arcs, 1))
    writer = _native.ArpaWriter(model)
    first = 0
    for k, end in enumerate(state_ends, 1):
        yield b"\n\\%d-grams:\n" % k
        for begin in range(first, end, _STATES):
            yield writer.write(begin, min(begin + _STATES, end))
        first = end
    yield b"\n\\end\\\n"


def looks_like_arpa(path: str | os.PathLike[str]) -> bool:
    r"""Whether a file begins with the line ``\data\``."""
    if os.fspath(path) == "-" or not os.path.isfile(path):
        return False
    try:
        with open_source(path) as chunk:
            return chunk().lstrip().startswith(b"\\data\\")
    except FormatError:  # not compressed, whatever its name says
        return False
