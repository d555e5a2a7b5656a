"""A problem as plain data, which a certificate is about: its kind, its numbers, its fingerprint.

The data are dictionaries and lists whose leaves are arrays, whole numbers, booleans and strings. Files hold
them as JSON, with null for -inf; a chain, a forest or the arcs of a sentence may as well be arrays in an
``.npz`` file, under the same names.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certus.storage.files import open_atomically
from certus.verification.errors import CertificateError

FORMAT = "certus-problem"
VERSION = 1
LARGEST_FILE = 1 << 30  # bytes, of a problem or a certificate
MOST_ROWS = 1 << 20  # of an array without numbers


@dataclass(frozen=True, eq=False)
class Problem:
    """What is to be solved, in the terms of the checker.

    Attributes:
        kind: ``chain``, ``ngrams``, ``forest``, ``trees``, ``decomposition`` or ``latent``.
        data: its numbers, by name.
    """

    kind: str
    data: Mapping[str, Any]

    @property
    def fingerprint(self) -> str:
        """What tells this problem from all others: a hash of its kind and all of its numbers."""
        digest = hashlib.sha256(f"{FORMAT} {VERSION} {self.kind}".encode())
        _feed(digest, self.data)
        return digest.hexdigest()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the problem as JSON; whole or not at all."""
        write_json(path, self.as_json())

    def as_json(self) -> dict[str, Any]:
        """Return what a file holds."""
        return {"format": FORMAT, "version": VERSION, "kind": self.kind, **_as_json(self.data)}

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Problem:
        """Read a problem: JSON as ``save`` writes it, or an ``.npz`` file of arrays."""
        if os.fspath(path).endswith(".npz"):
            return _read_arrays(path)
        return cls.of_json(read_json(path), os.fspath(path))

    @classmethod
    def of_json(cls, given: Any, name: str = "the problem") -> Problem:
        """Make a problem of what a file holds."""
        check_format(given, name, "a problem", FORMAT, VERSION)
        data = {key: value for key, value in given.items() if key not in ("format", "version", "kind")}
        return make_problem(given.get("kind"), data)


# By kind: its arrays with their number of axes (floats or whole numbers), and its other entries.
_FLOATS: dict[str, dict[str, tuple[int, ...]]] = {
    "chain": {"emissions": (2,), "transitions": (2, 3), "start": (1,), "end": (1,)},
    "forest": {"scores": (1,)},
    "trees": {"arcs": (2,)},
    "ngrams": {"emissions": (2,), "weights": (1,)},
    "latent": {"emissions": (2,), "transitions": (2,), "start": (1,), "end": (1,), "pairs": (3,)},
    "decomposition": {},
    # the parts of decompositions that are none of these
    "table": {"table": (1,), "scores": (1,)},
    "count": {"scores": (1,)},
    "or-output": {"scores": (1,)},
    "knapsack": {"scores": (1,)},
    "siblings": {"arcs": (2,), "siblings": (3,)},
}
_INTEGERS: dict[str, tuple[str, ...]] = {
    "forest": ("heads", "offsets", "tails", "goals", "cell_edges", "cells"),
    "latent": ("owner",),
    "ngrams": ("coarse", "offsets", "sequences"),
    "table": ("shape", "single"),
    "count": ("negated",),
    "or-output": ("negated",),
    "knapsack": ("negated", "weights"),
}
_NUMBERS = {"trees": ("single_root",), "count": ("least", "most"), "knapsack": ("capacity",)}
_NUMBERS |= {"forest": ("nodes", "cell_count"), "decomposition": ("variables",), "ngrams": ("order",)}
_OPTIONAL = {"start", "end", "pairs", "cell_edges", "cells", "cell_count"}
PARTS = ("chain", "forest", "trees", "table", "count", "or-output", "knapsack", "siblings")
PROBLEMS = ("chain", "ngrams", "forest", "trees", "latent", "decomposition")


