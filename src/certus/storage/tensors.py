"""The safetensors format: a JSON header that names the type, shape and place of every array, then the arrays.

The first 8 bytes hold the length of the header; the arrays follow it without gaps. What we write is a little
stricter than the format: arrays with larger items come first and the header is padded with spaces, so every
array is aligned, and equal input gives equal bytes.

The safetensors library is used for neither way: its writer shuffles the metadata and its reader copies every
array. The tests hold our files against it.
"""

from __future__ import annotations

import json
import math
import mmap
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from certus.errors import InvalidInput, ModelError

Data: TypeAlias = "mmap.mmap | bytes"

# safetensors' own limit; a header beyond it is damage or an attack.
MAX_HEADER = 100_000_000
# Data starts at a multiple of this: a cache line, and more than any item needs.
ALIGNMENT = 64

_DTYPES = {
    "BOOL": np.dtype("?"),
    "U8": np.dtype("u1"),
    "I8": np.dtype("i1"),
    "U16": np.dtype("<u2"),
    "I16": np.dtype("<i2"),
    "F16": np.dtype("<f2"),
    "U32": np.dtype("<u4"),
    "I32": np.dtype("<i4"),
    "F32": np.dtype("<f4"),
    "U64": np.dtype("<u8"),
    "I64": np.dtype("<i8"),
    "F64": np.dtype("<f8"),
}
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}
DAMAGED = "the file is damaged: fetch or train it again"


def pack(table: Mapping[str, Any], metadata: Mapping[str, str]) -> bytes:
    """Return what stands before the arrays: the length of the header and the header, padded."""
    header = dump({**table, "__metadata__": metadata})
    header += b" " * (-(8 + len(header)) % ALIGNMENT)
    if len(header) > MAX_HEADER:
        raise InvalidInput(f"names and description take {len(header):,} bytes; the limit is {MAX_HEADER:,}")
    return len(header).to_bytes(8, "little") + header


