"""``certus tag --consistent``."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

import certus
from certus.cli.app import app
from certus.cli.consistent import parse_delta, summarize
from certus.corpus import Limits, tag
from certus.errors import InvalidInput
from certus.formats import read
from tests.models.invented import conllu, sentences


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that learned from little, a file to tag, and more text."""
    made = tmp_path_factory.mktemp("consistent")
    (made / "train.conllu").write_text(conllu(12, 1), encoding="utf-8")
    (made / "test.conllu").write_text(conllu(30, 2), encoding="utf-8")
    more = "".join(" ".join(sentence.words) + "\n" for sentence in sentences(100, 3))
    (made / "more.txt").write_text(more, encoding="utf-8")
    certus.Tagger("upos", order=2, epochs=4).fit(made / "train.conllu").save(made / "m.certus")
    return made


def invoke(folder: Path, *arguments: str) -> tuple[str, str]:
    result = CliRunner().invoke(app, ["tag", str(folder / "m.certus"), *arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.stdout, result.stderr


def test_the_file_comes_out_as_it_went_in(folder: Path, tmp_path: Path) -> None:
    out, told = invoke(folder, str(folder / "test.conllu"), "--consistent")
    test = list(read(folder / "test.conllu"))
    expected = tag(certus.load(folder / "m.certus"), test).labels
    (tmp_path / "out.conllu").write_text(out, encoding="utf-8")
    written = list(read(tmp_path / "out.conllu"))
    assert [sentence.column("upos") for sentence in written] == expected
    assert [sentence.column("feats") for sentence in written] == [one.column("feats") for one in test]
    assert "100.0 % of sentences certified" in told
    assert "types that should agree" in told


def test_text_weights_and_an_output_file(folder: Path, tmp_path: Path) -> None:
    test, more, output = folder / "test.conllu", folder / "more.txt", tmp_path / "out.conllu"
    out, told = invoke(
        folder, str(test), "--consistent", "--text", str(more), "--delta", "3,1,0", "-o", str(output)
    )
    assert out == ""
    assert "sentences of added text used" in told
    expected = tag(certus.load(folder / "m.certus"), read(test), text=read(more), delta=(3, 1, 0)).labels
    assert [sentence.column("upos") for sentence in read(output)] == expected


def test_a_limit_of_time(folder: Path) -> None:
    """The best labels so far are written, and what is said of them holds their bound."""
    out, told = invoke(folder, str(folder / "test.conllu"), "--consistent", "--seconds", "0")
    assert out.count("\n\n") == 30
    assert "0 iterations" in told
    assert "below the bound" in told


def read_comments(text: str, name: str) -> list[str]:
    start = f"# {name} = "
    return [line.removeprefix(start) for line in text.split("\n") if line.startswith(start)]


def test_proofs_are_written(folder: Path) -> None:
    """Sentences have what they score, a bound and what is proven; stderr what all of them score."""
    out, told = invoke(folder, str(folder / "test.conllu"), "--consistent", "--proof")
    found = tag(certus.load(folder / "m.certus"), read(folder / "test.conllu"))
    scores, bounds = ([float(x) for x in read_comments(out, name)] for name in ("score", "bound"))
    assert scores == pytest.approx([answer.score for answer in found.taggings])
    assert scores == bounds
    assert read_comments(out, "optimal") == ["yes"] * 30
    assert set(read_comments(out, "claim")) == {found.taggings[0].claim}
    assert f"all labels together score {found.score:.10g}" in told
    assert f"at most {found.bound:.10g} is possible" in told


def test_what_is_not_proven_says_why(folder: Path) -> None:
    test = str(folder / "test.conllu")
    out, told = invoke(folder, test, "--consistent", "--proof", "--seconds", "0")
    assert "no" in read_comments(out, "optimal")
    assert all(float(bound) < float("inf") for bound in read_comments(out, "bound"))
    assert any(claim.startswith("not proven: other labels") for claim in read_comments(out, "claim"))
    assert "is possible" in told
    out, told = invoke(folder, test, "--consistent", "--proof", "--unproven")
    assert any(claim.startswith("proven among the labels") for claim in read_comments(out, "claim"))


def test_known_words_from_a_file(folder: Path) -> None:
    train, test = str(folder / "train.conllu"), str(folder / "test.conllu")
    known = invoke(folder, test, "--consistent", "--known", train)
    assert known[0] == invoke(folder, test, "--consistent")[0]  # what is said beside it holds times


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--consistent", "-k", "2"], "-k does not go with --consistent"),
        (["--consistent", "--confidence"], "--confidence does not go"),
        (["--consistent", "--legal", "bio"], "--legal does not go"),
        (["--consistent", "--dictionary", "d"], "--dictionary does not go"),
        (["--consistent", "--inference", "ldi"], "--inference does not go"),
        (["--consistent", "--steps", "3"], "--steps does not go"),
        (["--consistent", "--format", "xml"], "format 'xml' is unknown"),
        (["--consistent", "--delta", "one"], "up to three numbers"),
        (["--consistent", "--delta", "1,2"], "must not rise"),
        (["--consistent", "--text", "none.txt"], "none.txt"),
        (["--consistent", "--known", "none.conllu"], "none.conllu"),
        (["--delta", "3"], "go with --consistent"),
        (["--memory", "3"], "go with --consistent"),
        (["--text", "x.txt"], "go with --consistent"),
    ],
)
def test_bad_input(folder: Path, options: list[str], said: str) -> None:
    with pytest.raises(certus.errors.CertusError, match=said):
        invoke(folder, str(folder / "test.conllu"), *options)


def test_weights_are_numbers() -> None:
    assert parse_delta("4") == (4.0,)
    assert parse_delta("4,1.5,0") == (4.0, 1.5, 0.0)
    with pytest.raises(InvalidInput, match="'4;1'"):
        parse_delta("4;1")


def test_the_summary_owns_up(folder: Path) -> None:
    tagger, test = certus.load(folder / "m.certus"), list(read(folder / "test.conllu"))
    short = summarize(tag(tagger, test, limits=Limits(max_iterations=0, branches=0)))
    assert "below the bound" in short
    assert "all proven" in summarize(tag(tagger, test))
