"""Whatever is wrong, the command line says in one line, and leaves with 2 (the command) or 1 (the data)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from certus.cli import main, standard
from certus.cli.app import app
from certus.cli.streams import is_file
from certus.errors import CertusError, InvalidInput
from certus.formats import brackets, read
from certus.storage.files import check_encoding
from tests.models import invented
from tests.syntax import invented_trees

COMMAND = [sys.executable, "-c", "from certus.cli import main; main()"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "x.conllu").write_text(invented.conllu(5, 1), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(command: str, redirected: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    shell = ["bash", "-c", f'"$@" {redirected}', "bash", *COMMAND, *command.split()]
    env = {**os.environ, **environment}
    return subprocess.run(shell, capture_output=True, text=True, check=False, env=env)


@pytest.mark.parametrize(
    ("command", "redirected", "message"),
    [
        ("tag", "<&-", "cannot read <stdin>: Bad file descriptor"),
        ("tag x.conllu", ">&-", "cannot write to stdout: Bad file descriptor"),
        ("info", ">&-", "cannot write: Bad file descriptor"),
        ("tag --help", ">&-", "cannot write: Bad file descriptor"),
        ("info", "> /dev/full", "cannot write: No space left on device"),
        ("evaluate x.conllu -", "<&-", "cannot read <stdin>: Bad file descriptor"),
    ],
)
def test_closed_and_full_streams(command: str, redirected: str, message: str, folder: Path) -> None:
    done = run(command, redirected)
    assert (done.returncode, done.stderr) == (2, f"Error: {message}\n")


def test_what_needs_no_stream_works_without(folder: Path) -> None:
    assert run("tag x.conllu -o out", "<&- >&- 2>&-").returncode == 0
    assert len(list(read("out"))) == 5


def call(*arguments: str, monkeypatch: pytest.MonkeyPatch) -> int | str | None:
    """Run the command line in this process; return its exit code."""
    monkeypatch.setattr(sys, "argv", ["certus", *arguments])
    with pytest.raises(SystemExit) as caught:
        main()
    return caught.value.code


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("tag x.conllu -k 99999999999999999999", "-k is 99999999999999999999; 9223372036854775807 is"),
        ("tag x.conllu --threads 9223372036854775808", "--threads is 9223372036854775808"),
        ("tag x.conllu --steps 99999999999999999999", "--steps is 99999999999999999999"),
        ("train tagger x.conllu -o m --epochs 99999999999999999999", "epochs is 99999999999999999999"),
        ("train tagger x.conllu -o m --seed 99999999999999999999", "seed is 99999999999999999999"),
        ("train tagger x.conllu -o m --learner perceptron --margin 1e308", "margin is 1e+308; it may be"),
        ("train tagger x.conllu -o m --rate inf", "rate is inf; it may be 1e+30 at the most"),
        ("train tagger x.conllu -o m --rate nan", "rate is nan; it must be at least"),
        ("parse x.conllu x.conllu --weight inf", "--weight is inf; a finite number is needed"),
        ("tag x.conllu -k 9223372036854775807", "k is 9,223,372,036,854,775,807: that many answers for"),
        ("tag x.conllu -k 1000000000", "k is 1,000,000,000: that many answers for"),
        ("tag x.conllu --encoding idna", "encoding 'idna' cannot be read line by line"),
        ("tag x.conllu --encoding undefined", "encoding 'undefined' cannot be read line by line"),
        ("tag x.conllu --encoding punycode", "encoding 'punycode' cannot be read line by line"),
        ("tag x.conllu --encoding rot13", "encoding 'rot13' is unknown"),
        ("tag plain.txt2", "there is no file plain.txt2"),
        ("tag x.conllu plain.txt2", "there is no file plain.txt2"),
        ("tag no/where", "there is no file no/where"),
    ],
)
def test_bad_uses(
    command: str,
    message: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert call(*command.split(), monkeypatch=monkeypatch) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"Error: {message}")
    assert said.count("\n") == 1
    assert os.listdir() == ["x.conllu"]


def test_a_number_without_end_is_no_traceback(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = CliRunner().invoke(app, ["tag", "x.conllu", "-k", "9" * 5000])
    assert result.exit_code == 2
    assert isinstance(result.exception, SystemExit)


def test_bad_data_leave_with_1(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("bad.conllu").write_text("1\tlo\n\n", encoding="utf-8")
    assert call("tag", "bad.conllu", monkeypatch=monkeypatch) == 1
    assert capsys.readouterr().err.startswith("Error: bad.conllu:1: 2 columns instead of 10")


@pytest.mark.parametrize(("error", "code"), [(ZeroDivisionError("a\nb"), 1), (MemoryError(), 1)])
def test_what_nobody_foresaw_is_one_line(
    error: Exception,
    code: int,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr("certus.cli.tag.run", fail)
    assert call("tag", "x.conllu", monkeypatch=monkeypatch) == code
    said = capsys.readouterr().err
    assert said.startswith("Error: ")
    assert said.count("\n") == 1
    monkeypatch.setenv("CERTUS_DEBUG", "1")
    with pytest.raises(type(error)):
        main()


@pytest.mark.parametrize(
    "command", ["tagger x.conllu --learner hmm --suffixes 1000000000", "parser x.mrg --horizontal 1000000000"]
)
def test_lengths_beyond_all_words_and_trees_cost_nothing(command: str, folder: Path) -> None:
    brackets.write(invented_trees.trees(20), "x.mrg")
    result = CliRunner().invoke(app, ["train", *command.split(), "-o", "m"], catch_exceptions=False)
    assert result.exit_code == 0


@pytest.mark.skipif(not os.path.exists("/proc/self/mem"), reason="this system has no such file")
def test_a_read_error_is_no_write_error() -> None:
    with pytest.raises(CertusError, match="cannot read /proc/self/mem: Input/output error"):
        list(read("/proc/self/mem", "text"))


def test_every_codec_that_python_has_is_refused_or_reads_lines(folder: Path) -> None:
    from encodings.aliases import aliases

    for name in {*aliases.values(), "idna", "punycode", "undefined", "unicode_escape", "a\0b", ""}:
        try:
            check_encoding(name)
        except InvalidInput as error:
            assert repr(name) in str(error)  # noqa: PT017
            continue
        Path("x.txt").write_bytes("lo bakola .\n".encode(name))
        assert [sentence.words for sentence in read("x.txt", "text", encoding=name)] == [
            ["lo", "bakola", "."]
        ]


def test_reports_are_written_in_any_encoding(folder: Path) -> None:
    done = run("evaluate x.conllu x.conllu", PYTHONIOENCODING="ascii", COLUMNS="100")
    assert (done.returncode, done.stderr) == (0, "")
    assert "?" not in done.stdout


def test_characters_that_an_encoding_lacks_become_simpler() -> None:
    standard.open_standard_streams()
    assert "1–2 × ł".encode("ascii", errors="certus.simplify") == b"1-2 x ?"


@pytest.mark.parametrize("text", ["Hello.", "U.S", "...", "3.14", "a b.txt", "etc.", "e.g."])
def test_texts_are_no_files(text: str) -> None:
    assert not is_file(text)
