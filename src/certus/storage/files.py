"""Opens what is read, and writes files that are either all there or not there."""

from __future__ import annotations

import errno
import gzip
import io
import os
import stat
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from typing import IO, Any, TypeAlias, cast

from certus.errors import CertusError, FormatError, InvalidInput
from certus.storage.siblings import make_sibling_name, sweep_siblings

Source: TypeAlias = "str | os.PathLike[str] | IO[bytes] | IO[str]"

CHUNK = 1 << 20  # bytes: large enough that Python's own work is per sentence, small enough for any machine
_SAMPLE = "no .. host name\t" + 100 * "a" + "\n"  # which idna, for one, takes for a wrong name of a host
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_watcher: ContextVar[Callable[[int], object] | None] = ContextVar("watcher", default=None)


def name_of(source: Source) -> str:
    """Return what errors call an input: its path, or the name of the stream."""
    if isinstance(source, str | os.PathLike):
        return "<stdin>" if os.fspath(source) == "-" else os.fspath(source)
    return str(getattr(source, "name", "<stream>"))


def check_readable(source: Source) -> None:
    """Refuse a path that leads to no file, before any work is done."""
    if not isinstance(source, str | os.PathLike) or os.fspath(source) == "-":
        return
    path = os.fspath(source)
    try:
        found = os.stat(path)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        raise InvalidInput(f"there is no file {path}") from None
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {error.strerror}") from None
    if stat.S_ISDIR(found.st_mode):
        raise InvalidInput(f"{path} is a folder; a file is needed")
    if not os.access(path, os.R_OK):
        raise InvalidInput(f"{path} may not be read: permission denied")


def check_encoding(encoding: str) -> None:
    """Refuse an encoding that is unknown, or in which plain letters and line ends are not as in ASCII."""
    try:
        fits = _SAMPLE.encode(encoding).decode("ascii") == _SAMPLE
    except UnicodeError:
        fits = False
    except (LookupError, ValueError):
        raise InvalidInput(
            f"encoding {encoding!r} is unknown; the usual ones are utf-8 and latin-1"
        ) from None
    if not fits:
        raise InvalidInput(f"encoding {encoding!r} cannot be read line by line; convert the file to UTF-8")


@contextmanager
def open_source(source: Source) -> Iterator[Callable[[], bytes]]:
    """Open a path ("-" for stdin, .gz decompressed) or take a stream; yield what returns its next bytes."""
    name = name_of(source)
    if not isinstance(source, str | os.PathLike):
        yield _make_reader(source, name)
    elif os.fspath(source) == "-":
        yield _make_reader(sys.stdin, name)
    else:
        check_readable(source)
        with ExitStack() as stack:
            file = stack.enter_context(_open_for_reading(source))
            content: Any = stack.enter_context(gzip.GzipFile(fileobj=file)) if _is_zipped(source) else file
            yield _make_reader(content, name, file.tell)


def _open_for_reading(path: str | os.PathLike[str]) -> IO[bytes]:
    try:
        return open(path, "rb")
    except OSError as error:
        raise CertusError(f"cannot read {os.fspath(path)}: {error.strerror}") from error


@contextmanager
def watch_reading(tell: Callable[[int], object]) -> Iterator[None]:
    """Within this block, call ``tell`` with the bytes on disk that each piece of a file takes, as it is read.

    Pieces are then smaller, so that it is called often.
    """
    before = _watcher.set(tell)
    try:
        yield
    finally:
        _watcher.reset(before)


def is_interactive(source: Source) -> bool:
    """Whether somebody types the input and waits for answers."""
    stream: Any = sys.stdin if isinstance(source, str) and source == "-" else source
    return bool(hasattr(stream, "isatty") and stream.isatty())


def _is_zipped(path: str | os.PathLike[str]) -> bool:
    return os.fspath(path).endswith(".gz")


def _make_reader(stream: Any, name: str, place: Callable[[], int] | None = None) -> Callable[[], bytes]:
    """Return what is there now of a pipe, a large piece of a file; nothing at the end.

    Args:
        stream: the content.
        name: of the source, for errors.
        place: says how many bytes of a file are read; None for what is no file.
    """
    binary = getattr(stream, "buffer", stream)
    if isinstance(binary, io.TextIOBase):
        return lambda: binary.read(CHUNK).encode()
    read = getattr(binary, "read1", binary.read)
    before = 0

    def read_chunk() -> bytes:
        nonlocal before
        tell = _watcher.get()
        try:
            piece = cast(bytes, read(CHUNK if tell is None else CHUNK // 32))
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise FormatError(f"cannot be decompressed: {error}", name) from error
        except OSError as error:
            raise CertusError(f"cannot read {name}: {error.strerror or error}") from error
        if tell is not None and place is not None:
            now = place()
            tell(now - before)
            before = now
        return piece

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
    name = _name_sibling(path, final)
    try:
        _make_sibling(path, final, name)
        with _translate_errors(path, only_full=True), _open_for_writing(name, path, coding) as file:
            yield file
        with _translate_errors(path):
            with open(name, "r+b") as raw:
                os.fsync(raw.fileno())
            os.replace(name, final)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(name)
        raise


def _name_sibling(path: str | os.PathLike[str], final: str) -> str:
    """Return the path of the temporary file that is to take the place of another."""
    if os.path.isdir(final):
        raise CertusError(f"cannot write {os.fspath(path)}: it is a folder")
    folder, base = os.path.split(final)
    if not os.path.isdir(folder):
        raise CertusError(f"cannot write {os.fspath(path)}: there is no folder {folder}")
    sweep_siblings(folder)
    return os.path.join(folder, make_sibling_name(base))


def _make_sibling(path: str | os.PathLike[str], final: str, name: str) -> None:
    with _translate_errors(path):
        # Made by open() itself, so that the permissions are those any new file would get.
        open(name, "xb").close()
        if os.path.exists(final):
            os.chmod(name, stat.S_IMODE(os.stat(final).st_mode))


@contextmanager
def _open_for_writing(name: str, path: str | os.PathLike[str], encoding: str | None) -> Iterator[IO[Any]]:
    """Open a file to be written, with compression and encoding around it as its final path wants."""
    with ExitStack() as stack:
        with _translate_errors(path):
            raw = stack.enter_context(open(name, "wb", buffering=0))
        file: Any = stack.enter_context(io.BufferedWriter(_Output(raw, path), CHUNK))
        if _is_zipped(path):
            # No time and no name in the header: the same content gives the same bytes.
            file = stack.enter_context(gzip.GzipFile("", "wb", fileobj=file, mtime=0))
        if encoding is not None:
            file = stack.enter_context(io.TextIOWrapper(file, encoding=encoding, newline=""))
        yield file


class _Output(io.RawIOBase):
    """A file whose errors are ours and name its final path, so that the caller's own stay what they are."""

    def __init__(self, raw: io.FileIO, path: str | os.PathLike[str]) -> None:
        self._raw, self._path = raw, path

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        with _translate_errors(self._path):
            return self._raw.write(data)

    def close(self) -> None:
        super().close()
        with _translate_errors(self._path):
            self._raw.close()


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
