"""certus train lm, certus evaluate --lm, certus info."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import certus
from certus.cli.app import app
from tests.cli.test_align import ENGLISH
from tests.translate.problems import make_sentences


def run(*arguments: str | Path, stdin: str = "", fails: bool = False) -> Any:
    """Run a command; what it says on stderr is in ``stderr``, and an error in ``exception``."""
    done = CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)
    assert (done.exception is not None) == fails, done.output
    return done


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A text, and a model of it, also as an ARPA file."""
    folder = tmp_path_factory.mktemp("lm")
    lines = [" ".join(words) for words in make_sentences(1, 300)]
    (folder / "text").write_text("\n".join([*lines, "", ""]))
    done = run("train", "lm", folder / "text", "-o", folder / "m.certus", "--order", "3")
    assert "counting 3-grams" in done.stderr
    assert "left out: 1 line without words" in done.stderr
    assert "warning: the discounts of 1-grams cannot be computed" in done.stderr
    assert "order 3, 6 words" in done.stderr
    run("train", "lm", folder / "text", "-o", folder / "m.arpa", "--order", "3", "--arpa", "-q")
    return folder


def test_perplexity(folder: Path) -> None:
    found = json.loads(run("evaluate", folder / "text", "--lm", folder / "m.certus", "--json").stdout)
    expected = certus.load(folder / "m.certus").perplexity(folder / "text")
    assert found == expected.as_dict()
    shown = run("evaluate", folder / "text", "--lm", folder / "m.certus").stdout
    assert f"{expected.perplexity:.2f}" in shown
    assert "1 lines without words" in shown
    assert (
        f"{expected.perplexity:.2f}"
        in run("evaluate", "-", "--lm", folder / "m.certus", stdin=(folder / "text").read_text()).stdout
    )


def test_arpa_and_back(folder: Path) -> None:
    run("train", "lm", folder / "m.arpa", "-o", folder / "again.certus", "-q")
    texts = [json.loads(run("evaluate", folder / "text", "--lm", folder / name, "--json").stdout)
             for name in ("m.certus", "m.arpa", "again.certus")]  # fmt: skip
    assert texts[0] == texts[1] == texts[2]


def test_info(folder: Path) -> None:
    shown = run("info", folder / "m.certus").stdout
    for part in ("language-model", "Order", "N-grams", "Discounts", "300 sentences"):
        assert part in shown


def test_refusals(folder: Path) -> None:
    (folder / "special").write_text("a\n</s>\n")
    (folder / "blank").write_text("\n")
    model, text, train = folder / "m.certus", folder / "text", ("train", "lm")
    for arguments, message in (
        ((*train, folder / "special", "-o", folder / "x"), "special:2: the word </s>"),
        ((*train, folder / "blank", "-o", folder / "x"), "nothing to learn from"),
        ((*train, folder / "none", "-o", folder / "x"), "no file"),
        ((*train, text, "-o", text), "would overwrite"),
        ((*train, folder / "m.arpa", "-o", folder / "x", "--order", "2"), "without other texts"),
        (("evaluate", text), "--lm MODEL"),
        (("evaluate", text, text, "--lm", model), "not both"),
        (("evaluate", folder / "blank", "--lm", model), "no words"),
        (("evaluate", text, "--lm", ENGLISH), "no language model"),
        (("evaluate", text, "--lm", model, "--judge", "upos"), "without --judge"),
    ):
        assert message in str(run(*arguments, fails=True).exception)
    assert not (folder / "x").exists()
