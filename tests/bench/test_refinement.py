"""The refinement benchmark, on few drawn sentences: what it measures, claims and writes."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from certus.errors import CertusError, InvalidInput
from certus.learn.refinement import Parameters
from certus.learn.refinement.sampling import sample
from certus_bench import refinement
from certus_bench.harness.benchmark import store
from certus_bench.refinement import BENCHMARK, read_chunks, run
from certus_bench.refinement_report import (
    PARTS,
    MarginalError,
    RefinementPlan,
    RefinementReport,
    TrainedRefinement,
    make_claims,
)

TAGS = ["DT", "NN", "VB", "IN"]
CHUNKS = ["B-NP", "I-NP", "O"]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Lay out CoNLL-2000, invented: a frequent word and a rare one."""
    root = tmp_path_factory.mktemp("data")
    folder = root / "chunk/conll2000"
    folder.mkdir(parents=True)
    model = Parameters.random(3, 2, 4, seed=0, concentration=0.3)
    for part, count in (("train", 200), ("test", 30)):
        drawn = sample(model, count, seed=count).list_sentences(CHUNKS, TAGS)
        lines = [
            "\n".join(f"{'a' if x == 'DT' else 'rare'} {x} {a}" for x, a in zip(*s, strict=True))
            for s in drawn
        ]
        (folder / f"{part}.txt").write_text("\n\n".join(lines) + "\n\n", encoding="utf-8")
    return root


@pytest.fixture
def small(data: Path, monkeypatch: pytest.MonkeyPatch) -> RefinementPlan:
    monkeypatch.setattr(RefinementPlan, "samples", (200, 800))
    monkeypatch.setattr(RefinementPlan, "spectral_states", (1, 8))
    monkeypatch.setattr(RefinementPlan, "em_states", (2, 8))
    monkeypatch.setattr(RefinementPlan, "iterations", 20)
    monkeypatch.setattr(refinement, "_SEEDS", 1)
    monkeypatch.setattr(refinement, "_STARTS", 2)
    monkeypatch.setattr(refinement, "_FREQUENT", 20)
    return RefinementPlan(data=data, quick=True)


def test_every_part_is_measured_and_shown(small: RefinementPlan, tmp_path: Path) -> None:
    told: list[float] = []
    report = run(small, lambda _, share: told.append(share))
    assert told == sorted(told)
    assert [(row.what, row.sentences) for row in report.errors] == [
        (what, size) for size in (200, 800) for what in ("spectral", "EM", "plain HMM")
    ]
    assert [(row.what, row.hidden) for row in report.trained if row.part == "states"] == [
        ("unigram", 1), ("HMM", 1), ("spectral", 1), ("spectral", 8), ("EM", 2), ("EM", 8),
    ]  # fmt: skip
    plain, one = report.select_rows("states", "HMM")[0], report.select_rows("states", "spectral")[0]
    assert plain.test == one.test
    assert {row.part for row in report.trained} == {"states", "seeds", "ablation", "words"}
    theirs = report.find_best("states", "EM")
    assert theirs is not None
    first, other = report.select_rows("seeds", "EM")
    assert (first.hidden, first.test, first.chosen) == (theirs.hidden, theirs.test, theirs.chosen)
    assert other.hidden == theirs.hidden
    assert [test.first for test in report.tests][2:] == [
        *("our templates", "the paper's templates"),
        *("the paper's templates", "our templates", "our templates"),
    ]
    assert all(0 < test.p <= 1 for test in report.tests)
    assert all(row.chosen and row.chosen[1] in (10, 20) for row in report.trained if row.what == "EM")
    out = StringIO()
    BENCHMARK.show(report, Console(file=out, width=150))
    for words in (
        "quick: little was learned",
        "from five seeds",
        "McNemar",
        "slope of spectral",
        "figures 5 and 8",
        "what has to hold",
    ):
        assert words in out.getvalue()
    store(BENCHMARK.as_json(report), tmp_path / "r.json")
    stored = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert stored == json.loads(json.dumps(BENCHMARK.as_json(report)))
    assert len(stored["claims"]) == 6
    BENCHMARK.draw(report, tmp_path / "r.png")
    assert (tmp_path / "r.png").stat().st_size > 10_000


def test_frequent_words_are_observed(small: RefinementPlan) -> None:
    with_words, without = read_chunks(small, words=True), read_chunks(small)
    assert {x for seen, _ in without.learn for x in seen} == set(TAGS)
    assert "DT/a" in {x for seen, _ in with_words.learn for x in seen}
    assert (len(without.learn), len(without.dev), len(without.test)) == (180, 20, 30)


def reported(spectral: float, em: float, seconds: float) -> RefinementReport:
    report = RefinementReport(RefinementPlan(data=None, only=frozenset({"consistency"})), {})
    report.errors = [MarginalError("spectral", 10**n, 0.3 * 10 ** (-n / 2), 0.1) for n in range(2, 5)]
    hmm = TrainedRefinement("states", "HMM", 1, 90.0, 90.0, 0.1)
    report.trained = [
        hmm,
        replace(hmm, what="spectral", hidden=8, dev=92.0, test=spectral, seconds=2.0),
        replace(hmm, what="spectral", hidden=4, dev=99.0, test=99.0, seconds=2.0),
        replace(hmm, what="EM", hidden=8, dev=92.0, test=em, seconds=seconds, restarts=3),
    ]
    return report


def test_claims_hold_what_was_measured_against_what_is_needed() -> None:
    made = make_claims(reported(92.0, 92.4, 30.0))
    assert [claim.measured for claim in made] == pytest.approx([-0.5, 100, 2.0, 0.4, 0.4, 15.0])
    assert all(claim.holds for claim in made)
    assert [claim.holds for claim in make_claims(reported(89.0, 92.4, 8.0))] == [
        True,
        True,
        False,
        False,
        False,
        False,
    ]
    nothing = make_claims(RefinementReport(RefinementPlan(data=None, only=frozenset({"consistency"})), {}))
    assert [claim.holds for claim in nothing] == [None] * 5


def test_what_cannot_be_run_is_refused(tmp_path: Path) -> None:
    assert RefinementPlan(data=tmp_path).parts == list(PARTS)
    with pytest.raises(InvalidInput, match="no part 'speed'"):
        RefinementPlan(data=tmp_path, only=frozenset({"speed"}))
    with pytest.raises(InvalidInput, match="where are the corpora"):
        RefinementPlan(data=None)
    with pytest.raises(InvalidInput, match="no folder"):
        RefinementPlan(data=tmp_path / "nowhere")
    with pytest.raises(InvalidInput, match=r"needs .*train\.txt, which is not there"):
        run(RefinementPlan(data=tmp_path, only=frozenset({"states"})))
    empty = RefinementReport(RefinementPlan(data=tmp_path), {})
    with pytest.raises(CertusError, match="nothing to draw"):
        BENCHMARK.draw(empty, tmp_path / "r.png")


def test_the_command() -> None:
    command = [
        sys.executable,
        "-c",
        "from certus.cli import main; main()",
        "bench",
        "refinement",
        "--quick",
        "--only",
        "consistency",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "relative error of marginals" in done.stdout
    assert "not run" in done.stdout
