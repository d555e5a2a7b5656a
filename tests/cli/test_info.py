"""``certus info`` shows what a model holds, whatever the model leaves out."""

from __future__ import annotations

import json
import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import certus
from certus.cli import info
from certus.storage.model_file import write

COMMAND = [sys.executable, "-c", "from certus.cli import main; main()", "info"]
LABELS = [f"label-{i}" for i in range(40)]
DESCRIPTION = {
    "target": "upos+feats",
    "learner": "pruned-crf",
    "order": 2,
    "labels": LABELS,
    "features": 1234567,
    "templates": ["word", "suffix(3)"],
    "options": {"l1": 0.25, "shuffle": True},
    "training": {"name": "UD Test", "sentences": 1200, "tokens": 34000, "genre": "news"},
    "accuracy": {"dev": 0.93456},
    "licence": "CC BY-SA 4.0",
    "attribution": "The people of UD Test",
    "date": "2024-02-29",
    "certus": "0.1.0",
}


@pytest.fixture
def model(tmp_path: Path) -> Path:
    arrays = {"weights": np.zeros((1000, 40), np.float32), "scale": np.array(0.5), "none": np.empty((0, 2))}
    write(tmp_path / "m.certus", "tagger", arrays, DESCRIPTION)
    return tmp_path / "m.certus"


def shown(path: Path, **options: Any) -> str:
    console = Console(width=120, file=StringIO(), record=True)
    info.run(path, console=console, **options)
    return console.export_text()


def row(text: str, heading: str) -> str:
    """The text beside a heading."""
    (line,) = [line for line in text.splitlines() if line.startswith(heading)]
    return line.removeprefix(heading).strip()


@pytest.mark.parametrize(
    ("heading", "expected"),
    [
        ("Kind", "tagger"),
        ("Target", "upos+feats"),
        ("Learner", "pruned-crf"),
        ("Order", "2"),
        ("Features", "1,234,567"),
        ("Templates", "word  suffix(3)"),
        ("Options", "l1 0.25, shuffle yes"),
        ("Trained on", "UD Test, 1,200 sentences, 34,000 tokens, genre news"),
        ("Accuracy", "dev 93.46%"),
        ("Licence", "CC BY-SA 4.0"),
        ("Attribution", "The people of UD Test"),
        ("Date", "2024-02-29"),
        ("Written by Certus", "0.1.0"),
    ],
)
def test_fields(model: Path, heading: str, expected: str) -> None:
    assert row(shown(model), heading) == expected


def test_sizes_and_arrays(model: Path) -> None:
    text = shown(model)
    size = model.stat().st_size
    assert row(text, "Size") == f"161 kB ({size:,} bytes)"
    assert row(text, " weights").split() == ["1,000", "×", "40", "float32", "160,000"]
    assert row(text, " scale").split() == ["one", "number", "float64", "8"]
    assert row(text, " none").split() == ["0", "×", "2", "float64", "0"]
    assert "Checksum" not in text


def test_the_first_labels_or_all(model: Path) -> None:
    few, every = shown(model), shown(model, labels=True)
    assert "40: label-0  label-1" in few
    assert "--labels names all 40" in few
    assert "label-30" not in few
    assert all(label in every for label in LABELS)
    assert "--labels" not in every


@pytest.mark.parametrize(
    ("description", "absent", "present"),
    [
        ({}, "Labels", "Kind"),
        ({"labels": []}, "names all", "none"),
        ({"labels": 17}, "names all", "17"),
        ({"training": "a corpus"}, "sentences", "a corpus"),
        ({"training": {"tokens": 5}}, "sentences", "Trained on  5 tokens"),
        ({"accuracy": 0.5, "licence": None}, "Licence", "50.00%"),
        ({"accuracy": {"dev": {"known": 0.25, "seconds": 7}}}, "Licence", "dev known 25.00%, seconds 7"),
        ({"note": {"a": [1, 2.5, None]}}, "Licence", "a 1  2.5"),
        ({"labels": ["\x1b[31mred", "[bold]markup[/bold]"]}, "\x1b", "\ufffd[31mred  [bold]markup[/bold]"),
    ],
)
def test_descriptions_of_any_form(
    tmp_path: Path, description: dict[str, Any], absent: str, present: str
) -> None:
    write(tmp_path / "m", "tagger", {}, description)
    text = shown(tmp_path / "m")
    assert present in text
    assert absent not in text


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 bytes"), (999, "999 bytes"), (1000, "1 kB"), (1.5e6, "1.5 MB"), (3e10, "30 GB")],
)
def test_amounts(size: float, text: str) -> None:
    assert info._format_bytes(size) == text


def test_the_command(model: Path) -> None:
    done = subprocess.run([*COMMAND, str(model), "--json"], capture_output=True, text=True, check=True)
    told = json.loads(done.stdout)
    assert told["description"] == DESCRIPTION
    assert (told["kind"], told["bytes"], told["verified"]) == ("tagger", model.stat().st_size, False)
    assert {"name": "weights", "shape": [1000, 40], "dtype": "float32", "bytes": 160000} in told["arrays"]
    done = subprocess.run([*COMMAND, str(model), "--labels"], capture_output=True, text=True, check=True)
    assert "label-39" in done.stdout


def test_verify(model: Path) -> None:
    assert row(shown(model, check=True), "Checksum") == "as written"
    damaged = bytearray(model.read_bytes())
    damaged[-1] ^= 1
    model.write_bytes(damaged)
    assert "Checksum" not in shown(model)
    done = subprocess.run([*COMMAND, str(model), "--verify"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "its checksum differs" in done.stderr
    assert done.stdout == ""


def test_what_is_no_model(tmp_path: Path) -> None:
    done = subprocess.run([*COMMAND, str(tmp_path / "x")], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "x: there is no such file" in done.stderr.replace("\n", "")
    assert "Traceback" not in done.stderr


def test_what_an_estimator_saves_is_described(tmp_path: Path) -> None:
    estimator = certus.CRF(max_iterations=3).fit([[["w=a"], ["w=b"]]], [["X", "Y"]])
    estimator.save(tmp_path / "e.certus")
    text = shown(tmp_path / "e.certus")
    assert row(text, "Kind") == "crf"
    assert row(text, "Labels") == "2: X  Y"
    assert row(text, "Features") == "2"
