"""``certus train tagger``: from files to a model, and nothing left behind when that fails."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import certus
from certus.cli import train
from certus.cli.app import app
from certus.errors import CertusError, InvalidInput, ModelError
from certus.learn.learners import LEARNERS
from certus.learn.progress import Progress
from tests.models import invented

COMMAND = [sys.executable, "-c", "from certus.cli import main; main()"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of small corpora, to be in."""
    (tmp_path / "train.conllu").write_text(invented.conllu(60, 1), encoding="utf-8")
    (tmp_path / "dev.conllu").write_text(invented.conllu(20, 2), encoding="utf-8")
    (tmp_path / "train.txt").write_text(invented.columns(60, 1), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def trained(*arguments: str) -> str:
    """Train in this process and return what is said."""
    result = CliRunner().invoke(app, ["train", "tagger", *arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def run(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    command = [*COMMAND, "train", "tagger", *arguments]
    done: subprocess.CompletedProcess[str] = subprocess.run(
        command, capture_output=True, text=True, check=False, **options
    )  # type: ignore[call-overload]
    return done


@pytest.mark.parametrize(
    ("learner", "given"), [*((learner, []) for learner in LEARNERS), ("crf", ["--order", "2"])]
)
def test_training(learner: str, given: list[str], folder: Path) -> None:
    epochs = learner not in ("hmm", "refinement")
    more = ["--epochs", "3", *given] if epochs else given
    said = trained("train.conllu", "--dev", "dev.conllu", "--target", "upos+feats", "--learner", learner,
                   "-o", "m.certus", "--licence", "CC0", *more)  # fmt: skip
    tagger = certus.load("m.certus")
    assert len(tagger.tag(["lo", "."]).labels) == 2
    assert tagger.description["licence"] == "CC0"
    assert tagger.description["learner"] == ("pruned-crf" if given else learner)
    assert (
        f"m.certus: {len(tagger.labels)} labels, dev {100 * tagger.description['accuracy']['dev']:.2f} %"
        in said
    )
    if epochs:
        assert said.count("epoch") == 3
        assert "epoch   1/3   loss" in said
        assert " left\n" in said
    assert sorted(os.listdir()) == ["dev.conllu", "m.certus", "train.conllu", "train.txt"]


def test_columns_and_templates(folder: Path) -> None:
    (folder / "t.txt").write_text("word[0]\npos[0]\npos[-1] pos[0]\n", encoding="utf-8")
    said = trained("train.txt", "--target", "chunk", "--learner", "perceptron", "--epochs", "2",
                   "--templates", "t.txt", "-o", "m", "--quiet")  # fmt: skip
    assert said == ""
    tagger = certus.load("m")
    assert tagger.tag({"word": ["lo", "xyz"], "pos": ["DET", "NOUN"]}).labels == ["B-NP", "I-NP"]


def test_options_reach_the_learner(folder: Path) -> None:
    given = (
        "--epochs 1 --order 3 --rate 0.2 --l1 0.001 --min-count 3 --rare 4 --drop 0.01 --seed 7 --patience 2"
    )
    trained("train.conllu", "-o", "m", *given.split())
    options = certus.load("m").description["options"]
    expected = {"order": 3, "rate": 0.2, "l1": 0.001, "min_count": 3, "rare": 4, "drop": 0.01}
    assert expected.items() <= options.items()
    assert (options["epochs"], options["patience"], options["seed"]) == (1, 2, 7)


@pytest.mark.parametrize(
    ("learner", "given", "expected"),
    [
        ("crf", "--algorithm lbfgs --c1 0.25 --c2 0.5", {"algorithm": "lbfgs", "c1": 0.25, "c2": 0.5}),
        ("perceptron", "--margin 1.5", {"margin": 1.5}),
        ("pruned-crf", "--wanted 5,4.5,3 --burn-in 0", {"wanted": [5, 4.5, 3], "burn_in": 0}),
    ],
)
def test_options_of_one_learner(learner: str, given: str, expected: dict[str, Any], folder: Path) -> None:
    trained("train.conllu", "-o", "m", "--learner", learner, "--epochs", "1", *given.split())
    assert expected.items() <= certus.load("m").description["options"].items()


def test_labels_that_training_lacks_are_reported(folder: Path) -> None:
    text = (folder / "dev.conllu").read_text(encoding="utf-8")
    (folder / "dev.conllu").write_text(text.replace("PUNCT", "MARK"), encoding="utf-8")
    said = trained("train.conllu", "--dev", "dev.conllu", "--learner", "hmm", "-o", "m")
    tokens = sum(map(len, invented.words(20, 2)))
    assert f"20 of {tokens} dev tokens have labels that the training data lack: they count as" in said


def test_help_has_every_option_of_every_learner() -> None:
    result = CliRunner().invoke(app, ["train", "tagger", "--help"], env={"COLUMNS": "200"})
    for kind in LEARNERS.values():
        assert all(f"--{made.name.replace('_', '-')} " in result.stdout for made in fields(kind))
    assert "Default: 10; crf 30; latent-crf 100." in result.stdout


def test_a_list_that_is_none() -> None:
    result = CliRunner().invoke(app, ["train", "tagger", "t", "-o", "m", "--wanted", "4,x"])
    assert result.exit_code == 2
    assert "'4,x' is no list of numbers" in result.output


def test_help_names_every_learner() -> None:
    result = CliRunner().invoke(app, ["train", "tagger", "--help"], env={"COLUMNS": "200"})
    assert all(name in result.stdout for name in LEARNERS)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing.conllu", "-o", "m"], "there is no file nothing.conllu"),
        (["train.conllu", "-o", "m", "--dev", "nothing"], "there is no file nothing"),
        (["train.conllu", "-o", "m", "--target", "chunk"], "train.conllu:1: there is no column 'chunk'"),
        (["train.conllu", "-o", "m", "--target", "a++b"], "lacks a column name"),
        (["train.conllu", "-o", "m", "--learner", "svm"], "there is no learner 'svm'; there are"),
        (["train.conllu", "-o", "m", "--learner", "hmm", "--epochs", "3"], "--epochs is no option"),
        (["train.conllu", "-o", "m", "--learner", "hmm", "--burn-in", "3"], "--burn-in is no option"),
        (["train.conllu", "-o", "m", "--order", "50"], "order is 50; orders go up to"),
        (["train.conllu", "-o", "m", "--order", "0"], "order is 0; it must be at least 1"),
        (["train.conllu", "-o", "m", "--templates", "none"], "cannot read the templates none"),
        (["train.conllu", "-o", "m", "--templates", "train.conllu"], "templates, line "),
        (["train.conllu", "-o", "m", "--format", "word"], "format 'word' is unknown"),
        (["train.conllu", "-o", "m", "--encoding", "utf-99"], "encoding 'utf-99' is unknown"),
        (["train.conllu", "-o", "."], ". is a folder; name a file for the model"),
        (["train.conllu", "-o", "none/m"], "none to write the model to"),
        (["train.conllu", "-o", "m", "--checkpoint", "none/c"], "none to write the checkpoint to"),
    ],
)  # fmt: skip
def test_refusals(arguments: list[str], message: str, folder: Path) -> None:
    before = sorted(os.listdir())
    with pytest.raises(InvalidInput, match=message):
        trained(*arguments)
    assert sorted(os.listdir()) == before


def test_a_place_that_cannot_be_written_is_refused_before_training(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(InvalidInput, match="may not be written to: permission denied"):
        trained("nothing.conllu", "-o", "m")


def test_an_interrupted_run_leaves_its_checkpoint_and_no_model(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained("train.conllu", "-o", "whole", "--epochs", "3")
    arguments = ["train", "tagger", "train.conllu", "-o", "m", "--epochs", "3"]
    show, shown = train.show, []

    def stop(progress: Progress) -> None:
        show(progress)
        shown.append(progress.epoch)
        if progress.epoch == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(train, "show", stop)
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code != 0
    assert "what was learned is in m.checkpoint: the same command goes on from there" in result.output
    assert not Path("m").exists()
    monkeypatch.setattr(train, "show", lambda progress: shown.append(progress.epoch))
    trained(*arguments[2:])
    assert shown == [1, 2, 3]
    assert Path("m").read_bytes() == Path("whole").read_bytes()
    assert not Path("m.checkpoint").exists()


def test_the_checkpoint_of_another_run(folder: Path) -> None:
    with pytest.raises(CertusError):
        trained("train.conllu", "-o", "m", "--epochs", "2", "--checkpoint", "dev.conllu")
    assert Path("dev.conllu").read_text(encoding="utf-8") == invented.conllu(20, 2), (
        "no checkpoint, left alone"
    )


@pytest.mark.parametrize(("learner", "lost"), [("hmm", "m"), ("perceptron", "m.checkpoint")])
def test_a_full_disk(learner: str, lost: str, folder: Path) -> None:
    """A limit on the size of files stands for a disk that is full."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (5000, resource.RLIM_INFINITY))

    done = run("train.conllu", "-o", "m", "--learner", learner, preexec_fn=limit)
    assert done.returncode == 2
    assert f"Error: cannot write {lost}: File too large; nothing was left behind" in done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(os.listdir()) == ["dev.conllu", "train.conllu", "train.txt"]


def test_sigterm(folder: Path) -> None:
    (folder / "large.conllu").write_text(invented.conllu(3000, 5), encoding="utf-8")
    command = [*COMMAND, "train", "tagger", "large.conllu", "-o", "m", "--epochs", "1000"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    assert "epoch   1/1000" in process.stderr.readline()
    process.send_signal(signal.SIGTERM)
    rest = process.stderr.read()
    process.stderr.close()
    assert process.wait() == 128 + signal.SIGTERM
    assert "the same command goes on from there" in rest
    assert sorted(os.listdir()) == ["dev.conllu", "large.conllu", "m.checkpoint", "train.conllu", "train.txt"]


def test_everything_in_a_process_of_its_own(folder: Path) -> None:
    done = run("train.conllu", "--dev", "dev.conllu", "-o", "m.certus", "--epochs", "2")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    done = run("train.conllu", "-o", "none/m")
    assert done.returncode == 2
    assert done.stderr.startswith("Error: there is no folder")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.04, "0.0 s"), (59.9, "59.9 s"), (61, "1 min 1 s"), (9000, "2 h 30 min")]
)
def test_clock(seconds: float, text: str) -> None:
    assert train.format_seconds(seconds) == text


def test_a_model_error_keeps_the_checkpoint(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise ModelError("cannot write m: No space left on device")

    monkeypatch.setattr("certus.models.tagger.Tagger.save", full)
    began = time.time()
    result = CliRunner().invoke(app, ["train", "tagger", "train.conllu", "-o", "m", "--epochs", "2"])
    assert isinstance(result.exception, ModelError)
    assert "what was learned is in m.checkpoint" in result.output
    assert os.path.getmtime("m.checkpoint") >= began - 5
