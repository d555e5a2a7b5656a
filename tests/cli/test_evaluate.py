"""The command ``certus evaluate``."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from certus.cli.app import app

GOLD = "The DT B-NP\nowls NNS I-NP\nsleep VBP B-VP\n\nThey PRP B-NP\nwake VBP B-VP\n"


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    texts = {
        "gold.txt": GOLD,
        "guess.txt": GOLD.replace("NNS", "NN"),
        "worse.txt": GOLD.replace("NNS", "NN").replace("VBP B-VP", "NN I-NP"),
        "train.txt": "The DT O\nowls NNS O\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return {name.removesuffix(".txt"): str(tmp_path / name) for name in texts}


def test_tables(files: dict[str, str]) -> None:
    result = CliRunner().invoke(
        app,
        ["evaluate", files["gold"], files["worse"], "--train", files["train"], "--against", files["guess"]],
    )
    assert result.exit_code == 0, result.output
    text = " ".join(result.stdout.split())
    assert "2 sentences, 5 tokens" in text
    assert "pos 40.00" in text
    assert "3 of the tokens are words not seen in training" in text
    assert "chunk spans F1 % precision recall" in text
    assert "-40.00" in text


def test_json(files: dict[str, str]) -> None:
    arguments = ["evaluate", files["gold"], files["guess"], "--against", files["worse"], "--json"]
    result = CliRunner().invoke(app, [*arguments, "--columns", "word pos chunk"])
    found = json.loads(result.stdout)
    assert found["accuracy"]["pos"]["accuracy"] == 0.8
    assert found["spans"]["chunk"]["f1"] == 1.0
    assert found["against"]["accuracy"]["pos"]["accuracy"] == 0.4
    assert [row["name"] for row in found["differences"]] == ["pos", "chunk", "pos|chunk", "chunk F1"]


def test_stdin(files: dict[str, str]) -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "from certus.cli import main; main()",
            "evaluate",
            files["gold"],
            "-",
            "--json",
        ],
        input=GOLD,
        capture_output=True,
        text=True,
        check=False,
    )
    assert json.loads(done.stdout)["accuracy"]["pos"]["accuracy"] == 1.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gold", "train"], "gold.txt:3: 'sleep' stands here, but the sentence ends at"),
        (["gold", "nothing"], "there is no file"),
        (["-", "guess", "--against", "worse"], "stdin (-) can be read once only"),
        (["gold", "guess", "--format", "xml"], "format 'xml' is unknown"),
    ],
)
def test_refusals(files: dict[str, str], arguments: list[str], message: str) -> None:
    code = "from certus.cli import main; main()"
    given = [files.get(argument, argument) for argument in arguments]
    done = subprocess.run(
        [sys.executable, "-c", code, "evaluate", *given], capture_output=True, text=True, check=False
    )
    assert done.returncode == (1 if message.startswith("gold.txt:3") else 2)  # wrong data, wrong command
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_texts_with_lines_in_brackets_are_translations(tmp_path: Path) -> None:
    lines = ["( 2 ) a committee is bound by it .", "( ii ) ( a ) three vehicles .", "no .", "it is so ."]
    gold, guess = tmp_path / "gold.en", tmp_path / "guess.en"
    gold.write_text("\n".join(lines) + "\n")
    guess.write_text("\n".join([*lines[:2], "not so .", "it was so then ."]) + "\n")
    done = CliRunner().invoke(app, ["evaluate", str(gold), str(guess)])
    assert done.exit_code == 0, done.exception
    assert "BLEU" in done.stdout


def test_texts_that_differ_are_told_of_bleu(tmp_path: Path) -> None:
    gold, guess = tmp_path / "gold.txt", tmp_path / "guess.txt"
    gold.write_text("the dog barks\nit sleeps\n")
    guess.write_text("a dog barks\nit sleeps\n")
    done = CliRunner().invoke(app, ["evaluate", str(gold), str(guess)])
    assert "Translations are compared by --bleu" in str(done.exception)