def make_storable(arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return the arrays as they will lie in the file: contiguous, little-endian, largest items first."""
    stored = {}
    for name, given in arrays.items():
        if not isinstance(name, str) or name == "__metadata__":
            raise InvalidInput(f"an array cannot be called {name!r}")
        array = np.asarray(given, order="C")
        dtype = array.dtype.newbyteorder("<")
        if dtype not in _NAMES:
            raise InvalidInput(f"array {name!r} holds {array.dtype}; a model file takes {_list_types()}")
        stored[name] = array.astype(dtype, copy=False)
    return dict(sorted(stored.items(), key=lambda item: (-item[1].itemsize, item[0])))


def _list_types() -> str:
    return ", ".join(dtype.name for dtype in _DTYPES.values())


def make_table(arrays: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    """Return the entries of the header for arrays that lie one after the other."""
    entries, begin = {}, 0
    for name, array in arrays.items():
        end = begin + array.nbytes
        entries[name] = {
            "dtype": _NAMES[array.dtype],
            "shape": list(array.shape),
            "data_offsets": [begin, end],
        }
        begin = end
    return entries


def dump(value: Any, default: Callable[[Any], Any] | None = None) -> bytes:
    """Return JSON with one spelling for equal values."""
    return json.dumps(
        value, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=default
    ).encode()


def view_bytes(array: NDArray[Any]) -> memoryview:
    """Return the bytes of a contiguous array, where they lie."""
    return array.reshape(-1).view(np.uint8).data


def parse_header(name: str, data: Data) -> tuple[dict[str, Any], int]:
    """Return the parsed header and where the arrays begin."""
    if len(data) < 10 or data[8:9] != b"{":
        raise ModelError(f"{name} is not a Certus model; give the path of a file that Certus wrote")
    length = int.from_bytes(data[:8], "little")
    if length > MAX_HEADER:
        raise ModelError(
            f"{name} is not a Certus model, or damaged: its header would take {length:,} bytes, more than "
            f"{MAX_HEADER:,}"
        )
    if 8 + length > len(data):
        raise ModelError(f"{name} is truncated: it ends inside its header of {length:,} bytes; {DAMAGED}")
    try:
        text = data[8 : 8 + length].decode()
    except UnicodeDecodeError as error:
        raise ModelError(f"the header of {name} is not UTF-8 ({error.reason}); {DAMAGED}") from error
    return parse(name, "header", text), 8 + length


def parse(name: str, part: str, text: str) -> dict[str, Any]:
    """Parse a JSON object strictly: no name twice, no NaN."""
    try:
        value = json.loads(text, object_pairs_hook=_refuse_repeats, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise ModelError(f"the {part} of {name} is not JSON ({error}); {DAMAGED}") from error
    if not isinstance(value, dict):
        raise ModelError(f"the {part} of {name} is not a JSON object; {DAMAGED}")
    return value


def _refuse_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    unique = dict(pairs)
    if len(unique) < len(pairs):
        raise ValueError("a name occurs twice")
    return unique


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


def make_views(name: str, data: Data, begin: int, table: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    """Return views on the arrays, which must fill the file from ``begin`` on without gap or overlap."""
    entries = sorted(
        (_read_entry(name, key, value) for key, value in table.items()), key=lambda e: (e[3], e[4])
    )
    arrays: dict[str, NDArray[Any]] = {}
    end = 0
    for key, dtype, shape, first, last in entries:
        where = f"array {key!r} of {name}"
        if first != end:
            raise ModelError(
                f"{where} overlaps its neighbour or leaves a gap: it starts at {first}, not {end}; {DAMAGED}"
            )
        end = last
        if begin + end > len(data):
            raise ModelError(
                f"{name} is truncated: array {key!r} ends at byte {begin + end:,} of {len(data):,}; {DAMAGED}"
            )
        if (begin + first) % dtype.itemsize:
            raise ModelError(f"{where} is not aligned: it starts at byte {begin + first}; {DAMAGED}")
        arrays[key] = _make_view(where, data, dtype, shape, begin + first)
    if begin + end < len(data):
        raise ModelError(f"{name} has {len(data) - begin - end:,} bytes after its last array; {DAMAGED}")
    return arrays


def _read_entry(name: str, key: str, value: Any) -> tuple[str, np.dtype[Any], list[int], int, int]:
    """Return name, type, shape, and first and last byte (from the start of the data) of an array."""
    where = f"array {key!r} of {name}"
    if not isinstance(value, dict) or value.keys() != {"dtype", "shape", "data_offsets"}:
        raise ModelError(f"{where} is not described by dtype, shape and data_offsets; {DAMAGED}")
    dtype, shape, offsets = value["dtype"], value["shape"], value["data_offsets"]
    if not isinstance(dtype, str) or dtype not in _DTYPES:
        raise ModelError(
            f"{where} holds {dtype!r}, which this Certus does not know; upgrade, or fetch it again"
        )
    if not _is_shape(shape) or not _is_shape(offsets) or len(offsets) != 2 or offsets[0] > offsets[1]:
        raise ModelError(f"{where} has an impossible shape or place: {shape}, {offsets}; {DAMAGED}")
    if math.prod(shape) * _DTYPES[dtype].itemsize != offsets[1] - offsets[0]:
        raise ModelError(
            f"{where}, {dtype} of shape {shape}, does not take {offsets[1] - offsets[0]:,} bytes; {DAMAGED}"
        )
    return key, _DTYPES[dtype], shape, offsets[0], offsets[1]


def _is_shape(value: Any) -> bool:
    """Whether this is a list of few whole numbers, none negative, as sizes of arrays are."""
    return (
        isinstance(value, list)
        and len(value) <= 32
        and all(type(size) is int and 0 <= size < 2**63 for size in value)
    )


def _make_view(where: str, data: Data, dtype: np.dtype[Any], shape: list[int], offset: int) -> NDArray[Any]:
    try:
        if 0 in shape:  # nothing to view, and offset may be the end of the file
            array: NDArray[Any] = np.empty(shape, dtype)
            array.flags.writeable = False
            return array
        return np.frombuffer(data, dtype, math.prod(shape), offset).reshape(shape)
    except (ValueError, MemoryError) as error:  # such as dimensions that overflow
        raise ModelError(f"{where} cannot have the shape {shape}: {error}; {DAMAGED}") from error
