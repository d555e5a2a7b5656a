"""Model files: arrays and a description in one file, mapped into memory when read.

A model file is a safetensors file whose metadata holds ``certus`` (the version of this layout), ``kind``
("tagger", ...), ``description`` (JSON text: all that is not an array) and ``checksum`` (of everything else).
No code is stored and none is run on reading.
"""

from __future__ import annotations

import mmap
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from certus.errors import CertusError, InvalidInput, ModelError
from certus.storage import tensors
from certus.storage.files import open_atomically
from certus.storage.tensors import DAMAGED

VERSION = 1


@dataclass(frozen=True, eq=False)
class ModelFile:
    """What a model file holds.

    Attributes:
        path: where it was read from.
        kind: what sort of model it is: "tagger", ...
        description: all that is not an array: labels, options, training data, licence, ...
        arrays: read-only views on the mapped file; what is not used is never read. They may outlive this
            object.
        size: bytes on disk.
    """

    path: str
    kind: str
    description: dict[str, Any]
    arrays: Mapping[str, NDArray[Any]]
    size: int

    def __repr__(self) -> str:
        return f"ModelFile({self.path!r}, kind={self.kind!r}, {len(self.arrays)} arrays, {self.size:,} bytes)"


class Storable(Protocol):
    """A model that can be made of an opened model file."""

    @classmethod
    def from_file(cls, file: ModelFile) -> Any:
        """Make one."""


Kept = TypeVar("Kept", bound=Storable)


def write(
    path: str | os.PathLike[str],
    kind: str,
    arrays: Mapping[str, NDArray[Any]],
    description: Mapping[str, Any],
) -> None:
    """Write a model file, whole or not at all.

    Args:
        path: the file; one that exists is replaced, and who has it mapped keeps the old one.
        kind: what sort of model it is, such as "tagger".
        arrays: booleans, integers and floats of any shape, by name.
        description: what can be said in JSON; NumPy scalars become numbers, tuples lists, and the order of
            keys is not kept.

    Raises:
        InvalidInput: something cannot be stored.
        ModelError: the file cannot be written.
    """
    header, stored = _lay_out(kind, arrays, description)
    size = len(header) + sum(array.nbytes for array in stored)
    try:
        with open_atomically(path, binary=True) as file:
            file.write(header)
            for array in stored:
                file.write(tensors.view_bytes(array))
    except OSError as error:
        raise ModelError(f"cannot write the model {os.fspath(path)}: {_explain(error)}") from error
    except CertusError as error:
        raise ModelError(f"{error} (the model takes {size:,} bytes)") from error


def pack(kind: str, arrays: Mapping[str, NDArray[Any]], description: Mapping[str, Any]) -> bytes:
    """Return what ``write`` would write."""
    header, stored = _lay_out(kind, arrays, description)
    return b"".join([header, *map(tensors.view_bytes, stored)])


def unpack(data: bytes) -> ModelFile:
    """Return the model that ``pack`` made bytes of, after checking that it is one and complete."""
    return _parse("<bytes>", data)[0]


def pickle_model(kind: type[Kept], data: bytes) -> tuple[Callable[[type[Kept], bytes], Kept], Any]:
    """Return what ``__reduce__`` of a model returns: how to make it again of what ``pack`` gave."""
    return _unpickle, (kind, data)


def _unpickle(kind: type[Kept], data: bytes) -> Kept:
    made: Kept = kind.from_file(unpack(data))
    return made


def _lay_out(
    kind: str, arrays: Mapping[str, NDArray[Any]], description: Mapping[str, Any]
) -> tuple[bytes, list[NDArray[Any]]]:
    """Return the header and the arrays as they follow each other in a file."""
    if not isinstance(kind, str) or not kind:
        raise InvalidInput(f"the kind of a model is a word such as 'tagger', not {kind!r}")
    stored = tensors.make_storable(arrays)
    metadata = {"certus": str(VERSION), "kind": kind, "description": _write_description(description)}
    table = tensors.make_table(stored)
    metadata["checksum"] = _compute_checksum(table, metadata, stored.values())
    return tensors.pack(table, metadata), list(stored.values())


def read(path: Any) -> ModelFile:
    """Map a model file into memory, after checking that it is one and complete.

    Args:
        path: a path, or a resource of a package (``importlib.resources.files(...) / name``); a resource
            inside a zip file is read, since it cannot be mapped.

    Raises:
        ModelError: with the path, the reason and what to do.
    """
    return _read(path)[0]


