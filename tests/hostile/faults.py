"""Disks that fail: what goes wrong when a file inside a folder is written, and how that is brought about.

A fault holds for files inside the folder only, so that logs and libraries go on as before.
"""

from __future__ import annotations

import builtins
import errno
import io
import os
import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

_OPEN = builtins.open


class FailingFile(io.FileIO):
    """A file that takes so many bytes and then fails, or takes them in small pieces, or cannot be closed."""

    room: float = float("inf")
    number: int = errno.ENOSPC
    piece: int = 1 << 30
    closes = True

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")[: self.piece]
        if len(view) > self.room:
            view = view[: int(self.room)]
        if not len(view) and len(memoryview(data)):
            raise OSError(self.number, os.strerror(self.number))
        self.room -= len(view)
        return super().write(view)

    def close(self) -> None:
        broken = not self.closed and not self.closes
        super().close()
        if broken:
            raise OSError(errno.EIO, os.strerror(errno.EIO))


@contextmanager
def replace_open(folder: Path, make: Callable[[str, str], io.FileIO]) -> Iterator[None]:
    """Let files inside a folder be opened for writing by ``make``, which gets the path and the mode."""

    def open_file(path: Any, mode: str = "r", buffering: int = -1, *rest: Any, **options: Any) -> Any:
        inside = isinstance(path, str | os.PathLike) and folder in Path(os.path.abspath(path)).parents
        if not inside or not set(mode) & set("wax+"):
            return _OPEN(path, mode, buffering, *rest, **options)
        raw = make(os.fspath(path), mode.replace("b", "").replace("t", ""))
        if buffering == 0:
            return raw
        whole = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
        return whole if "b" in mode else io.TextIOWrapper(whole, *rest, **options)

    with mock.patch.object(builtins, "open", open_file), mock.patch.object(io, "open", open_file):
        yield


def fail_writing(**settings: Any) -> Callable[[Path], Any]:
    """Return the fault of files with these settings of FailingFile."""
    return lambda folder: replace_open(folder, type("Failing", (FailingFile,), settings))


def refuse_opening(number: int) -> Callable[[Path], Any]:
    """Return the fault of a folder in which no file can be made."""

    def refuse(path: str, mode: str) -> io.FileIO:
        raise OSError(number, os.strerror(number), path)

    return lambda folder: replace_open(folder, refuse)


def fail_call(name: str, error: BaseException) -> Callable[[Path], Any]:
    """Return the fault of a call of the system that fails."""

    def fail(*arguments: Any, **options: Any) -> None:
        raise error

    return lambda folder: mock.patch.object(os, name, fail)


@contextmanager
def limit_size(folder: Path) -> Iterator[None]:
    """Let the system itself refuse files beyond a few bytes, as it does where a disk is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def make_error(number: int) -> OSError:
    """Return the error that the system would raise."""
    return OSError(number, os.strerror(number))


# What ends in an error that names the file, and leaves the old file as it was and nothing else behind.
FAULTS: dict[str, Callable[[Path], Any]] = {
    "full from the start": fail_writing(room=0),
    "full after a few bytes": fail_writing(room=20),
    "quota": fail_writing(room=20, number=errno.EDQUOT),
    "write fails": fail_writing(room=20, number=errno.EIO),
    "close fails": fail_writing(closes=False),
    "beyond the limit": limit_size,
    "folder without permission": refuse_opening(errno.EACCES),
    "read-only disk": refuse_opening(errno.EROFS),
    "fsync fails": fail_call("fsync", make_error(errno.EIO)),
    "fsync on a full disk": fail_call("fsync", make_error(errno.ENOSPC)),
    "rename fails": fail_call("replace", make_error(errno.EACCES)),
}
# What passes on as it is.
INTERRUPTS: dict[str, Callable[[Path], Any]] = {
    "interrupted fsync": fail_call("fsync", KeyboardInterrupt()),
    "interrupted rename": fail_call("replace", KeyboardInterrupt()),
}
# What is no reason to fail.
NUISANCES: dict[str, Callable[[Path], Any]] = {"short writes": fail_writing(piece=7)}
# Where a process is killed; afterwards the old file stands, or the whole new one.
MOMENTS = ("before fsync", "before rename", "after rename")


def kill_at(moment: str) -> Any:
    """Return what kills this process at a moment of writing."""
    before, name = moment.split()
    call = getattr(os, {"fsync": "fsync", "rename": "replace"}[name])

    def run_and_die(*arguments: Any) -> None:
        if before == "after":
            call(*arguments)
        os.kill(os.getpid(), signal.SIGKILL)

    return mock.patch.object(os, call.__name__, run_and_die)
