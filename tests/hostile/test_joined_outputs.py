"""Files that are tagged or parsed together come out as whole sentences, whatever their last lines lack."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from typer.testing import CliRunner

import certus
from certus.cli.app import app
from certus.formats import Sentence, brackets, read, write
from tests.models import invented
from tests.syntax import invented_trees

ENDS = ["", "\n", "\n\n", "\n\n  ", "\r\n", "\n# the end", "\n\n# the end\n"]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("joined")
    (folder / "train.txt").write_text(invented.columns(60, 1), encoding="utf-8")
    certus.Tagger("upos", "hmm").fit(invented.sentences(60, 1)).save(folder / "upos.certus")
    certus.Tagger("pos|chunk", "hmm").fit(folder / "train.txt").save(folder / "chunks.certus")
    certus.ConstituencyParser().fit(invented_trees.trees(60)).save(folder / "trees.certus")
    return folder


def run(*arguments: object) -> str:
    result = CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def count_words(path: Path, **options: str) -> list[int]:
    return [len(sentence) for sentence in read(path, **options)]


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("more", [[], ["-k", "3"], ["--consistent"], ["--confidence"]])
def test_conllu(end: str, more: list[str], models: Path, tmp_path: Path) -> None:
    first, second, out = (tmp_path / name for name in ("a.conllu", "b.conllu", "out.conllu"))
    first.write_text(invented.conllu(3, 5).rstrip("\n") + end, encoding="utf-8", newline="")
    second.write_text("\ufeff" + invented.conllu(2, 6), encoding="utf-8")
    run("tag", models / "upos.certus", first, second, "-o", out, *more)
    ranks = 3 if "-k" in more else 1
    expected = [n for n in (*count_words(first), *count_words(second)) for _ in range(ranks)]
    assert count_words(out) == expected
    assert "\ufeff" not in out.read_text(encoding="utf-8")
    assert all("the end" not in line or line == "# the end" for line in out.read_text("utf-8").split("\n"))


@pytest.mark.parametrize("end", ["", "\n", "\n\n", "\n\n  ", "\r\n"])
@pytest.mark.parametrize("more", [[], ["-k", "3"]])
def test_columns(end: str, more: list[str], models: Path, tmp_path: Path) -> None:
    first, second, out = (tmp_path / name for name in ("a.txt", "b.txt", "out.txt"))
    first.write_text(invented.columns(3, 5).rstrip("\n") + end, encoding="utf-8", newline="")
    second.write_text(invented.columns(2, 6), encoding="utf-8")
    run("tag", models / "chunks.certus", first, second, "-o", out, *more)
    ranks = 3 if more else 1
    expected = [n for n in (*count_words(first), *count_words(second)) for _ in range(ranks)]
    assert count_words(out) == expected


def test_text_and_trees(models: Path, tmp_path: Path) -> None:
    first, second, out = (tmp_path / name for name in ("a.txt", "b.txt", "out"))
    first.write_text("lo bakola .", encoding="utf-8")
    second.write_text("loi bakolai .\nlo .", encoding="utf-8")
    run("tag", models / "upos.certus", first, second, "-o", out)
    assert count_words(out, format="conllu") == [3, 3, 2]
    first.write_text("(S (NN x))", encoding="utf-8")
    run("tag", models / "upos.certus", first, second, "-o", out)
    assert count_words(out, format="conllu") == [1, 3, 2]
    second.write_text("the dog sees the owl .", encoding="utf-8")
    for ranks in (1, 2):
        run("parse", models / "trees.certus", first, second, "-o", out, "-k", ranks)
        text = "".join(line.split("\t")[-1] + "\n" for line in out.read_text(encoding="utf-8").split("\n"))
        assert {len(tree.words) for tree in brackets.parse(text)} == {1, 6}


def test_sentences_of_several_files_are_written_apart(tmp_path: Path) -> None:
    for text, name, expected in [
        ("1 2", "x.txt", "1 2\n1 2\n1 2"),
        ("lo DET", "x.iob", "lo DET\n\nlo DET\n\nlo DET"),
        ("lo\tDET\r\n", "x.tsv", "lo\tDET\r\n\r\nlo\tDET\r\n\r\nlo\tDET\r\n"),
        ("\ufefflo\tDET\n", "x.tsv", "\ufefflo\tDET\n\nlo\tDET\n\nlo\tDET\n"),
    ]:
        sentences: list[Sentence] = []
        for _ in range(3):
            stream = io.BytesIO(text.encode())
            stream.name = name
            sentences += read(stream)
        assert write(sentences, tmp_path / "out") == 3
        assert (tmp_path / "out").read_bytes().decode() == expected
