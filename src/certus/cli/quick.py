"""A short way to ``certus tag``.

The library of the command line takes as long to get ready as everything that tagging needs. Plain uses of the
one command that is run sentence by sentence are therefore read here; all else, help and mistakes too, goes
the long way. The options are declared in ``certus.cli.app``; a test holds the two against each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

NUMBERS = {"-k": "k", "--threads": "threads", "--steps": "steps"}
TEXTS = {
    "--legal": "legal",
    "--dictionary": "dictionary",
    "--inference": "inference",
    "--output": "output",
    "-o": "output",
    "--format": "format",
    "--columns": "columns",
    "--encoding": "encoding",
}
FLAGS = {"--confidence": "confidence"}
LONG = ("--consistent", "--text", "--delta", "--known")  # whole corpora, which go the long way


def plain_tag(arguments: Sequence[str]) -> dict[str, Any] | None:
    """Return the arguments of ``certus.cli.tag.run``, or None for whatever is not a plain ``tag ...``."""
    if list(arguments[:1]) != ["tag"]:
        return None
    rest, words = iter(arguments[1:]), []
    options: dict[str, Any] = {}
    for argument in rest:
        if argument in FLAGS:
            options[FLAGS[argument]] = True
        elif argument in NUMBERS:
            number = next(rest, "")
            if not (number.isascii() and number.isdigit() and int(number) > 0):
                return None
            options[NUMBERS[argument]] = int(number)
        elif argument in TEXTS:
            text = next(rest, "-")
            if text.startswith("-"):
                return None
            options[TEXTS[argument]] = text
        elif argument.startswith("-") and argument != "-":
            return None
        else:
            words.append(argument)
    return {"model": words[0] if words else None, "inputs": words[1:], **options}
