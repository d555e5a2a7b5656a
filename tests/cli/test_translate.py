"""certus train translator, certus translate, certus evaluate of translations."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner

from certus.cli.app import app
from certus.errors import CertusError
from tests.models.test_translator import make_pairs, write_tables


@dataclass(frozen=True)
class Done:
    """What a command printed."""

    stdout: str
    stderr: str


def run(*arguments: str | Path, stdin: str = "", fails: bool = False) -> Done:
    """Run a command in this process."""
    result = CliRunner().invoke(app, list(map(str, arguments)), input=stdin)
    if fails:
        assert isinstance(result.exception, CertusError), result.output
        return Done(result.stdout, str(result.exception))
    assert result.exception is None, result.exception
    return Done(result.stdout, result.stderr)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trained translator, the files it learned from, and tables of Moses."""
    folder = tmp_path_factory.mktemp("translate")
    pairs = make_pairs()
    for name, side in (("a.src", 0), ("a.tgt", 1)):
        (folder / name).write_text("".join(" ".join(pair[side]) + "\n" for pair in pairs), encoding="utf-8")
    (folder / "both").write_text(
        "".join(f"{' '.join(a)} ||| {' '.join(b)}\n" for a, b in pairs) + "leer |||\n", encoding="utf-8"
    )
    done = train(folder, "model.certus")
    assert "BLEU" in done.stderr
    assert not (folder / "model.certus.checkpoint").exists()
    write_tables(folder)[1].write_arpa(folder / "lm.arpa")
    return folder


def train(folder: Path, output: str, *more: str) -> Done:
    files = folder / "a.src", folder / "a.tgt"
    dev = "--dev-source", files[0], "--dev-target", files[1]
    return run("train", "translator", *files, "-o", folder / output, *dev, "--tuning", "2", "-k", "5", *more)


def test_files_and_texts_are_translated(folder: Path) -> None:
    model = folder / "model.certus"
    done = run("translate", model, folder / "a.src", "--threads", "2")
    assert done.stdout == (folder / "a.tgt").read_text(encoding="utf-8")
    assert "35 sentences, 130 words, 35 proven optimal" in done.stderr
    assert run("translate", model, "-q", stdin="das Haus\n\n").stdout == "the house\n\n"
    line = run("translate", model, "das Haus klein", "--proof", "--alignment").stdout.rstrip("\n")
    score, bound, status, rest = line.split("\t")
    text, alignment = rest.split(" ||| ")
    assert score == bound
    assert (status, text) == ("optimal", "the small house")
    assert sorted(alignment.split()) in (["0=0", "1-2=1-2"], ["0-2=0-2"], ["0=0", "1=2", "2=1"])


def test_the_k_best_are_written_as_moses_does(folder: Path) -> None:
    lines = run(
        "translate", folder / "model.certus", "das Haus klein", "-k", "4", "--distinct"
    ).stdout.splitlines()
    fields = [line.split(" ||| ") for line in lines]
    assert len(lines) == 4
    assert [one[0] for one in fields] == ["0"] * 4
    assert fields[0][1] == "the small house"
    assert "LM0= " in fields[0][2]
    scores = [float(one[3]) for one in fields]
    assert scores == sorted(scores, reverse=True)


def test_tables_of_moses_decode_as_they_are(folder: Path) -> None:
    tables = "--table", folder / "table", "--lm", folder / "lm.arpa"
    assert run("translate", *tables, "das Haus").stdout == "the house\n"
    (folder / "weights").write_text("TranslationModel0= 0 0\nLM0= 1\nWordPenalty0= 0\n", encoding="utf-8")
    assert run("translate", *tables, "das", "--weights", folder / "weights").stdout == "it\n"
    for method in ("beam", "lagrangian", "astar", "stack"):
        done = run("translate", *tables, "das Haus", "--method", method)
        assert done.stdout == "the house\n"
        assert ("proves nothing" if method == "stack" else "1 proven optimal") in done.stderr


def test_terms_limits_and_time(folder: Path) -> None:
    terms = folder / "terms"
    terms.write_text("Haus ||| building\n! small\n", encoding="utf-8")
    model = folder / "model.certus"
    assert "building" in run("translate", model, "das Haus", "--terms", terms).stdout
    assert "forbidden" in run("translate", model, "klein", "--terms", terms, fails=True).stderr
    assert run("translate", model, "das Haus klein", "--limit", "0", "--seconds", "5").stdout
    assert run(
        "translate", model, "das Haus klein", "--limit", "-1", "--method", "stack", "--width", "3"
    ).stdout


def test_what_makes_no_sense_is_refused(folder: Path) -> None:
    model = folder / "model.certus"
    refused: list[tuple[tuple[str | Path, ...], str]] = [
        ((), "name a translator"),
        (("--table", folder / "table", "das"), "--lm"),
        ((model, "das", "--width", "3"), "--width is for"),
        ((model, "das", "--lm", folder / "lm.arpa"), "--lm goes with"),
        ((folder / "lm.arpa", "das"), "no translator"),
        ((model, "das", "--method", "magic"), "no method"),
        ((model, folder / "a.src", "-o", folder / "a.src"), "overwrite"),
    ]
    for arguments, message in refused:
        done = run("translate", *arguments, fails=True)
        assert message in done.stderr
    done = run(
        "train", "translator", folder / "both", "-o", folder / "b.certus", "--limit", "-1", "--tuning", "0"
    )
    assert "left out: 1 pair with an empty side" in done.stderr
    assert run("translate", folder / "b.certus", "das Haus klein", "-q").stdout == "the small house\n"


KILLED = """
import os, signal
from certus.models import translator_training
class Checkpoint(translator_training._Checkpoint):
    def keep_rounds(self, rounds):
        super().keep_rounds(rounds)
        os.kill(os.getpid(), signal.SIGKILL)
translator_training._Checkpoint = Checkpoint
from certus.cli import main
main()
"""


def test_a_run_that_was_killed_goes_on(folder: Path) -> None:
    output = folder / "killed.certus"
    files: list[str | Path] = [folder / "a.src", folder / "a.tgt", "-o", output]
    dev: list[str | Path] = ["--dev-source", folder / "a.src", "--dev-target", folder / "a.tgt"]
    command = ["train", "translator", *map(str, [*files, *dev]), "--tuning", "3"]
    killed = subprocess.run([sys.executable, "-c", KILLED, *command], stderr=subprocess.DEVNULL, check=False)
    checkpoint = Path(f"{output}.checkpoint")
    assert killed.returncode == -signal.SIGKILL
    assert checkpoint.exists()
    assert not output.exists()
    other = run("train", "translator", *files, "--tuning", "3", fails=True)
    assert "another training run" in other.stderr
    done = run(*command)
    assert "aligning" not in done.stderr
    assert "2/3" in done.stderr
    assert "1/3" not in done.stderr
    assert output.exists()
    assert not checkpoint.exists()


def test_translations_are_measured(folder: Path) -> None:
    done = run("evaluate", folder / "a.tgt", folder / "a.tgt", "--bleu", "--json")
    report = json.loads(done.stdout)
    assert report["bleu"] == pytest.approx(100)
    assert report["sentences"] == 35
    (folder / "long").write_text("a b c d e\na b c\nd e f g h i\na b\n" * 3, encoding="utf-8")
    assert "BLEU 100.00" in run("evaluate", folder / "long", folder / "long").stdout
    assert "references" in run("evaluate", folder / "long", folder / "a.tgt", "--bleu", fails=True).stderr
