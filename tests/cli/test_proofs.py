"""What ``certus tag`` says of proofs, in comments, columns and its summary, and how it reads that again."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import certus
from certus.cli.app import app
from tests.models import invented

LEARNERS = ["pruned-crf", "perceptron", "hmm"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Taggers of chunks by their learners, one of parts of speech (m.certus), and files for them."""
    folder = tmp_path_factory.mktemp("proofs")
    (folder / "train.txt").write_text(invented.columns(100, 1), encoding="utf-8")
    (folder / "test.txt").write_text(invented.columns(6, 2), encoding="utf-8")
    (folder / "test.conllu").write_text(invented.conllu(4, 3), encoding="utf-8")
    for learner in LEARNERS:
        certus.Tagger("chunk", learner).fit(folder / "train.txt").save(folder / f"{learner}.certus")
    certus.Tagger("upos", epochs=2).fit(invented.sentences(100, 1)).save(folder / "m.certus")
    return folder


def run(*arguments: object) -> Any:
    found = CliRunner().invoke(app, ["tag", *map(str, arguments)], catch_exceptions=False)
    assert found.exit_code == 0, found.output
    return found


def find_comments(text: str, name: str) -> list[str]:
    return re.findall(rf"^# {name} = (.*)$", text, re.MULTILINE)


def test_each_rank_says_what_its_proof_means(folder: Path) -> None:
    text = run(folder / "m.certus", folder / "test.conllu", "-k", 3, "--proof").stdout
    ranks = find_comments(text, "rank")
    claims = {
        "1": "proven: no label sequence scores more",
        "2": "proven: no label sequence scores more, but for rank 1",
        "3": "proven: no label sequence scores more, but for ranks 1 to 2",
    }
    assert len(ranks) == 12
    assert find_comments(text, "claim") == [claims[rank] for rank in ranks]
    assert find_comments(text, "score") == find_comments(text, "bound")
    assert set(find_comments(text, "optimal")) == {"yes"}


def test_each_rank_for_people(folder: Path) -> None:
    lines = run(folder / "m.certus", folder / "test.conllu", "-k", 2, "--pretty").stdout.split("\n")
    assert sum(line.endswith("proven: no label sequence scores more") for line in lines) == 4
    assert sum(line.endswith("scores more, but for rank 1") for line in lines) == 4


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("separator", [" ", "\t"])
@pytest.mark.parametrize("options", [["--proof"], ["--proof", "--confidence"], ["--confidence"]])
def test_columns_of_proofs_are_read_again(
    folder: Path, tmp_path: Path, learner: str, separator: str, options: list[str]
) -> None:
    given, first, second = tmp_path / "in.txt", tmp_path / "first.out", tmp_path / "second.out"
    given.write_text((folder / "test.txt").read_text("utf-8").replace(" ", separator), "utf-8")
    model = folder / f"{learner}.certus"
    run(model, given, *options, "-o", first)
    run(model, first, *options, "-o", second)
    assert first.read_bytes() == second.read_bytes()
    rows = [line.split(separator) for line in first.read_text("utf-8").split("\n") if line.strip("#")]
    width = 3 + len(options)
    assert {len(row) for row in rows if not row[0].startswith("#")} == {width}
    if "--proof" in options:
        assert {row[-1] for row in rows if len(row) == width} == {"optimal"}
    done = CliRunner().invoke(app, ["evaluate", str(given), str(first)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert "chunk" in done.stdout


def test_columns_tell_ranks(folder: Path) -> None:
    lines = run(folder / "hmm.certus", folder / "test.txt", "-k", 2, "--proof").stdout.split("\n")
    assert {line.split(" ")[-1] for line in lines if line} == {"rank=1,optimal", "rank=2,optimal"}


def test_comments_are_replaced_where_a_file_is_tagged_again(folder: Path, tmp_path: Path) -> None:
    first, second, third = (tmp_path / f"{name}.conllu" for name in "abc")
    run(folder / "m.certus", folder / "test.conllu", "--proof", "--confidence", "-o", first)
    run(folder / "m.certus", first, "--proof", "--confidence", "-o", second)
    assert first.read_bytes() == second.read_bytes()
    run(folder / "m.certus", first, "-o", third)  # what was proven is not said of labels of another run
    for name in ("score", "bound", "optimal", "probability", "least_probability"):
        assert not find_comments(third.read_text("utf-8"), name)
    assert find_comments(third.read_text("utf-8"), "sent_id") == find_comments(
        (folder / "test.conllu").read_text("utf-8"), "sent_id"
    )


def test_comments_of_others_stay(folder: Path, tmp_path: Path) -> None:
    given = tmp_path / "given.conllu"
    given.write_text("# score = of somebody else\n1\tlo\t_\t_\t_\t_\t_\t_\t_\t_\n\n", "utf-8")
    assert run(folder / "m.certus", given).stdout.startswith("# score = of somebody else\n")


def test_the_summary_says_what_was_proven(folder: Path) -> None:
    done = run(folder / "m.certus", folder / "test.conllu")
    found = re.fullmatch(r"4 of 4 sentences proven, [\d.]+ searches per sentence, [\d.]+ s\n", done.stderr)
    assert found, done.stderr
    quiet = run(folder / "m.certus", folder / "test.conllu", "--quiet")
    assert (quiet.stdout, quiet.stderr) == (done.stdout, "")


def test_limits_of_time(folder: Path) -> None:
    done = run(folder / "m.certus", folder / "test.conllu", "--seconds", "0.5", "--proof")
    assert set(find_comments(done.stdout, "optimal")) == {"yes"}
