"""What a kill leaves of a file that was being written is removed by the next run, and nothing else is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from certus.cli.app import app
from certus.formats import open_atomically
from certus.storage import siblings
from tests.models import invented


def test_the_next_run_sweeps_what_a_kill_left(tmp_path: Path) -> None:
    program = (
        "import os, signal\nfrom certus.formats import open_atomically\n"
        "with open_atomically('x') as file:\n    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=False)
    assert done.returncode == -signal.SIGKILL
    assert len(os.listdir(tmp_path)) == 1
    with open_atomically(tmp_path / "other"):
        pass
    assert os.listdir(tmp_path) == ["other"]


def test_only_what_is_ours_and_stale_is_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours = siblings.make_sibling_name("x")
    assert ours.endswith(f"-{os.getpid()}.part")
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    stale = ours.replace(f"-{os.getpid()}.", f"-{process.pid}.")
    others = [ours, ".x.12345678", f"{stale}.gz", stale.replace("-", "+", 1), stale[1:], "x.part"]
    monkeypatch.setattr(siblings, "_HOST", "00000000")
    elsewhere = siblings.make_sibling_name("x").replace(str(os.getpid()), str(process.pid))
    for name in (stale, elsewhere, *others):
        (tmp_path / name).touch()
    with open_atomically(tmp_path / "y"):
        pass
    assert sorted(os.listdir(tmp_path)) == sorted([elsewhere, *others, "y"])


def test_names_of_any_alphabet_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / ("語" * 84)
    with open_atomically(path) as file:
        file.write("x")
    assert os.listdir(tmp_path) == [path.name]


def test_training_without_a_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x.conllu").write_text(invented.conllu(20, 1), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    written: list[object] = []
    monkeypatch.setattr("certus.learn.checkpoint.model_file.write", lambda *given: written.append(given))
    arguments = ["train", "tagger", "x.conllu", "-o", "m", "--epochs", "2", "--learner", "perceptron"]
    monkeypatch.setattr("certus.models.tagger.Tagger.save", lambda *_: Path("m").touch())
    for more, count in (([], 2), (["--no-checkpoint"], 0)):
        written.clear()
        result = CliRunner().invoke(app, [*arguments, *more], catch_exceptions=False)
        assert (result.exit_code, len(written)) == (0, count), result.output
    result = CliRunner().invoke(app, [*arguments, "--no-checkpoint", "--checkpoint", "c"])
    assert "exclude each other" in str(result.exception)
