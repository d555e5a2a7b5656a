"""A target that runs the command line, with any options and values, in this process."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from tests.fuzz.choices import Choices

COMMANDS: tuple[tuple[str, ...], ...] = (
    ("tag",),
    ("parse",),
    ("evaluate",),
    ("info",),
    ("train", "tagger"),
    ("train", "parser"),
    ("align",),
    ("train", "aligner"),
    ("train", "lm"),
)
VALUES = (
    "", "-", "0", "1", "-1", "2", "7", "1e308", "nan", "inf", str(2**63), str(10**30), "x", "é",
    "\udcff", "bio", "conllu", "columns", "text", "raw", "brackets", "utf-8", "ascii", "idna", "utf-16",
    "latin-1", "upos", "word", "hmm", "perceptron", "data.conllu", "trees.mrg", "tagger.certus",
    "parser.certus", "pairs.txt", "aligner.certus", "lm.certus",
    "none.txt", "empty", "folder", "out", "out.gz", "folder/out", "/dev/null", "two words",
)  # fmt: skip
# What may take as long as it says, or as many threads: small values only.
PATIENT = ("--epochs", "--threads", "--max-iterations", "--iterations", "--hidden", "--latent", "--order")


def prepare_folder(folder: Path) -> None:
    """Make the files that commands are given."""
    import certus
    from certus.formats import brackets
    from tests.models import invented
    from tests.syntax import invented_trees

    (folder / "data.conllu").write_text(invented.conllu(3, 1), encoding="utf-8")
    (folder / "empty").touch()
    (folder / "folder").mkdir(exist_ok=True)
    brackets.write(invented_trees.trees(3), folder / "trees.mrg")
    certus.Tagger("upos", "hmm").fit(folder / "data.conllu").save(folder / "tagger.certus")
    certus.ConstituencyParser().fit(folder / "trees.mrg").save(folder / "parser.certus")
    words = invented.words(3, 1)
    pairs = "".join(f"{' '.join(line)} ||| {' '.join(line).upper()}\n" for line in words)
    (folder / "pairs.txt").write_text(pairs, encoding="utf-8")
    certus.Aligner().fit(words, words).save(folder / "aligner.certus")
    certus.LanguageModel(2).fit(words).save(folder / "lm.certus")


def list_options(command: tuple[str, ...]) -> list[str]:
    """Return all spellings of the options of a command."""
    import typer

    from certus.cli.app import app

    found: Any = typer.main.get_command(app)
    for name in command:
        found = found.get_command(None, name)
    spellings = (s for parameter in found.params for s in (*parameter.opts, *parameter.secondary_opts))
    return sorted(s for s in spellings if s.startswith("-"))


def choose_arguments(choices: Choices, options: dict[tuple[str, ...], list[str]]) -> list[str]:
    """Return a command with arguments."""
    command = choices.pick(COMMANDS)
    arguments = [*command]
    while choices.left and len(arguments) < 9:
        if choices.below(2):
            arguments.append(choices.pick(VALUES))
        else:
            option = choices.pick(options[command])
            value = choices.pick(VALUES[:6] if option in PATIENT else VALUES)
            arguments += [option, value] if choices.below(4) else [option]
    return arguments


def run_command(arguments: list[str], folder: Path) -> None:
    """Run a command; it has to end in the ways that commands end, and not with a traceback."""
    from certus.cli import main

    told = io.BytesIO()
    errors = io.TextIOWrapper(told, encoding="utf-8", errors="replace")
    with _redirect(arguments, errors):
        os.chdir(folder)
        code: Any = 0
        try:
            main()
        except SystemExit as end:
            code = end.code
    errors.flush()
    text = told.getvalue().decode()
    if code not in (None, 0, 1, 2, 130) or "Traceback" in text or "fault of Certus" in text:
        raise AssertionError(f"certus {arguments} ended with {code!r}: {text}")


@contextmanager
def _redirect(arguments: list[str], errors: io.TextIOWrapper) -> Iterator[None]:
    inputs = io.TextIOWrapper(io.BytesIO(b"lo bakola\n"), encoding="utf-8")
    outputs = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with (
        mock.patch.object(sys, "argv", ["certus", *arguments]),
        mock.patch.object(sys, "stdin", inputs),
        mock.patch.object(sys, "stdout", outputs),
        mock.patch.object(sys, "stderr", errors),
    ):
        yield
