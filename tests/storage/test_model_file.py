"""Model files come back as they went in, or are refused; nothing half-written is ever seen."""

from __future__ import annotations

import errno
import gc
import json
import os
import pickle
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors
import safetensors.numpy
from numpy.typing import NDArray

import certus
from certus.storage import model_file, tensors
from certus.storage.model_file import ModelFile, read, verify, write

DTYPES = ["?", "u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8"]
SHAPES: list[tuple[int, ...]] = [(), (0,), (1,), (7,), (3, 0, 2), (3, 5), (1, 2, 3, 4), (1000,)]
DESCRIPTION = {
    "labels": ["NOUN", "Ünïcode|Case=Nom", "動詞"],
    "order": 2,
    "options": {"l1": 0.5, "seed": None},
}


def content(dtype: str, shape: tuple[int, ...], seed: int = 0) -> NDArray[Any]:
    """Random bytes of any type; NaN and infinities included."""
    rng = np.random.default_rng(seed)
    if dtype == "?":
        return np.asarray(rng.integers(0, 2, shape), bool)
    count = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return np.frombuffer(rng.bytes(count), dtype).reshape(shape)


def same(a: NDArray[Any], b: NDArray[Any]) -> bool:
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def small(path: Path) -> dict[str, NDArray[Any]]:
    arrays = {"weights": content("f4", (3, 2)), "index": content("u8", (2,)), "on": content("?", (3,))}
    write(path, "tagger", arrays, DESCRIPTION)
    return arrays


