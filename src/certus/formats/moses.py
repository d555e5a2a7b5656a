"""What else Moses reads and writes: weights (``LM0= 0.5``), and lists of the k best translations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from certus.errors import FormatError
from certus.formats.blocks import decode
from certus.formats.parallel import BARS
from certus.formats.text import split_lines
from certus.storage.files import Source, check_encoding, name_of, open_source

_WEIGHT = re.compile(r"([A-Za-z]+?)(\d*)\s*=\s*(.*)")


def read_weights(source: Source, *, encoding: str = "utf-8") -> dict[str, tuple[float, ...]]:
    """Return the weights of each feature, from a moses.ini or from its lines of weights alone.

    Args:
        source: a path, or a stream. Where there are sections, only ``[weight]`` is read.
        encoding: of the file.
    """
    check_encoding(encoding)
    name = name_of(source)
    found: dict[str, tuple[float, ...]] = {}
    section = "weight"
    with open_source(source) as chunk:
        for number, (line, _) in enumerate(split_lines(decode(chunk, name, encoding)), 1):
            text = line.partition("#")[0].strip()
            if text.startswith("["):
                section = text.strip("[]")
            elif text and section == "weight":
                feature, values = _parse_weight(text, name, number)
                if feature in found:
                    raise FormatError(f"there are two lines of weights for {feature}", name, number)
                found[feature] = values
    if not found:
        raise FormatError("there are no weights in it; a line of them is 'LM0= 0.5'", name)
    return found


def _parse_weight(text: str, name: str, number: int) -> tuple[str, tuple[float, ...]]:
    match = _WEIGHT.fullmatch(text)
    if match is None:
        raise FormatError(f"a line of weights is 'LM0= 0.5', not {text[:60]!r}", name, number)
    try:
        values = tuple(map(float, match[3].split()))
    except ValueError:
        values = ()
    if not values or not all(abs(value) <= 1e6 for value in values):
        raise FormatError(f"the weights of {match[1]} are no numbers: {match[3][:60]!r}", name, number)
    return match[1], values


def format_features(features: Mapping[str, Iterable[float]]) -> str:
    """Return features and their values as Moses writes them."""
    return " ".join(
        f"{name}0= {' '.join(f'{value:.6g}' for value in values)}" for name, values in features.items()
    )


def format_translation(number: int, text: str, features: Mapping[str, Iterable[float]], score: float) -> str:
    """Return a line of a list of the k best: the number of the sentence, its text, features and score."""
    return f" {BARS} ".join([str(number), text, format_features(features), f"{score:.6g}"])
