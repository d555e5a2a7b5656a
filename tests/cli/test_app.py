from __future__ import annotations

import json
import os
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

import certus
from certus.cli import demo
from certus.cli.app import app
from certus.formats import build
from certus_bench import NAMES, load_benchmark

COMMAND = [sys.executable, "-c", "from certus.cli import main; main()"]


def test_version() -> None:
    result = CliRunner().invoke(app, ["--version"])
    assert (result.exit_code, result.stdout.strip()) == (0, f"certus {certus.__version__}")


@pytest.mark.parametrize(
    "arguments", [["--help"], ["demo", "--help"], ["bench", "--help"], ["bench", "chain", "-h"]]
)
def test_help(arguments: list[str]) -> None:
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0
    assert "Usage" in result.stdout


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from certus.cli import app; "
        "assert not {'matplotlib', 'torch', 'certus_bench'} & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def run_without_benchmarks(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command where certus_bench cannot be imported."""
    code = "import sys; sys.modules['certus_bench'] = None; from certus.cli import main; main()"
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("arguments", [["bench"], ["bench", "--help"], ["bench", "chain", "--quick"]])
def test_without_the_benchmarks_it_says_how_to_get_them(arguments: list[str]) -> None:
    done = run_without_benchmarks(*arguments)
    assert done.returncode == 2
    assert done.stderr == (
        "Error: the benchmarks are a package of their own: from a clone of Certus, run pip install ./bench\n"
    )


def test_all_else_works_without_the_benchmarks() -> None:
    for arguments in (["--help"], ["demo"]):
        done = run_without_benchmarks(*arguments)
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", NAMES)
def test_every_benchmark_is_a_command_with_its_own_help(name: str) -> None:
    result = CliRunner().invoke(app, ["bench", name, "--help"])
    assert result.exit_code == 0
    assert f"bench {name}" in result.stdout
    assert "--json" in result.stdout
    assert ("--plot" in result.stdout) == (load_benchmark(name).paint is not None)


def test_demo_shows_the_answer_and_its_proof() -> None:
    console = Console(width=100, record=True, file=StringIO())
    demo.run(console)
    text = console.export_text()
    assert "score 19.5, bound 19.5: optimal" in text
    assert "B-PER   I-PER" in text
    assert "equals that of the dense sweep" in text


def test_bench_chain_writes_its_files(tmp_path: Path) -> None:
    json_file, picture = tmp_path / "r.json", tmp_path / "r.png"
    options = [
        "--sizes",
        "9x4",
        "--seconds",
        "0.001",
        "--quick",
        "--json",
        str(json_file),
        "--plot",
        str(picture),
    ]
    done = subprocess.run(
        [*COMMAND, "bench", "chain", *options, "--methods", "auto,viterbi"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "what has to hold" in done.stdout
    stored = json.loads(json_file.read_text(encoding="utf-8"))
    assert stored["failures"] == []
    assert stored["machine"]["environment"]["OMP_NUM_THREADS"] == "1"
    assert picture.exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--methods", "fastest"], "method 'fastest' is unknown"),
        (["--sizes", "9"], "sizes are"),
        (["--plot", "chain.gif"], "cannot draw 'chain.gif'"),
        (["--json", "nowhere/r.json"], "there is no folder"),
    ],
)
def test_wrong_options_are_refused_before_any_work(options: list[str], message: str) -> None:
    done = subprocess.run([*COMMAND, "bench", "chain", *options], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_demo_tags_a_sentence_where_there_is_a_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("certus.models.loading.find_default_tagger", lambda: str(tmp_path / "en.certus"))
    console = Console(width=100, record=True, file=StringIO())
    demo.run(console)
    assert "A trained tagger" not in console.export_text()
    words = ["They", "can", "fish", "where", "the", "river", "bends", "."]
    upos = ["PRON", "AUX", "VERB", "ADV", "DET", "NOUN", "VERB", "PUNCT"]
    tagger = certus.Tagger("upos", "hmm").fit([build(words, {"upos": upos})])
    tagger.save(tmp_path / "en.certus")
    demo.run(console)
    text = console.export_text()
    assert 'certus tag "They can fish where the river bends."' in text
    assert "learned from 8 tokens of sentences" in text


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full device")
@pytest.mark.parametrize("command", [["info"], ["info", "--json"], ["demo"]])
def test_a_full_disk_is_no_traceback(command: list[str]) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*COMMAND, *command], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 2
    assert done.stderr == "Error: cannot write: No space left on device\n"
