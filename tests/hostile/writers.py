"""Everything in Certus that writes a file, declared once: fault injection goes over this list.

``tests/hostile/test_faults.py`` fails where a file is opened for writing that no entry here covers.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

import certus
from certus import formats
from certus.cli.train_aligner import _write_lexicon
from certus.errors import SmoothingWarning
from certus.formats import brackets
from certus.hypergraph import Hypergraph
from certus.learn.checkpoint import Checkpoint, Standing
from certus.learn.trainer import Arrays
from certus.relax.trace import Trace
from tests.models import invented
from tests.syntax import invented_trees


@dataclass(frozen=True)
class Writer:
    """Writes a file.

    Attributes:
        name: what it writes.
        site: where the file is opened: the module and the function.
        suffix: of the file.
        write: writes it; the same bytes each time.
    """

    name: str
    site: str
    suffix: str
    write: Callable[[Path], object]


class StandingTrainer:
    """A trainer that has a state and does nothing."""

    def state(self) -> Arrays:
        return {"weights": np.arange(100.0)}


def run_command(*arguments: object) -> None:
    """Run a command in this process; its errors are raised, and an interrupt is one of them."""
    import typer

    from certus.cli.app import app

    try:
        code = app([str(argument) for argument in arguments], standalone_mode=False)
    except typer.Abort:  # of older versions of typer
        code = 130
    if code == 130:
        raise KeyboardInterrupt


def make_writers(folder: Path) -> list[Writer]:
    """Train what is to be written, keep the inputs of commands in a folder, and return all writers."""
    data, trees = folder / "data.conllu", folder / "trees.mrg"
    data.write_text(invented.conllu(20, 1), encoding="utf-8")
    made = invented_trees.trees(20)
    brackets.write(made, trees)
    tagger = certus.Tagger("upos", "hmm").fit(data)
    tagger.save(folder / "tagger.certus")
    certus.Tagger("upos", "perceptron", epochs=1).fit(data).save(folder / "perceptron.certus")
    parser = certus.ConstituencyParser().fit(trees)
    parser.save(folder / "parser.certus")
    words = [["the", "house"], ["the", "book"], ["a", "book"]]
    aligner = certus.Aligner().fit(words, [["das", "Haus"], ["das", "Buch"], ["ein", "Buch"]])
    aligner.save(folder / "aligner.certus")
    pairs = folder / "pairs.txt"
    pairs.write_text("the house ||| das Haus\n", encoding="utf-8")
    certificate = certus.Chain(np.eye(3)).decode(np.eye(3), certificate=True).certificate
    assert certificate is not None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SmoothingWarning)  # of so few words
        language_model = certus.LanguageModel(order=2).fit(words)
        translator = certus.Translator(tuning=0).fit(words, words)
    translator.save(folder / "translator.certus")
    graph = Hypergraph([1, 0], [0, 1, 1], [0], 1)
    items = [[{"word": word} for word in words] for words in invented.words(5, 1)]
    crf = certus.CRF(max_iterations=2).fit(items, [["A"] * len(words) for words in items])
    trace = Trace([2.0, 1.0], [2.0, 1.0], [0.0, 1.0], [0.0, 1.0], [1.0, 1.0], [0, 0], [0.0, 0.1])
    sentences = list(formats.read(data))
    write_sentences = partial(formats.write, sentences)
    model = "storage/model_file:write"
    return [
        Writer("a tagger", model, ".certus", tagger.save),
        Writer("a parser", model, ".certus", parser.save),
        Writer("a CRF", model, ".certus", crf.save),
        Writer("an aligner", model, ".certus", aligner.save),
        Writer("a language model", model, ".certus", language_model.save),
        Writer("a translator", model, ".certus", translator.save),
        Writer("n-grams", "formats/arpa:write_model", ".arpa", language_model.write_arpa),
        Writer(
            "a lexicon",
            "cli/train_aligner:_write_lexicon",
            ".tsv",
            lambda path: _write_lexicon(aligner, str(path)),
        ),
        Writer("a hypergraph", model, ".certus", lambda path: graph.save(path, [0.5, 1.0])),
        Writer("a checkpoint", model, ".checkpoint", save_checkpoint),
        Writer("a drawing", "hypergraph/drawing:draw", ".svg", graph.draw),
        Writer("a plot", "storage/figures:save_figure", ".svg", trace.plot),
        Writer("a picture", "storage/figures:save_figure", ".png", trace.plot),
        Writer("sentences", "formats/reading:write", ".conllu", write_sentences),
        Writer("sentences, compressed", "formats/reading:write", ".gz", write_sentences),
        Writer("trees", "formats/brackets:write", ".mrg", lambda path: brackets.write(made, path)),
        Writer("a certificate", "verification/problem:write_json", ".json", certificate.save),
        *list_commands(folder),
        Writer("bench --json", "bench:store", ".json", store_report),
    ]


def list_commands(folder: Path) -> list[Writer]:
    """Return the commands that write; their inputs are in a folder."""
    data, trees, pairs = folder / "data.conllu", folder / "trees.mrg", folder / "pairs.txt"
    return [
        Writer(
            "certus tag",
            "cli/streams:deliver",
            ".conllu",
            lambda path: run_command("tag", folder / "tagger.certus", data, "-o", path),
        ),
        Writer(
            "certus parse",
            "cli/streams:deliver",
            ".mrg",
            lambda path: run_command("parse", folder / "parser.certus", trees, "-o", path),
        ),
        Writer(
            "certus translate",
            "cli/streams:deliver",
            ".txt",
            lambda path: run_command("translate", folder / "translator.certus", "the book " * 9, "-o", path),
        ),
        Writer(
            "certus train tagger",
            "storage/model_file:write",
            ".certus",
            lambda path: run_command("train", "tagger", data, "--learner", "hmm", "-q", "-o", path),
        ),
        Writer(
            "certus align --phrases",
            "cli/align:run",
            ".txt",
            lambda path: run_command(
                "align", folder / "aligner.certus", pairs, "--phrases", path, "-o", os.devnull
            ),
        ),
        Writer(
            "certus tag --certificate",
            "cli/certificates:write_certificates",
            ".jsonl",
            lambda path: run_command(
                "tag", folder / "perceptron.certus", data, "--certificate", path, "-o", os.devnull
            ),
        ),
    ]


def save_checkpoint(path: Path) -> None:
    """Save the state of a training run."""
    Checkpoint(path, {"run": "this"}).save(StandingTrainer(), Standing({"best": np.arange(50.0)}))  # type: ignore[arg-type]


def store_report(path: Path) -> None:
    """Write the report of a benchmark."""
    from certus_bench.harness.benchmark import store

    store({"seconds": list(range(100))}, path)
