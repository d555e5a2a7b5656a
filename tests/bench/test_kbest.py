"""The benchmark of lists: what it times and checks, and what it holds against its promises."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from certus.errors import InvalidInput
from certus_bench import kbest
from certus_bench.harness.timing import Spread
from certus_bench.kbest import BENCHMARK, KBestPlan, ListTimes, compare_auto, make_claims, make_plan, run
from certus_bench.referee import Row
from tests.models import invented

SMALL = KBestPlan(lattices=("peaked 319x23",), ks=(1, 5), few=2, seconds=0.001)


def row(method: str, seconds: float, k: int = 5) -> Row:
    return Row("flat", 9, 4, method, "certus", k, Spread(seconds, seconds, seconds), 1, 1, False)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "chunk" / "conll2000"
    folder.mkdir(parents=True)
    (folder / "train.txt").write_text(invented.columns(120, 1), encoding="utf-8")
    return tmp_path


def test_trained_taggers_are_timed_and_kept(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kbest, "EPOCHS", 2)
    models = data / "models"
    plan = replace(SMALL, data=data, lattices=("conll2000",), sentences=5, models=models)
    report = run(plan)
    assert report.failures == []
    assert [times.sentences for times in report.lists] == [5]
    assert report.lists[0].ratio > 0
    assert (models / "conll2000.certus").is_file()
    monkeypatch.setattr(kbest, "Tagger", None)  # the second run does not train
    assert run(plan).failures == []


def test_drawn_lattices_are_timed_and_shown() -> None:
    report = run(SMALL)
    assert report.failures == []
    assert {(row.method, row.k) for row in report.rows} >= {("auto", 1), ("auto", 5), ("viterbi-astar", 5)}
    out = StringIO()
    BENCHMARK.show(report, Console(file=out, width=200))
    assert "auto's time over the best other method's, k=5 (worst: peaked 319x23" in out.getvalue()


def test_auto_is_held_against_the_best_of_the_others() -> None:
    rows = [row("auto", 2.4), row("viterbi-astar", 2.0), row("kbest-viterbi", 9.0), row("auto", 1.0, k=1)]
    ratio, method = compare_auto(rows, "flat", 5) or (0.0, "")
    assert (round(ratio, 6), method) == (1.2, "viterbi-astar")
    assert compare_auto(rows, "flat", 1) is None
    report = kbest.KBestReport(replace(SMALL, lattices=("flat",)), {}, [], rows)
    report.lists.append(ListTimes("ewt", 321, 300, one=1.0, many=3.5, tail=5.0))
    assert [claim.holds for claim in make_claims(report)] == [False, True, False]


def test_what_cannot_be_timed_is_refused_before_any_work() -> None:
    with pytest.raises(InvalidInput, match="unknown lattice 'round'"):
        make_plan(lattices="round")
    with pytest.raises(InvalidInput, match="corpora are needed"):
        make_plan(lattices="ewt")
