"""Stdin, stdout and stderr, as a caller may leave them: closed, or in an encoding that lacks characters."""

from __future__ import annotations

import codecs
import io
import os
import sys

_CLOSED = (("stdin", os.O_WRONLY, "r"), ("stdout", os.O_RDONLY, "w"), ("stderr", os.O_WRONLY, "w"))
_SIMPLER = {"–": "-", "×": "x", "≥": ">=", "≤": "<=", "…": "...", "·": "."}


def open_standard_streams() -> None:
    """Put streams in the place of those that are closed, and let reports be written in any encoding.

    What is read from a closed stdin, or written to a closed stdout, is then an error of the system like any
    other; what goes to a closed stderr is lost. The numbers of closed streams are taken, too, so that no file
    gets one.
    """
    for name, flag, mode in _CLOSED:
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, flag), mode, encoding="utf-8"))
    codecs.register_error("certus.simplify", _simplify)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="certus.simplify")


def _simplify(error: UnicodeError) -> tuple[str, int]:
    """Return what stands for characters that an encoding lacks."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lost = error.object[error.start : error.end]
    return "".join(_SIMPLER.get(character, "?") for character in lost), error.end


def discard_stdout() -> None:
    """Let what stdout still holds go nowhere, once it cannot be written."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def make_printable(text: str) -> str:
    """Keep what a file says from steering the terminal."""
    return "".join(
        char if char.isprintable() or char == "\n" else "\N{REPLACEMENT CHARACTER}" for char in text
    )
