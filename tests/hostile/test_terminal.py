"""What people see on a terminal: answers that can be read, a bar for long work, plain help, completion."""

from __future__ import annotations

import os
import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

import certus
from certus.annotation.tagging import Tagging
from certus.cli import main, progress, view
from certus.cli.app import app
from certus.cli.options import TagOptions
from certus.cli.streams import wants_view
from certus.cli.wording import format_count
from certus.errors import InvalidInput
from certus.solution import Status
from certus_bench import NAMES
from certus_bench.harness.claims import Claim
from certus_bench.harness.tables import BUSY, conclude
from tests.models import invented

COMMANDS = [
    "",
    "tag",
    "parse",
    "evaluate",
    "info",
    "demo",
    "train",
    "train tagger",
    "train parser",
    "bench",
    "align",
    "train aligner",
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "x.conllu").write_text(invented.conllu(50, 1), encoding="utf-8")
    certus.Tagger("upos+feats", "hmm").fit(tmp_path / "x.conllu").save(tmp_path / "m.certus")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


# ------------------------------------------------------------------------------------- the view of answers


def test_a_view_of_words_tags_confidence_and_proof(folder: Path) -> None:
    *rows, proof = run("tag", "m.certus", "lo bakola 語.", "--pretty").rstrip("\n").split("\n")
    assert [row.split()[0] for row in rows] == ["lo", "bakola", "語", "."]
    assert rows[0].split()[1:3] == ["DET", "Number=Sing"]
    assert all(row.endswith("%") for row in rows)
    assert proof.startswith("  probability ")
    assert proof.endswith(", proven: no label sequence scores more")
    ranked = run("tag", "m.certus", "lo bakola.", "--pretty", "-k", "2").split("\n\n")
    assert [block.split("\n")[-1].split()[0] for block in ranked[:2]] == ["1.", "2."]


def test_what_is_not_proven_is_not_said_to_be() -> None:
    for bound, said in (
        (9.0, "not proven: no label sequence scores more than 9"),
        (float("inf"), "not proven: it is"),
    ):
        assert said in view.describe_proof(Tagging(["x"], 7.0, bound, Status.FEASIBLE))


def test_texts_on_a_terminal_are_shown_for_people(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not wants_view(["A text."], TagOptions())
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert wants_view(["A text."], TagOptions())
    assert not wants_view(["A text."], TagOptions(no_pretty=True))
    assert not wants_view(["A text."], TagOptions(output="x"))
    assert not wants_view(["A text.", "x.conllu"], TagOptions())
    assert not wants_view(["-"], TagOptions())
    with pytest.raises(InvalidInput, match="exclude each other"):
        wants_view(["A text."], TagOptions(pretty=True, no_pretty=True))


def test_a_word_cannot_steer_the_terminal(folder: Path) -> None:
    assert "\033" not in run("tag", "m.certus", "lo \033[2J", "--pretty")


# ------------------------------------------------------------------------------------------------ the bar


class Recorded:
    """Stands for a bar, and keeps what it is told."""

    def __init__(self, total: int, done: int) -> None:
        self.told, self.total, self.stopped = [done], total, 0

    def update(self, task: int, completed: int) -> None:
        self.told.append(completed)

    def stop(self) -> None:
        self.stopped += 1


@pytest.fixture
def bars(monkeypatch: pytest.MonkeyPatch) -> list[Recorded]:
    """The bars that are shown, on a terminal, and at once."""
    made: list[Recorded] = []

    def make(total: int, done: int) -> Recorded:
        made.append(Recorded(total, done))
        return made[-1]

    monkeypatch.setattr(progress, "_make_bar", make)
    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    monkeypatch.setattr(progress, "is_watched", lambda output: True)
    monkeypatch.setattr("certus.cli.tag.is_watched", lambda output: True)
    return made


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_a_bar_follows_what_is_read(suffix: str, folder: Path, bars: list[Recorded]) -> None:
    long = invented.conllu(3000, 2)
    with certus.formats.open_atomically(f"long.conllu{suffix}") as file:
        file.write(long)
    run("tag", "m.certus", f"long.conllu{suffix}", "-o", "out")
    (bar,) = bars
    assert bar.total == os.path.getsize(f"long.conllu{suffix}")
    assert bar.told == sorted(bar.told)
    assert len(bar.told) > 3
    assert bar.told[-1] < bar.total
    assert bar.stopped == 1
    assert len(list(certus.formats.read("out"))) == 3000


def test_a_bar_follows_items_and_vanishes(bars: list[Recorded]) -> None:
    assert list(progress.watch_items(iter("abcd"))) == list("abcd")
    assert (bars[0].told, bars[0].stopped) == ([1, 2, 3], 1)


def test_nobody_sees_a_bar_of_what_is_short_or_of_unknown_length(
    folder: Path, bars: list[Recorded], monkeypatch: pytest.MonkeyPatch
) -> None:
    CliRunner().invoke(app, ["tag", "m.certus", "-", "-o", "out"], input="lo .\n")
    run("tag", "m.certus", "lo .", "-o", "out")
    monkeypatch.setattr(progress, "PATIENCE", 60.0)
    run("tag", "m.certus", "x.conllu", "-o", "out")
    assert bars == []


def test_a_real_bar_is_drawn_and_removed(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    list(progress.watch_items(range(3)))
    assert "%" in capsys.readouterr().err


# -------------------------------------------------------------------------------------- help and messages


@pytest.mark.parametrize("command", [*COMMANDS, *(f"bench {name}" for name in NAMES)])
def test_help_speaks_to_people(command: str) -> None:
    result = CliRunner().invoke(app, [*command.split(), "--help"], env={"COLUMNS": "200"})
    assert result.exit_code == 0
    for clipped in ("<bool>", "<str>", "<int", "<float", "<list", "Of the ", "shall ", "; 0: "):
        assert clipped not in result.stdout


def test_a_quick_benchmark_explains_failing_lines() -> None:
    machine = {"processor": "", "cores": 1, "python": "", "numpy": "", "certus": "", "rivals": {}}
    for measured, explained in ((1.0, True), (3.0, False)):
        console = Console(record=True, width=300, file=StringIO())
        conclude(console, [Claim("fast", 2.0, True, measured)], machine)
        assert (BUSY in console.export_text()) == explained
    result = CliRunner().invoke(app, ["bench", "chain", "--help"], env={"COLUMNS": "200"})
    assert "On a busy machine, lines of the last table may fail." in result.stdout


def test_plurals() -> None:
    assert [format_count(n, "label") for n in (0, 1, 2000)] == ["0 labels", "1 label", "2,000 labels"]


def test_no_advice_for_python_on_the_command_line(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise certus.Infeasible.at_position(3)

    monkeypatch.setattr("certus.cli.tag.run", fail)
    monkeypatch.setattr(sys, "argv", ["certus", "tag", "x.conllu"])
    with pytest.raises(SystemExit, match="1"):
        main()
    said = capsys.readouterr().err
    assert "position 3" in said
    assert "infeasible=" not in said


# ----------------------------------------------------------------------------------------------- completion


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("certus trai", "train"),
        ("certus train tagger --no-c", "--no-checkpoint"),
        ("certus tag --conf", "--confidence"),
    ],
)
def test_completion(typed: str, found: str) -> None:
    env = {
        "_CERTUS_COMPLETE": "complete_bash",
        "COMP_WORDS": typed,
        "COMP_CWORD": str(len(typed.split()) - 1),
    }
    program = "import sys; sys.argv = ['certus', 'tag']; from certus.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **env},
    )
    assert done.stdout.split() == [found], done.stderr
