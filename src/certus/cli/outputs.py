"""Refuses outputs before any work is done: files that are read as well, and places that cannot be written."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Mapping
from typing import TextIO, TypeAlias

from certus.errors import InvalidInput

Path: TypeAlias = "str | os.PathLike[str]"


def check_outputs(outputs: Mapping[str, Path | None], inputs: Iterable[Path | None]) -> None:
    """Refuse an output that is one of the inputs, or another output, under whatever name.

    Args:
        outputs: the paths by what is written to them; None and "-" stand for stdout.
        inputs: the paths that are read; "-" stands for stdin. Texts, which are no files, and None are fine.
    """
    read = {_identify(path, sys.stdin): path for path in inputs if path is not None}
    written: dict[object, str] = {}
    for what, path in outputs.items():
        place = _identify("-" if path is None else path, sys.stdout)
        if place is None:
            continue
        if place in read:
            name = "the file that stdin comes from" if read[place] == "-" else read[place]
            raise InvalidInput(f"the {what} would overwrite {name}, which is read: name another file")
        if place in written:
            raise InvalidInput(
                f"the {what} and the {written[place]} would be the same file, {path}: name another one"
            )
        written[place] = what


def _identify(path: Path, stream: TextIO) -> object:
    """Return what is the same for all names of a file; None for pipes, devices and whatever is no file."""
    try:
        found = os.fstat(stream.fileno()) if path == "-" else os.stat(path)
    except FileNotFoundError:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else None


def check_writable(path: str, what: str) -> None:
    """Refuse a place that cannot be written before hours of training, not after."""
    folder = os.path.dirname(os.path.abspath(path))
    if os.path.isdir(path):
        raise InvalidInput(f"{path} is a folder; name a file for the {what}")
    if not os.path.isdir(folder):
        raise InvalidInput(f"there is no folder {folder} to write the {what} to")
    place = path if os.path.exists(path) and not os.path.isfile(path) else folder
    if not os.access(place, os.W_OK):
        raise InvalidInput(f"{place} may not be written to: permission denied")
