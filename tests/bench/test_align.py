"""The benchmark of aligners: that it trains and decodes what it says, and shows all of it."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from certus.errors import InvalidInput
from certus.formats.parallel import SentencePair
from certus_bench.align import BENCHMARK, AlignReport, make_claims, make_plan, run
from certus_bench.align_paper import SOLVERS, join_pairs
from tests.align.test_models import make_pairs


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> AlignReport:
    root = tmp_path_factory.mktemp("data")
    (root / "align").mkdir()
    for part, count in (("train", 120), ("test", 110)):
        for side, sentences in zip(("en", "fr"), make_pairs(count, count), strict=True):
            text = "".join(" ".join(words) + "\n" for words in sentences)
            (root / f"align/hansard.{part}.{side}").write_text(text)
    (root / "align/hansard.test.gold").write_text("0-0\n" * 110)
    return run(make_plan(root, pairs=100, only="certus,speed,papers", long=2, programs=1))


def test_what_is_measured(report: AlignReport) -> None:
    (row,) = report.links
    assert set(row.aer) == {"exact", "forward", "backward", "intersection", "grow-diag"}
    assert row.seconds > 0
    assert row.megabytes > 1
    assert report.speed is not None
    assert report.speed.proven == report.speed.gold == 110
    assert report.speed.directional_rate > 1
    assert report.papers is not None
    assert {one.solver for one in report.papers.solvers} == set(SOLVERS)
    assert all(one.proven == one.pairs for one in report.papers.solvers if one.solver.startswith("exact"))
    assert {one.model for one in report.papers.accuracy} == {"DIR", "D&M", "CONS", *list(SOLVERS)[-3:]}
    assert [len(curve.dual) for curve in report.papers.curves] == [400, 400]
    assert report.failures == []


def test_it_is_shown(report: AlignReport) -> None:
    out = StringIO()
    BENCHMARK.show(report, Console(file=out, width=150))
    for table in ("table 1: joint decoding of two HMMs", "table 2", "table 3", "figure 7", "5 × HMM"):
        assert table in out.getvalue()
    assert all(claim.holds for claim in make_claims(report) if claim.text.startswith("proven"))
    assert BENCHMARK.as_json(report)["links"][0]["aligner"] == "certus"


def test_joined_pairs() -> None:
    pairs = [SentencePair(["a"] * n, ["b"], n) for n in (3, 4, 5, 30, 6, 7)]
    assert [len(pair.source) for pair in join_pairs(pairs, 7, 12, 10)] == [7]
    assert [len(pair.source) for pair in join_pairs(pairs, 3, 6, 10)] == [3, 4, 5, 6]


def test_unknown_aligners(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no aligner 'giza'"):
        make_plan(tmp_path, only="giza")