def forge(path: Path, header: Any, data: bytes = b"") -> None:
    """Write a file with any header at all."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    text += b" " * (-(8 + len(text)) % 64)
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


def metadata(**changes: Any) -> dict[str, Any]:
    return {"certus": "1", "kind": "tagger", "description": "{}", "checksum": "", **changes}


# Round trips


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_arrays_come_back(tmp_path: Path, dtype: str, shape: tuple[int, ...]) -> None:
    array = content(dtype, shape)
    write(tmp_path / "m", "tagger", {"a": array}, {})
    model = verify(tmp_path / "m")
    assert same(model.arrays["a"], array)


@pytest.mark.parametrize("seed", range(30))
def test_many_arrays_come_back_aligned(tmp_path: Path, seed: int) -> None:
    rng = np.random.default_rng(seed)
    arrays = {
        f'{rng.integers(100)} näme "{i}': content(rng.choice(DTYPES), SHAPES[rng.integers(len(SHAPES))], i)
        for i in range(rng.integers(0, 20))
    }
    write(tmp_path / "m", "parser", arrays, DESCRIPTION)
    model = verify(tmp_path / "m")
    assert (model.kind, model.description, model.size) == (
        "parser",
        DESCRIPTION,
        (tmp_path / "m").stat().st_size,
    )
    assert model.arrays.keys() == arrays.keys()
    for name, array in model.arrays.items():
        assert same(array, arrays[name])
        assert array.flags.aligned
        assert not array.flags.writeable


def test_any_memory_layout_is_taken(tmp_path: Path) -> None:
    base = np.arange(24, dtype="f4").reshape(4, 6)
    arrays = {
        "strided": base[::2, ::3],
        "fortran": base.T,
        "big-endian": base.astype(">f4"),
        "reversed": base[::-1],
    }
    write(tmp_path / "m", "tagger", arrays, {})
    for name, array in verify(tmp_path / "m").arrays.items():
        np.testing.assert_array_equal(array, arrays[name])


def test_the_library_reads_what_we_write(tmp_path: Path) -> None:
    arrays = {dtype: content(dtype, (3, 4)) for dtype in DTYPES} | {
        "none": np.empty((0, 2)),
        "one": np.array(1.5),
    }
    write(tmp_path / "m", "tagger", arrays, DESCRIPTION)
    theirs = safetensors.numpy.load_file(tmp_path / "m")
    assert theirs.keys() == arrays.keys()
    assert all(same(theirs[name], arrays[name]) for name in arrays)
    with safetensors.safe_open(tmp_path / "m", "np") as file:
        stored = file.metadata()
    assert (stored["certus"], stored["kind"]) == ("1", "tagger")
    assert json.loads(stored["description"]) == DESCRIPTION


def test_we_read_the_arrays_that_the_library_writes(tmp_path: Path) -> None:
    arrays = {dtype: content(dtype, (3, 4)) for dtype in DTYPES}
    safetensors.numpy.save_file(arrays, tmp_path / "m", metadata=metadata())
    model = read(tmp_path / "m")
    assert all(same(model.arrays[name], arrays[name]) for name in arrays)


def test_equal_input_gives_equal_bytes(tmp_path: Path) -> None:
    one, two = content("f4", (9,)), content("u1", (5,))
    write(tmp_path / "a", "tagger", {"x": one, "y": two}, {"p": 1, "q": {"r": 2, "s": 3}})
    write(tmp_path / "b", "tagger", {"y": two, "x": one}, {"q": {"s": 3, "r": 2}, "p": 1})
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_numpy_scalars_and_tuples_in_a_description(tmp_path: Path) -> None:
    write(
        tmp_path / "m",
        "tagger",
        {},
        {"n": np.int64(3), "f": np.float64(0.5), "t": (1, 2), "b": np.bool_(True)},
    )
    assert read(tmp_path / "m").description == {"n": 3, "f": 0.5, "t": [1, 2], "b": True}


# Mapping


def test_arrays_are_mapped_not_read(tmp_path: Path) -> None:
    """Reading a file of 300 MB takes next to no memory; the file is sparse and takes no disk either."""
    count = 75_000_000
    entry = {"dtype": "F32", "shape": [count], "data_offsets": [0, 4 * count]}
    forge(tmp_path / "m", {"__metadata__": metadata(), "a": entry})
    with open(tmp_path / "m", "r+b") as file:
        file.truncate((tmp_path / "m").stat().st_size + 4 * count)
    code = (
        "import sys, resource; from certus.storage.model_file import read\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "model = read(sys.argv[1])\n"
        "assert model.arrays['a'][count - 1] == 0\n"
        "grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before\n"
        "assert grown < 20_000, grown\n"
    ).replace("count", str(count))
    if sys.platform == "linux":
        subprocess.run([sys.executable, "-c", code, str(tmp_path / "m")], check=True)


def test_arrays_outlive_the_model_and_the_file(tmp_path: Path) -> None:
    weights = small(tmp_path / "m")["weights"]
    mapped = read(tmp_path / "m").arrays["weights"]
    (tmp_path / "m").unlink()
    gc.collect()
    assert same(mapped, weights)


def test_who_has_it_mapped_keeps_the_old_one_when_it_is_replaced(tmp_path: Path) -> None:
    write(tmp_path / "m", "tagger", {"a": np.zeros(1000)}, {})
    old = read(tmp_path / "m")
    write(tmp_path / "m", "tagger", {"a": np.ones(10)}, {})
    assert same(old.arrays["a"], np.zeros(1000))
    assert same(read(tmp_path / "m").arrays["a"], np.ones(10))


def test_readers_never_see_half_a_file(tmp_path: Path) -> None:
    """Readers beside a writer always find one whole version."""
    path, stop, seen, failures = tmp_path / "m", threading.Event(), set(), []
    write(path, "tagger", {"a": np.full(1, 0)}, {"version": 0})

    def keep_reading() -> None:
        try:
            while not stop.is_set():
                model = verify(path)
                version = model.description["version"]
                assert same(model.arrays["a"], np.full(version * 1000 + 1, version))
                seen.add(version)
        except Exception as error:
            failures.append(error)

    readers = [threading.Thread(target=keep_reading) for _ in range(3)]
    for reader in readers:
        reader.start()
    for version in range(1, 40):
        write(path, "tagger", {"a": np.full(version * 1000 + 1, version)}, {"version": version})
    stop.set()
    for reader in readers:
        reader.join()
    assert not failures
    assert len(seen) > 1


def test_a_resource_in_a_zip_file(tmp_path: Path) -> None:
    weights = small(tmp_path / "m")["weights"]
    with zipfile.ZipFile(tmp_path / "p.zip", "w") as archive:
        archive.write(tmp_path / "m", "models/m")
    resource = zipfile.Path(tmp_path / "p.zip", "models/m")
    assert same(verify(resource).arrays["weights"], weights)
    assert not read(resource).arrays["weights"].flags.writeable
    with pytest.raises(certus.ModelError, match="models/nothing"):
        read(zipfile.Path(tmp_path / "p.zip", "models/nothing"))


def test_a_path_can_be_a_string_or_bytes(tmp_path: Path) -> None:
    small(tmp_path / "m")
    assert (
        read(str(tmp_path / "m")).description == read(os.fsencode(tmp_path / "m")).description == DESCRIPTION
    )
    assert repr(read(str(tmp_path / "m"))).endswith("m', kind='tagger', 3 arrays, 491 bytes)")


# Damage


def test_every_truncation_is_refused(tmp_path: Path) -> None:
    small(tmp_path / "m")
    whole = (tmp_path / "m").read_bytes()
    for length in range(len(whole)):
        (tmp_path / "cut").write_bytes(whole[:length])
        with pytest.raises(certus.ModelError, match="cut"):
            read(tmp_path / "cut")
    (tmp_path / "cut").write_bytes(whole + b"\0")
    with pytest.raises(certus.ModelError, match="1 bytes after its last array"):
        read(tmp_path / "cut")


def unchanged(model: ModelFile, arrays: Mapping[str, NDArray[Any]]) -> bool:
    return (
        (model.kind, model.description) == ("tagger", DESCRIPTION)
        and model.arrays.keys() == arrays.keys()
        and all(same(model.arrays[name], array) for name, array in arrays.items())
    )


def test_flipped_bits_are_refused_or_seen_by_verify(tmp_path: Path) -> None:
    """Each single bit, then thousands of random groups: an error, or arrays that can be read in full."""
    arrays = small(tmp_path / "m")
    whole = (tmp_path / "m").read_bytes()
    rng = np.random.default_rng(0)
    single = [np.array([bit]) for bit in range(8 * len(whole))]
    groups = [rng.integers(0, 8 * len(whole), rng.integers(2, 9)) for _ in range(3000)]
    bits = np.unpackbits(np.frombuffer(whole, np.uint8))
    outcomes = {"refused": 0, "read": 0}
    for flips in single + groups:
        damaged = bits.copy()
        damaged[flips] ^= 1
        (tmp_path / "bad").write_bytes(np.packbits(damaged).tobytes())
        try:
            model = read(tmp_path / "bad")
        except certus.ModelError:
            outcomes["refused"] += 1
            continue
        outcomes["read"] += 1
        assert sum(array.tobytes() != b"" for array in model.arrays.values()) == len(model.arrays)
        if not unchanged(model, arrays):
            with pytest.raises(certus.ModelError, match="checksum"):
                verify(tmp_path / "bad")
    assert outcomes["refused"] > 3000
    assert outcomes["read"] > 500


ENTRY = {"dtype": "U8", "shape": [4], "data_offsets": [0, 4]}
FORGED: dict[str, tuple[Any, bytes, str]] = {
    "not JSON": (b'{"a":', b"", "is not JSON"),
    "not UTF-8": (b'{"\xff":1}', b"", "is not UTF-8"),
    "deep": (b'{"a":' + b"[" * 200_000, b"", "is not JSON"),
    "twice": (b'{"a":{"b":1,"b":1}}', b"", "a name occurs twice"),
    "NaN": (b'{"a":NaN}', b"", "NaN is not JSON"),
    "no metadata": ({"a": ENTRY}, bytes(4), "is a safetensors file, but no Certus model"),
    "metadata a list": ({"__metadata__": []}, b"", "no Certus model"),
    "newer": (
        {"__metadata__": metadata(certus="2", future=True)},
        b"",
        "written by a newer Certus .* upgrade",
    ),
    "version unclear": ({"__metadata__": metadata(certus="new")}, b"", "'new', not a number"),
    "version a number": ({"__metadata__": metadata(certus=1)}, b"", "1, not a number"),
    "no kind": ({"__metadata__": metadata(kind=None)}, b"", "does not state the kind"),
    "odd metadata": ({"__metadata__": metadata(x=1e9)}, b"", "does not state the x"),
    "description": ({"__metadata__": metadata(description="[]")}, b"", "description of .* not a JSON object"),
    "description cut": ({"__metadata__": metadata(description="{")}, b"", "description of .* is not JSON"),
    "entry": ({"a": 1}, b"", "'a' of .* is not described by"),
    "entry short": ({"a": {"dtype": "U8"}}, b"", "is not described by"),
    "dtype": ({"a": {**ENTRY, "dtype": "F8_E4M3"}}, bytes(4), "holds 'F8_E4M3', which this Certus does not"),
    "dtype odd": ({"a": {**ENTRY, "dtype": ["U8"]}}, bytes(4), "does not know"),
    "shape": ({"a": {**ENTRY, "shape": [-4]}}, bytes(4), "impossible shape"),
    "shape float": ({"a": {**ENTRY, "shape": [4.0]}}, bytes(4), "impossible shape"),
    "shape bool": ({"a": {**ENTRY, "shape": [True, 4]}}, bytes(4), "impossible shape"),
    "shape huge": ({"a": {**ENTRY, "shape": [2**62, 2**62, 0], "data_offsets": [0, 0]}}, b"", "cannot have"),
    "shape deep": ({"a": {**ENTRY, "shape": [1] * 40, "data_offsets": [0, 1]}}, b"0", "impossible shape"),
    "too small": ({"a": {**ENTRY, "shape": [5]}}, bytes(5), "does not take 4 bytes"),
    "offsets": ({"a": {**ENTRY, "data_offsets": [4, 0]}}, bytes(4), "impossible shape or place"),
    "offsets 3": ({"a": {**ENTRY, "data_offsets": [0, 4, 4]}}, bytes(4), "impossible shape or place"),
    "offset huge": ({"a": {**ENTRY, "data_offsets": [2**64, 2**64 + 4]}}, bytes(4), "impossible"),
    "out of range": ({"a": ENTRY}, bytes(3), "truncated: array 'a' ends at byte"),
    "gap": ({"a": {**ENTRY, "data_offsets": [1, 5]}}, bytes(5), "overlaps its neighbour or leaves a gap"),
    "overlap": ({"a": ENTRY, "b": {**ENTRY, "data_offsets": [3, 7]}}, bytes(7), "array 'b' of .* overlaps"),
    "same place": ({"a": ENTRY, "b": ENTRY}, bytes(4), "overlaps"),
    "unaligned": (
        {
            "a": {**ENTRY, "shape": [1], "data_offsets": [0, 1]},
            "b": {**ENTRY, "dtype": "U16", "shape": [2], "data_offsets": [1, 5]},
        },
        bytes(5),
        "array 'b' of .* is not aligned",
    ),
}


@pytest.mark.parametrize("case", FORGED)
def test_forged_files_are_refused(tmp_path: Path, case: str) -> None:
    header, data, message = FORGED[case]
    if isinstance(header, dict) and case != "no metadata":
        header = {"__metadata__": metadata(), **header}
    forge(tmp_path / "forged", header, data)
    with pytest.raises(certus.ModelError, match=message) as raised:
        read(tmp_path / "forged")
    assert "forged" in str(raised.value)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is empty, not a model"),
        (b"{", "not a Certus model"),
        (b"# A text file, for instance a corpus\n" * 9, "not a Certus model"),
        (b"\x80\x04\x95" + pickle.dumps({"weights": 1}), "not a Certus model"),
        (bytes(5000), "not a Certus model"),
        (b"\xff" * 8 + b"{}", "its header would take 18,446,744,073,709,551,615 bytes"),
        ((100_000_001).to_bytes(8, "little") + b"{}", "its header would take 100,000,001 bytes"),
        ((99).to_bytes(8, "little") + b"{}", "is truncated: it ends inside its header of 99 bytes"),
    ],
)
def test_what_is_no_model_is_refused(tmp_path: Path, data: bytes, message: str) -> None:
    (tmp_path / "no-model").write_bytes(data)
    with pytest.raises(certus.ModelError, match=rf"no-model.*{message}"):
        read(tmp_path / "no-model")


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(certus.ModelError, match="absent: there is no such file"):
        read(tmp_path / "absent")
    with pytest.raises(certus.ModelError, match="it is a folder"):
        read(tmp_path)
    with pytest.raises(certus.ModelError, match="null"):
        read("a\0b")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(certus.ModelError, match="pipe: it is not a regular file"):
            read(tmp_path / "pipe")


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    small(tmp_path / "m")
    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(certus.ModelError, match="m: permission denied; check who may"):
        read(tmp_path / "m")


# Writing


@pytest.mark.parametrize(
    ("arrays", "description", "message"),
    [
        ({"a": np.array(["text"])}, {}, "array 'a' holds <U4; a model file takes bool, uint8"),
        ({"a": np.array([object()])}, {}, "array 'a' holds object"),
        ({"a": np.zeros(2, np.complex128)}, {}, "array 'a' holds complex128"),
        ({"a": np.zeros(2, np.longdouble)}, {}, "array 'a' holds float128"),
        ({"__metadata__": np.zeros(2)}, {}, "cannot be called '__metadata__'"),
        ({1: np.zeros(2)}, {}, "cannot be called 1"),
        ({}, {"a": np.zeros(2)}, r"ndarray is not a JSON type \(arrays go into"),
        ({}, {"a": {1, 2}}, "set is not a JSON type"),
        ({}, {"a": float("nan")}, "cannot be stored as JSON"),
        ({}, {"a": "\ud800"}, "cannot be stored as JSON"),
        ({}, {"a": 1, 2: 3}, "cannot be stored as JSON"),
    ],
)
def test_what_cannot_be_stored_is_refused(
    tmp_path: Path, arrays: Any, description: Any, message: str
) -> None:
    if "float128" in message and np.longdouble == np.float64:
        pytest.skip("long double is double here")
    with pytest.raises(certus.InvalidInput, match=message):
        write(tmp_path / "m", "tagger", arrays, description)
    assert not list(tmp_path.iterdir())


def test_limits_of_the_header(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tensors, "MAX_HEADER", 1000)
    with pytest.raises(certus.InvalidInput, match="the limit is 1,000"):
        write(tmp_path / "m", "tagger", {}, {"labels": ["x" * 1000]})
    with pytest.raises(certus.InvalidInput, match="a word such as 'tagger', not ''"):
        write(tmp_path / "m", "", {}, {})


def interrupt() -> None:
    raise KeyboardInterrupt


def fill_the_disk() -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("existing", [True, False])
@pytest.mark.parametrize(("where", "fail", "error", "message"), [
    ("an array", interrupt, KeyboardInterrupt, None),
    ("an array", fill_the_disk, certus.ModelError, r"No space left.*\(the model takes [\d,]+ bytes\)"),
    ("fsync", interrupt, KeyboardInterrupt, None),
    ("fsync", fill_the_disk, certus.ModelError, r"No space left.*\(the model takes [\d,]+ bytes\)"),
    ("replace", interrupt, KeyboardInterrupt, None),
])  # fmt: skip
def test_a_write_that_fails_changes_nothing(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    existing: bool,
    where: str,
    fail: Callable[[], None],
    error: type[BaseException],
    message: str | None,
) -> None:
    path = tmp_path / "m"
    if existing:
        small(path)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    if where == "an array":
        turns = iter([b"half of it, then"])

        def give(_: Any) -> bytes:
            for data in turns:
                return data
            fail()
            raise AssertionError

        monkeypatch.setattr(model_file, "_compute_checksum", lambda *_: "")
        monkeypatch.setattr(tensors, "view_bytes", give)
    else:
        monkeypatch.setattr(os, where, lambda *_: fail())
    with pytest.raises(error, match=message):
        write(path, "tagger", {"a": np.zeros(3), "b": np.zeros(4)}, {})
    monkeypatch.undo()
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(certus.ModelError, match="there is no folder"):
        write(tmp_path / "nowhere" / "m", "tagger", {}, {})
    with pytest.raises(certus.ModelError, match="folder"):
        write(tmp_path, "tagger", {}, {})
    assert not list(tmp_path.iterdir())
