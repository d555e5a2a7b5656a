"""Opens what is read, and writes files that are either all there or not there."""

from __future__ import annotations

import errno
import gzip
import io
import os
import secrets
import stat
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO, TypeAlias, cast

from certus.errors import CertusError, FormatError, InvalidInput

Source: TypeAlias = "str | os.PathLike[str] | IO[bytes] | IO[str]"

CHUNK = 1 << 20  # bytes: large enough that Python's own work is per sentence, small enough for any machine
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def name_of(source: Source) -> str:
    """Return what errors call an input: its path, or the name of the stream."""
    if isinstance(source, str | os.PathLike):
        return "<stdin>" if os.fspath(source) == "-" else os.fspath(source)
    return str(getattr(source, "name", "<stream>"))


def check_readable(source: Source) -> None:
    """Refuse a path that leads to no file, before any work is done."""
    if not isinstance(source, str | os.PathLike) or os.fspath(source) == "-":
        return
    path = Path(source)
    if path.is_dir():
        raise InvalidInput(f"{path} is a folder; a file is needed")
    if not path.exists():
        raise InvalidInput(f"there is no file {path}")
    if not os.access(path, os.R_OK):
        raise InvalidInput(f"{path} may not be read: permission denied")


def check_encoding(encoding: str) -> None:
    """Refuse an encoding that is unknown, or in which a line end is not the byte it is in ASCII."""
    try:
        fits = "\n".encode(encoding) == b"\n"
    except LookupError:
        raise InvalidInput(
            f"encoding {encoding!r} is unknown; the usual ones are utf-8 and latin-1"
        ) from None
    if not fits:
        raise InvalidInput(f"encoding {encoding!r} cannot be read line by line; convert the file to UTF-8")


@contextmanager
def open_source(source: Source) -> Iterator[Callable[[], bytes]]:
    """Open a path ("-" for stdin, .gz decompressed) or take a stream; yield what returns its next bytes."""
    if not isinstance(source, str | os.PathLike):
        yield _make_reader(source)
    elif os.fspath(source) == "-":
        yield _make_reader(sys.stdin)
    else:
        check_readable(source)
        with cast("BinaryIO", gzip.open(source) if _is_zipped(source) else open(source, "rb")) as file:
            yield _make_reader(file, os.fspath(source))


def is_interactive(source: Source) -> bool:
    """Whether somebody types the input and waits for answers."""
    stream: Any = sys.stdin if isinstance(source, str) and source == "-" else source
    return bool(hasattr(stream, "isatty") and stream.isatty())


def _is_zipped(path: str | os.PathLike[str]) -> bool:
    return os.fspath(path).endswith(".gz")


def _make_reader(stream: Any, name: str = "<stream>") -> Callable[[], bytes]:
    """Return what is there now of a pipe, a large piece of a file; nothing at the end."""
    binary = getattr(stream, "buffer", stream)
    if isinstance(binary, io.TextIOBase):
        return lambda: binary.read(CHUNK).encode()
    read = getattr(binary, "read1", binary.read)

    def read_chunk() -> bytes:
        try:
            return cast(bytes, read(CHUNK))
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise FormatError(f"cannot be decompressed: {error}", name) from error

    return read_chunk


@contextmanager
def open_atomically(
    path: str | os.PathLike[str], *, binary: bool = False, encoding: str = "utf-8"
) -> Iterator[IO[Any]]:
    """Write a file through a temporary sibling that takes its place when all is on disk.

    On an error or an interrupt, nothing is left behind and a file that was there before stays as it was.
    A device or a pipe, which nothing can take the place of, is written directly. A name that ends in .gz is
    compressed.

    Args:
        path: the file to write.
        binary: whether bytes are written; else text, with line ends as they are given.
        encoding: of the text.
    """
    final = os.path.realpath(path)
    coding = None if binary else encoding
    if os.path.exists(final) and not os.path.isfile(final) and not os.path.isdir(final):
        with _translate_errors(path), _open_for_writing(final, path, coding) as file:
            yield file
        return
    name = _make_sibling(path, final)
    try:
        with _translate_errors(path, only_full=True), _open_for_writing(name, path, coding) as file:
            yield file
        with _translate_errors(path):
            with open(name, "r+b") as raw:
                os.fsync(raw.fileno())
            os.replace(name, final)
    except BaseException:
        os.unlink(name)
        raise


def _make_sibling(path: str | os.PathLike[str], final: str) -> str:
    if os.path.isdir(final):
        raise CertusError(f"cannot write {os.fspath(path)}: it is a folder")
    folder, base = os.path.split(final)
    if not os.path.isdir(folder):
        raise CertusError(f"cannot write {os.fspath(path)}: there is no folder {folder}")
    name = os.path.join(folder, f".{base[:100]}.{secrets.token_hex(4)}")
    with _translate_errors(path):
        # Made by open() itself, so that the permissions are those any new file would get.
        open(name, "xb").close()
        if os.path.exists(final):
            os.chmod(name, stat.S_IMODE(os.stat(final).st_mode))
    return name


@contextmanager
def _open_for_writing(name: str, path: str | os.PathLike[str], encoding: str | None) -> Iterator[IO[Any]]:
    """Open a file to be written, with compression and encoding around it as its final path wants."""
    with ExitStack() as stack:
        file: Any = stack.enter_context(open(name, "wb"))
        if _is_zipped(path):
            # No time and no name in the header: the same content gives the same bytes.
            file = stack.enter_context(gzip.GzipFile("", "wb", fileobj=file, mtime=0))
        if encoding is not None:
            file = stack.enter_context(io.TextIOWrapper(file, encoding=encoding, newline=""))
        yield file


@contextmanager
def _translate_errors(path: str | os.PathLike[str], *, only_full: bool = False) -> Iterator[None]:
    """Turn the system's errors into ours; inside the caller's block, only those that mean a full disk."""
    try:
        yield
    except OSError as error:
        if only_full and error.errno not in _FULL:
            raise
        left = "; nothing was left behind" if error.errno in _FULL else ""
        raise CertusError(f"cannot write {os.fspath(path)}: {error.strerror or error}{left}") from error
