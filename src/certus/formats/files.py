"""Writing files so that what bears the name is always whole: the old content or the new, never half."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from certus.errors import CertusError


@contextmanager
def atomic(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a binary file for writing that takes its name only once it is complete and on disk.

    The bytes go to a temporary file in the same folder. When the block ends they are forced to disk and the
    file is renamed; when it fails, for whatever reason, the temporary file is removed and nothing changes.
    Readers that hold the old file keep it. A symbolic link stays one: the file it leads to is replaced.

    Raises:
        CertusError: the disk is full, or ``path`` exists and is not a file.
    """
    target = Path(os.path.realpath(path))
    _check(path, target)
    temporary = target.parent / f".certus-{os.getpid()}-{os.urandom(6).hex()}.tmp"
    file = open(temporary, "xb")  # noqa: SIM115 - closed before the rename
    try:
        yield file
        file.flush()
        os.fsync(file.fileno())
        file.close()
        with suppress(FileNotFoundError):
            os.chmod(temporary, stat.S_IMODE(target.stat().st_mode))
        os.replace(temporary, target)
    except BaseException as error:
        written = _discard(file, temporary)
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise CertusError(
                f"cannot write {os.fspath(path)}: the disk is full; more than {written:,} bytes are needed. "
                "Free some space or choose another place"
            ) from error
        raise
    _sync_folder(target.parent)


def _discard(file: BinaryIO, temporary: Path) -> int:
    """Remove what was written, and say how much it was. Nothing here may hide the error that led to it."""
    written = 0
    with suppress(OSError, ValueError):
        written = file.tell()
    with suppress(OSError):
        file.close()
    with suppress(OSError):
        temporary.unlink()
    return written


def _check(path: str | os.PathLike[str], target: Path) -> None:
    """Refuse what a rename would fail on after all the work, or would destroy (a device, a pipe)."""
    if target.exists() and not target.is_file():
        what = "a folder" if target.is_dir() else "not a regular file"
        raise CertusError(f"cannot write {os.fspath(path)}: it exists and is {what}; choose another name")


def _sync_folder(folder: Path) -> None:
    """Force a rename to disk, where folders can be opened for that."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with suppress(OSError):  # some network file systems cannot
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
