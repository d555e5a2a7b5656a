"""No command writes to a file that it reads, or two things to one file, by whatever name."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import certus
from certus.cli.app import app
from certus.errors import InvalidInput
from certus.formats import brackets
from tests.models import invented
from tests.syntax import invented_trees

COMMAND = [sys.executable, "-c", "from certus.cli import main; main()"]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of every test, by name."""
    folder = tmp_path_factory.mktemp("inputs")
    (folder / "x.conllu").write_text(invented.conllu(20, 1), encoding="utf-8")
    brackets.write(invented_trees.trees(30), folder / "x.mrg")
    certus.Tagger("upos", "hmm").fit(folder / "x.conllu").save(folder / "t.certus")
    certus.Tagger("xpos", "hmm").fit(folder / "x.mrg").save(folder / "xpos.certus")
    certus.ConstituencyParser().fit(folder / "x.mrg").save(folder / "p.certus")
    (folder / "d.txt").write_text("lo\tDET\n", encoding="utf-8")
    (folder / "templates.txt").write_text("word[0]\n", encoding="utf-8")
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def folder(tmp_path: Path, made: dict[str, bytes], monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to be in, with another name for each file, through links of both kinds."""
    for name, content in made.items():
        (tmp_path / name).write_bytes(content)
        (tmp_path / f"soft-{name}").symlink_to(name)
        os.link(tmp_path / name, tmp_path / f"hard-{name}")
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(command: str, redirected: str = "") -> subprocess.CompletedProcess[str]:
    shell = ["bash", "-c", f'"$@" {redirected}', "bash", *COMMAND, *command.split()]
    return subprocess.run(shell, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)


def check_refused(command: str, folder: Path, made: dict[str, bytes]) -> str:
    """Run a command in this process; return the reason that it gives."""
    with pytest.raises(InvalidInput, match=r"^the \w+ (would overwrite|and the)") as caught:
        CliRunner().invoke(app, command.split(), catch_exceptions=False)
    check_untouched(folder, made)
    return str(caught.value)


def check_untouched(folder: Path, made: dict[str, bytes]) -> None:
    assert {name: (folder / name).read_bytes() for name in made} == made
    names = {name for name in made for name in (name, f"soft-{name}", f"hard-{name}")}
    assert set(os.listdir()) == {*names, "sub"}


@pytest.mark.parametrize("name", ["{}", "./{}", "sub/../{}", "soft-{}", "hard-{}"])
@pytest.mark.parametrize(
    ("command", "written"),
    [
        ("train parser x.mrg -o", "x.mrg"),
        ("train parser x.mrg --dev soft-x.mrg -o", "x.mrg"),
        ("train tagger x.conllu -o", "x.conllu"),
        ("train tagger x.conllu -o m --templates templates.txt --checkpoint", "templates.txt"),
        ("tag t.certus x.conllu -o", "t.certus"),
        ("tag t.certus x.conllu -o", "x.conllu"),
        ("tag t.certus x.conllu --dictionary d.txt --confidence -o", "d.txt"),
        ("tag t.certus x.conllu --consistent --text d.txt -o", "d.txt"),
        ("parse p.certus x.mrg -o", "x.mrg"),
        ("parse p.certus x.mrg -o", "p.certus"),
        ("parse p.certus x.mrg --with-tagger xpos.certus -o", "xpos.certus"),
    ],
)
def test_an_input_is_never_written(
    command: str, written: str, name: str, folder: Path, made: dict[str, bytes]
) -> None:
    check_refused(f"{command} {name.format(written)}", folder, made)


@pytest.mark.parametrize(
    ("command", "redirected"),
    [
        ("tag t.certus -o x.conllu", "< x.conllu"),
        ("tag t.certus /dev/stdin -o hard-x.conllu", "< x.conllu"),
        ("tag t.certus x.conllu", ">> soft-x.conllu"),
        ("parse p.certus x.mrg", ">> x.mrg"),
        ("evaluate x.conllu soft-x.conllu", ">> x.conllu"),
    ],
)
def test_what_the_shell_redirects_is_seen(
    command: str, redirected: str, folder: Path, made: dict[str, bytes]
) -> None:
    done = run(command, redirected)
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("Error: the ")
    assert done.stderr.count("\n") == 1
    check_untouched(folder, made)


def test_two_outputs_are_two_files(folder: Path, made: dict[str, bytes]) -> None:
    said = check_refused("train tagger x.conllu -o m --checkpoint sub/../m", folder, made)
    assert said == "the checkpoint and the model would be the same file, sub/../m: name another one"
    check_refused("bench chain --quick --json r.png --plot ./r.png", folder, made)


def test_a_benchmark_spares_its_corpora(folder: Path, made: dict[str, bytes]) -> None:
    check_refused("bench refinement --quick --data . --json x.conllu", folder, made)


def test_other_outputs_are_written(folder: Path, made: dict[str, bytes]) -> None:
    for command, redirected in [
        ("tag t.certus x.conllu -o out", ""),
        ("tag t.certus x.conllu -o /dev/null", "< /dev/null"),
        ("tag t.certus - -o out", "< x.conllu"),
        ("tag t.certus x.conllu", "> out"),
        ("train parser x.mrg --dev x.mrg -o out", ""),
    ]:
        done = run(command, redirected)
        assert done.returncode == 0, done.stderr
    assert {name: (folder / name).read_bytes() for name in made} == made