def make_problem(kind: Any, given: Mapping[str, Any]) -> Problem:
    """Return a checked problem; what is missing, unknown or no number is named."""
    if kind not in PROBLEMS:
        raise CertificateError(f"there is no kind of problem {kind!r}; there are {', '.join(PROBLEMS)}")
    return Problem(kind, _read_entries(kind, given))


def _read_entries(kind: str, given: Mapping[str, Any]) -> dict[str, Any]:
    floats, integers = _FLOATS[kind], _INTEGERS.get(kind, ())
    numbers = _NUMBERS.get(kind, ())
    data: dict[str, Any] = {}
    for name, value in given.items():
        if value is None and name in _OPTIONAL:
            continue
        if name in floats:
            data[name] = _as_floats(name, value, floats[name])
        elif name in integers:
            data[name] = _as_integers(name, value)
        elif name in numbers:
            data[name] = _as_number(name, value)
        elif kind == "decomposition" and name == "parts":
            data[name] = [_read_part(n, part) for n, part in enumerate(_as_list("parts", value))]
        else:
            raise CertificateError(f"a problem of the kind {kind!r} has no {name!r}")
    wanted = [*floats, *integers, *numbers, *(["parts"] if kind == "decomposition" else [])]
    missing = [name for name in wanted if name not in data and name not in _OPTIONAL]
    if missing:
        raise CertificateError(f"a problem of the kind {kind!r} needs {missing[0]!r}")
    if "arcs" in data and data["arcs"].shape == (len(data["arcs"]), len(data["arcs"]) + 1):
        np.fill_diagonal(data["arcs"][:, 1:], -np.inf)  # no word is its own head, whatever is written there
    return data


def _read_part(number: int, given: Any) -> dict[str, Any]:
    if not isinstance(given, Mapping) or given.get("kind") not in PARTS:
        raise CertificateError(f"part {number} is none of {', '.join(PARTS)}")
    common = {"kind", "weight", "links"}
    own = {name: value for name, value in given.items() if name not in common}
    data = _read_entries(given["kind"], own)
    weight = _as_floats("weight", [given.get("weight", 1.0)], (1,))
    links = _as_integers("links", given.get("links"))
    return {"kind": given["kind"], "weight": float(weight[0]), "links": links, **data}


def _as_list(name: str, value: Any) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise CertificateError(f"{name} must be a list")
    return list(value)


def _as_floats(name: str, value: Any, axes: tuple[int, ...]) -> NDArray[np.float64]:
    if isinstance(value, Mapping):
        return _make_empty(name, value, axes)
    try:
        array = np.array(_replace_none(value, max(axes)) if isinstance(value, list) else value, np.float64)
    except (TypeError, ValueError, OverflowError):
        raise CertificateError(f"{name} must be numbers in an array, null for -inf") from None
    if array.ndim not in axes:
        raise CertificateError(f"{name} must have {' or '.join(map(str, axes))} axes, not {array.ndim}")
    if np.isnan(array).any() or (array == np.inf).any():
        raise CertificateError(f"{name} must be numbers to add: it holds NaN or +inf")
    return array


def _make_empty(name: str, value: Mapping[str, Any], axes: tuple[int, ...]) -> NDArray[np.float64]:
    """Return an array without numbers, which JSON has by its shape: {"shape": [0, 3]}."""
    shape = value.get("shape")
    sizes: list[int] = shape if isinstance(shape, list) and len(shape) in axes else [1]
    if any(type(size) is not int or not 0 <= size < 2**31 for size in sizes) or 0 not in sizes:
        raise CertificateError(f"{name} must be numbers in an array")
    rows = math.prod(sizes[: sizes.index(0)])  # each is a list of its own for the checks
    if rows > MOST_ROWS:
        raise CertificateError(f"{name} has {rows:,} rows without numbers; the most is {MOST_ROWS:,}")
    return np.zeros(sizes)


def _replace_none(value: Any, axes: int) -> Any:
    """Put -inf for null into lists of lists, no deeper than an array has axes."""
    if isinstance(value, list) and axes:
        return [_replace_none(item, axes - 1) for item in value]
    return -math.inf if value is None else value


