"""A file is either all there or not there."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from certus.errors import CertusError
from certus.formats import open_atomically


def test_a_file_is_written(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    with open_atomically(path) as file:
        file.write("ż\r\n")
        assert not path.exists()
    assert path.read_bytes() == "ż\r\n".encode()
    with open_atomically(path, binary=True) as file:
        file.write(b"\x00")
    assert path.read_bytes() == b"\x00"
    assert os.listdir(tmp_path) == ["x.txt"]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit])
def test_nothing_is_left_behind(tmp_path: Path, error: type[BaseException]) -> None:
    path = tmp_path / "x.gz"
    path.write_text("before", encoding="utf-8")

    def interrupted() -> None:
        with open_atomically(path) as file:
            file.write("half")
            raise error

    with pytest.raises(error):
        interrupted()
    assert path.read_text(encoding="utf-8") == "before"
    assert os.listdir(tmp_path) == ["x.gz"]


def test_permissions_stay(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.touch()
    path.chmod(0o640)
    with open_atomically(path) as file:
        file.write("x")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    plain, ours = tmp_path / "plain", tmp_path / "ours"
    plain.touch()
    with open_atomically(ours) as file:
        file.write("x")
    assert plain.stat().st_mode == ours.stat().st_mode


def test_links_are_followed(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.touch()
    link.symlink_to(real)
    with open_atomically(link) as file:
        file.write("x")
    assert link.is_symlink()
    assert real.read_text(encoding="utf-8") == "x"


def test_the_same_content_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a.gz", "b.gz"):
        with open_atomically(tmp_path / name) as file:
            file.write("owls\n" * 100)
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(CertusError, match="there is no folder"), open_atomically(tmp_path / "no" / "x"):
        pass
    with pytest.raises(CertusError, match="it is a folder"), open_atomically(tmp_path):
        pass


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_device() -> None:
    with (
        pytest.raises(CertusError, match="cannot write /dev/full: No space left"),
        open_atomically("/dev/full") as file,
    ):
        file.write("x" * 100_000)


def test_a_full_disk_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with (
        pytest.raises(CertusError, match="No space left on device; nothing was left"),
        open_atomically(tmp_path / "x") as f,
    ):
        f.write("x")
    assert os.listdir(tmp_path) == []


def test_errors_of_the_caller_stay_what_they_are(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), open_atomically(tmp_path / "x"):
        (tmp_path / "y").read_bytes()
