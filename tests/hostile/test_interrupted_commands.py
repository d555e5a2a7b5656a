"""Ctrl-C ends every command at any moment, without a traceback, and leaves nothing half-written."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import certus
from certus.formats import brackets
from tests.models import invented, invented_treebank
from tests.patience import PATIENCE
from tests.syntax import invented_trees

# The mark on stderr says that Python is up and has handed signals over: from here on, every moment is ours.
PROGRAM = (
    "import sys, certus_starter; certus_starter._leave_on_signals(); "
    "sys.stderr.write('.'); sys.stderr.flush(); certus_starter.main()"
)
LIMIT = 10.0 * PATIENCE  # seconds: on a machine that does nothing else 0.2 are enough


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("interrupted")
    (folder / "x.conllu").write_text(invented.conllu(4000, 1), encoding="utf-8")
    brackets.write(invented_trees.trees(2000), folder / "x.mrg")
    certus.Tagger("upos", "hmm").fit(invented.sentences(50, 1)).save(folder / "t.certus")
    certus.ConstituencyParser().fit(invented_trees.trees(100)).save(folder / "p.certus")
    (folder / "y.conllu").write_text(invented_treebank.conllu(1000, 1), encoding="utf-8")
    parser = certus.DependencyParser(hash_bits=12, epochs=1)
    parser.fit(invented_treebank.sentences(30, 1)).save(folder / "d.certus")
    words = invented.words(4000, 1)
    (folder / "x.txt").write_text("".join(f"{' '.join(line)}\n" for line in words), encoding="utf-8")
    pairs = (f"{' '.join(line)} ||| {' '.join(line).upper()}\n" for line in words)
    (folder / "pairs.txt").write_text("".join(pairs), encoding="utf-8")
    certus.Aligner().fit(words[:100], words[:100]).save(folder / "a.certus")
    return folder


def interrupt(command: str, delay: float, folder: Path) -> tuple[int, str, float]:
    """Run a command and interrupt it; return its exit code, what it said, and how long it went on."""
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *command.split()],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        # Whoever runs the tests in the background ignores SIGINT, and children would inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stderr is not None
    assert process.stderr.read(1) == "."
    time.sleep(delay)
    process.send_signal(signal.SIGINT)
    began = time.monotonic()
    _, said = process.communicate(timeout=120)
    return process.returncode, said, time.monotonic() - began


COMMANDS = [
    "tag t.certus x.conllu -o out",
    "tag t.certus x.conllu --consistent -o out",
    "parse p.certus x.mrg -o out",
    "evaluate x.conllu x.conllu",
    "info t.certus",
    "demo",
    "train tagger x.conllu --dev x.conllu --learner perceptron --epochs 100 -o out",
    "train tagger x.conllu --epochs 100 -o out",
    "train parser x.mrg --dev x.mrg -o out",
    "parse d.certus y.conllu -o out",
    "train parser y.conllu --dev y.conllu --epochs 100 -o out",
    "align a.certus pairs.txt -o out",
    "train aligner pairs.txt -o out",
    "train lm x.txt -o out",
    "bench chain --quick --json out",
    "--help",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_an_interrupt_at_any_moment(command: str, made: Path) -> None:
    dice = random.Random(command)
    before = set(os.listdir(made))
    for delay in (dice.uniform(0, 0.3), dice.uniform(0.3, 3)):
        code, said, took = interrupt(command, delay, made)
        assert code in (0, 128 + signal.SIGINT, -signal.SIGINT), said  # 0: it was done before
        assert "Traceback" not in said
        assert "ignored" not in said
        assert took < LIMIT
        left = set(os.listdir(made)) - before
        assert left <= ({"out"} if code != 130 else set()) | {"out.checkpoint"}
        for name in left:
            (made / name).unlink()