def verify(path: Any) -> ModelFile:
    """Read all of a model file and hold it against its checksum.

    Raises:
        ModelError: it cannot be read, or a byte has changed since it was written.
    """
    model, table, metadata = _read(path)
    stored = metadata.pop("checksum")
    if _compute_checksum(table, metadata, model.arrays.values()) != stored:
        raise ModelError(f"{model.path} is not as it was written: its checksum differs; {DAMAGED}")
    return model


@contextmanager
def blame_file(file: ModelFile, kind: str) -> Iterator[dict[str, Any]]:
    """Yield the description of a file of this kind; what goes wrong meanwhile is the fault of the file."""
    if file.kind != kind:
        raise ModelError(f"{file.path} holds a {file.kind}, not a {kind}")
    try:
        yield file.description
    except (
        CertusError,
        LookupError,
        TypeError,
        AttributeError,
        ValueError,
        ArithmeticError,
        RecursionError,
    ) as error:
        reason = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
        raise ModelError(f"{file.path} is damaged or of another version: {reason}") from error


def _write_description(description: Mapping[str, Any]) -> str:
    try:
        return tensors.dump(description, default=_number).decode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"the description cannot be stored as JSON: {error}") from error


def _number(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} is not a JSON type (arrays go into arrays=)")


def _compute_checksum(
    table: Mapping[str, Any], metadata: Mapping[str, str], arrays: Iterable[NDArray[Any]]
) -> str:
    """Digest everything in a file except the checksum itself."""
    from hashlib import blake2b

    digest = blake2b(tensors.dump([table, metadata]), digest_size=16)
    for array in arrays:
        digest.update(tensors.view_bytes(array))
    return "blake2b:" + digest.hexdigest()


def _read(path: Any) -> tuple[ModelFile, dict[str, Any], dict[str, str]]:
    """Return a model with the two parts of its header: the table of arrays and the metadata."""
    return _parse(*_map(path))


def _parse(name: str, data: tensors.Data) -> tuple[ModelFile, dict[str, Any], dict[str, str]]:
    header, begin = tensors.parse_header(name, data)
    metadata = _check_metadata(name, header.pop("__metadata__", None))
    description = tensors.parse(name, "description", metadata["description"])
    arrays = tensors.make_views(name, data, begin, header)
    model = ModelFile(name, metadata["kind"], description, MappingProxyType(arrays), len(data))
    return model, header, metadata


def _map(path: Any) -> tuple[str, tensors.Data]:
    """Return the name of a file and its bytes, mapped where it is a file of its own."""
    if not isinstance(path, (str, bytes, os.PathLike)):
        return str(path), _read_resource(path)
    name = os.fsdecode(path)
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # before opening, since opening a pipe can wait for ever
            what = "a folder" if os.path.isdir(path) else "not a regular file"
            raise ModelError(f"cannot read the model {name}: it is {what}; give the path of a model file")
        with open(path, "rb") as file:
            if os.fstat(file.fileno()).st_size == 0:
                raise ModelError(f"{name} is empty, not a model: fetch or train it again")
            return name, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:
        raise ModelError(f"cannot read the model {name}: {_explain(error)}") from error


def _read_resource(resource: Any) -> bytes:
    try:
        return bytes(resource.read_bytes())
    except (OSError, KeyError) as error:
        raise ModelError(f"cannot read the model {resource}: {_explain(error)}") from error


def _explain(error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return "there is no such file or folder; check the path"
    if isinstance(error, PermissionError):
        return "permission denied; check who may read and write there"
    return getattr(error, "strerror", None) or str(error)


def _check_metadata(name: str, metadata: Any) -> dict[str, str]:
    if not isinstance(metadata, dict) or "certus" not in metadata:
        raise ModelError(f"{name} is a safetensors file, but no Certus model; give one that Certus wrote")
    version = metadata["certus"]
    if isinstance(version, str) and version.isascii() and version.isdecimal() and len(version) < 10:
        if int(version) > VERSION:
            raise ModelError(
                f"{name} was written by a newer Certus (model format {version}; this one reads {VERSION}): "
                "upgrade with pip install --upgrade certus"
            )
    else:
        raise ModelError(f"{name} states a model format of {version!r}, not a number; {DAMAGED}")
    for key in ("kind", "description", "checksum", *metadata):
        if not isinstance(metadata.get(key), str):
            raise ModelError(f"the header of {name} does not state the {key}; {DAMAGED}")
    return metadata