def _as_integers(name: str, value: ArrayLike | None) -> NDArray[np.int64]:
    try:
        array = np.asarray(value)
    except (TypeError, ValueError, OverflowError, RecursionError):
        array = np.empty((0, 0))
    if array.ndim != 1 or (array.dtype.kind not in "iub" and array.size):
        raise CertificateError(f"{name} must be a list of whole numbers")
    return array.astype(np.int64)


def _as_number(name: str, value: Any) -> int:
    if not isinstance(value, int | np.integer | np.bool_) or abs(int(value)) >= 2**62:
        raise CertificateError(f"{name} must be a whole number, not {str(value)[:50]}")
    return int(value)


def _feed(digest: Any, value: Any) -> None:
    if isinstance(value, Mapping):
        for name in sorted(value):
            digest.update(f"\n{name}:".encode())
            _feed(digest, value[name])
    elif isinstance(value, np.ndarray):
        digest.update(f"{value.dtype.kind}{value.shape}".encode())
        # Adding 0 makes -0.0, which is the same number, the same bytes.
        digest.update(np.ascontiguousarray(value + 0, value.dtype.newbyteorder("<")).tobytes())
    elif isinstance(value, list):
        digest.update(f"{len(value)} of".encode())
        for item in value:
            _feed(digest, item)
    else:
        digest.update(repr(value).encode())


def _as_json(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _as_json(item) for name, item in value.items()}
    if isinstance(value, np.ndarray):
        empty = value.size == 0 and value.ndim > 1
        return {"shape": list(value.shape)} if empty else _as_json(value.tolist())
    if isinstance(value, list):
        return [_as_json(item) for item in value]
    return None if isinstance(value, float) and value == -math.inf else value


def write_json(path: str | os.PathLike[str], value: Any) -> None:
    """Write JSON into a file, whole or not at all."""
    with open_atomically(path) as file:
        json.dump(value, file, allow_nan=False, separators=(",", ":"))
        file.write("\n")


def check_format(given: Any, name: str, what: str, format: str, version: int) -> None:
    """Refuse what says that it is of another format or version."""
    if not isinstance(given, dict) or given.get("format") != format:
        raise CertificateError(f'{name} is not {what}: it does not say "format": "{format}"')
    if given.get("version") != version:
        raise CertificateError(f"{name} has version {given.get('version')!r}; this Certus reads {version}")


def read_json(path: str | os.PathLike[str]) -> Any:
    """Read a file of JSON that is not too large."""
    name = os.fspath(path)
    if os.path.getsize(path) > LARGEST_FILE:
        raise CertificateError(f"{name} has more than {LARGEST_FILE:,} bytes, the most that is read")
    try:
        with open(path, "rb") as file:
            return json.loads(file.read(LARGEST_FILE + 1), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise CertificateError(f"{name} is not JSON, or cut off: {str(error)[:100]}") from None


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number of JSON; null stands for -inf")


def _read_arrays(path: str | os.PathLike[str]) -> Problem:
    name = os.fspath(path)
    try:
        with zipfile.ZipFile(path) as listed:
            if sum(entry.file_size for entry in listed.infolist()) > LARGEST_FILE:
                raise CertificateError(
                    f"{name} holds more than {LARGEST_FILE:,} bytes, the most that is read"
                )
        with np.load(path, allow_pickle=False) as arrays:
            given: dict[str, Any] = {key: arrays[key] for key in arrays.files}
    except (ValueError, OSError, zipfile.BadZipFile, EOFError) as error:
        if isinstance(error, FileNotFoundError | CertificateError):
            raise
        raise CertificateError(f"{name} is not a file of arrays: {str(error)[:100]}") from None
    kind = "latent" if "owner" in given else "trees" if "arcs" in given else "chain"
    kind = "forest" if "heads" in given else "ngrams" if "coarse" in given else kind
    scalars = {key: value.item() if value.ndim == 0 else value for key, value in given.items()}
    return make_problem(kind, scalars)
