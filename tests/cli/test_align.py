"""certus train aligner, certus align, certus evaluate of links."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

import certus
from tests.align.test_models import make_pairs

ENGLISH = Path(certus.__file__).parent / "models/data/en.certus"


def run(*arguments: str | Path, stdin: str = "", fails: bool = False) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from certus.cli import main; main()", *map(str, arguments)]
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, check=False)
    assert bool(done.returncode) == fails, done.stderr
    return done


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trained aligner, the two files it learned from, and both in one."""
    folder = tmp_path_factory.mktemp("align")
    source, target = make_pairs(1, 200)
    lines = [[" ".join(words) for words in side] for side in (source, target)]
    (folder / "a.src").write_text("\n".join(lines[0]) + "\n\n")
    (folder / "a.tgt").write_text("\n".join(lines[1]) + "\nALONE\n")
    (folder / "a.both").write_text("".join(f"{a} ||| {b}\n" for a, b in zip(*lines, strict=True)))
    done = run(
        "train", "aligner", folder / "a.src", folder / "a.tgt", "-o", folder / "a.certus",
        "--lexicon", folder / "a.lexicon",
    )  # fmt: skip
    assert "left out: 1 pair with an empty side" in done.stderr
    assert not (folder / "a.certus.checkpoint").exists()
    return folder


def test_links_of_files_and_texts(folder: Path) -> None:
    two = run("align", folder / "a.certus", folder / "a.src", folder / "a.tgt")
    one = run("align", folder / "a.certus", folder / "a.both")
    assert two.stdout == one.stdout + "\n"
    assert "201 pairs" in two.stderr
    assert "201 proven optimal, 1 with an empty side" in two.stderr
    assert run("align", folder / "a.certus", "-q", stdin="w4 w8\t4W 8W\n").stdout == "0-0 1-1\n"
    text = run("align", folder / "a.certus", "w4 w8 ||| 4W 8W", "--probabilities", "--scores").stdout
    score, bound, status, links = text.rstrip("\n").split("\t")
    assert score == bound
    assert status == "optimal"
    assert [link.split(":")[0] for link in links.split()] == ["0-0", "1-1"]
    assert "w4 ■ ·" in run("align", folder / "a.certus", "w4 w8 ||| 4W 8W", "--pretty").stdout


def test_training_on_one_file_is_the_same(folder: Path) -> None:
    run("train", "aligner", folder / "a.both", "-o", folder / "b.certus", "--quiet", "--threads", "2")
    first = run("align", folder / "a.certus", folder / "a.both", "--scores").stdout
    assert run("align", folder / "b.certus", folder / "a.both", "--scores").stdout == first


def test_lexicon(folder: Path) -> None:
    rows = [line.split("\t") for line in (folder / "a.lexicon").read_text().splitlines()]
    assert ["w4", "4W"] in [row[:2] for row in rows]


def test_evaluation(folder: Path) -> None:
    exact, rule = folder / "exact", folder / "rule"
    run("align", folder / "a.certus", folder / "a.both", "-o", exact)
    run("align", folder / "a.certus", folder / "a.both", "-o", rule, "--method", "union")
    found = json.loads(run("evaluate", exact, rule, "--against", exact, "--json").stdout)
    assert found["pairs"] == 200
    assert found["against"]["aer"] == 0
    assert found["difference"]["aer"] == found["aer"]
    assert "AER %" in run("evaluate", exact, rule).stdout
    assert "difference of AER" in run("evaluate", exact, rule, "--against", exact).stdout


def test_kill_loses_at_most_an_iteration(folder: Path) -> None:
    source, target = make_pairs(9, 1500)
    pairs, model = folder / "many", folder / "killed.certus"
    lines = (f"{' '.join(a)} ||| {' '.join(b)}\n" for a, b in zip(source, target, strict=True))
    pairs.write_text("".join(lines))
    training = ["train", "aligner", str(pairs), "--iterations", "20", "-o"]
    command = [sys.executable, "-c", "from certus.cli import main; main()", *training, str(model)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as killed:
        assert killed.stderr is not None
        seen = [next(killed.stderr) for _ in range(2)]  # one line per iteration
        killed.kill()
        seen += killed.stderr.readlines()
    assert killed.returncode == -9
    assert not model.exists()
    again = run(*training, model).stderr.splitlines()
    reached = int(seen[-1].split("/")[0].split()[-1])
    first = int(next(line for line in again if line.startswith("epoch")).split("/")[0].split()[-1])
    assert first in (
        reached,
        reached + 1,
        reached + 2,
    )  # killed after a checkpoint and before its line, or before it
    whole = folder / "whole.certus"
    run(*training, whole, "--no-checkpoint", "-q")
    links = [run("align", one, pairs, "--scores", "-q").stdout for one in (model, whole)]
    assert links[0] == links[1]


def test_phrases_and_pictures(folder: Path) -> None:
    pairs, phrases = folder / "few", folder / "phrases"
    pairs.write_text("w4 w8 ||| 4W 8W\n<w4> ||| 4W\n ||| 4W\n")
    for name in ("few.svg", "few.html"):
        run("align", folder / "a.certus", pairs, "--phrases", phrases, "--draw", folder / name, "-q")
    assert phrases.read_text().splitlines()[:2] == ["w4 ||| 4W ||| 0-0", "w4 w8 ||| 4W 8W ||| 0-0 1-1"]
    assert len(ElementTree.parse(folder / "few.svg").getroot()) == 3
    page = (folder / "few.html").read_text()
    assert page.count("<figure>") == 3
    assert "&lt;w4&gt;" in page
    assert "<w4>" not in page
    assert ".svg or .html" in run("align", folder / "a.certus", pairs, "--draw", "a.png", fails=True).stderr
    exact = folder / "few.links"
    run("align", folder / "a.certus", pairs, "-o", exact, "-q")
    assert json.loads(run("evaluate", exact, exact, "--details", "--json").stdout)["phrases"]["f1"] == 1
    assert "phrase pairs of" in run("evaluate", exact, exact, "--details").stdout


def test_lines_that_cannot_be_read(folder: Path) -> None:
    (folder / "odd").write_text("w4 w8 ||| 4W 8W\nno pair\nw4 ||| 4W\n")
    assert "odd:2" in run("align", folder / "a.certus", folder / "odd", fails=True).stderr
    done = run("align", folder / "a.certus", folder / "odd", "--skip")
    assert done.stdout == "0-0 1-1\n\n0-0\n"
    assert "skipped: " in done.stderr
    assert "odd:2: " in done.stderr
    assert "2 pairs, 3 links, 2 proven optimal; 1 line skipped" in done.stderr
    trained = run("train", "aligner", folder / "odd", "-o", folder / "odd.certus", "--skip")
    assert "odd:2: " in trained.stderr
    assert "left out: 1 line that cannot be read" in trained.stderr
    assert "empty side" not in trained.stderr


def test_refusals(folder: Path) -> None:
    model, pairs, short, english = folder / "a.certus", folder / "a.both", folder / "short", ENGLISH
    short.write_text("x\n")
    (folder / "empty").write_text("\n")
    train = ("train", "aligner")
    for arguments, message in (
        (("align", model, pairs, "--method", "best"), "there is no --method best"),
        (("align", model, folder / "a.src", short), "short:2"),
        (("align", model, short, short, short), "not 3 files"),
        (("align", english, pairs), "no aligner"),
        ((*train, short, folder / "empty", "-o", folder / "c"), "nothing to learn"),
        ((*train, pairs, "-o", pairs), "would overwrite"),
    ):
        assert message in run(*arguments, fails=True).stderr
