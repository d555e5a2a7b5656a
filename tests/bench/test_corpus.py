"""The corpus benchmark runs, and says what it found."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from certus.errors import CertusError, InvalidInput
from certus_bench.corpus import (
    BENCHMARK,
    SIZES,
    TARGETS,
    ConsistencyRow,
    CorpusPlan,
    CorpusReport,
    WholeModel,
    make_claims,
    make_plan,
    run,
)
from certus_bench.harness.benchmark import store
from certus_bench.harness.timing import Spread
from tests.models.invented import conllu


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    (folder / "ud/en_ewt").mkdir(parents=True)
    for name, count, seed in (("train", 60, 1), ("test", 25, 2)):
        (folder / f"ud/en_ewt/{name}.conllu").write_text(conllu(count, seed), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def report(data: Path) -> CorpusReport:
    return run(CorpusPlan(data=data, sizes=(10,), targets=("upos",), order=1, repeats=1, begin=10, text=40))


def test_a_run(report: CorpusReport) -> None:
    assert [(row.target, row.size, row.text) for row in report.rows] == [("upos", 10, 0), ("upos", 10, 40)]
    for row in report.rows:
        assert 0 < row.base <= 100
        assert row.certified == 100
        assert row.command is not None
        assert len(row.shares) == row.iterations
    whole = report.rows[0].whole
    assert whole is not None
    assert (whole.optimal, whole.certified) == (True, 100)
    assert whole.score >= -1e-6
    assert report.rows[1].whole is None
    assert [steps.method for steps in report.steps] == ["messages", "subgradient"]
    assert report.steps[0].gaps[-1] == pytest.approx(0, abs=1e-9)
    assert min(report.steps[1].gaps) >= -1e-9


def test_it_is_shown_and_written(report: CorpusReport, tmp_path: Path) -> None:
    console = Console(record=True, width=200, file=StringIO())
    BENCHMARK.show(report, console)
    text = console.export_text()
    assert "errors on unknown words gone, upos, 50 sentences" in text
    assert "subgradient" in text
    store(BENCHMARK.as_json(report), tmp_path / "r.json")
    assert len(json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["rows"]) == 2


def test_it_is_drawn(report: CorpusReport, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    BENCHMARK.draw(report, tmp_path / "i.svg")
    assert (tmp_path / "i.svg").stat().st_size > 1000
    with pytest.raises(CertusError, match="nothing to draw"):
        BENCHMARK.draw(CorpusReport(report.plan, {}), tmp_path / "j.svg")


def test_claims_can_fail(report: CorpusReport) -> None:
    spread, slow = Spread(1.0, 1.0, 1.0), Spread(3.0, 3.0, 3.0)
    whole = WholeModel(79.0, 98.0, False, 0.0, 1.0, 9.0)
    row = ConsistencyRow(
        "upos", 50, 0, 80.0, 79.0, 60.0, 59.0, 0.5, 98.0, 1, 1, 1, 1, spread, slow, (1.0, 3.0), [0.5], whole
    )
    verdicts = {claim.text: claim.holds for claim in make_claims(CorpusReport(report.plan, {}, [row]))}
    assert [holds for holds in verdicts.values() if holds is not None] == [False] * 7
    assert row.reduction == pytest.approx(-5)
    assert row.cost == 3
    assert row.command_cost == 3


def test_quick_is_small(data: Path) -> None:
    plan = CorpusPlan(data=data).hurry()
    assert plan.sizes == (50,)
    assert plan.targets == ("upos",)
    assert plan.repeats == 1


def test_a_part_of_the_tables(data: Path) -> None:
    plan = make_plan(data, targets="xpos", sizes="100, 50")
    assert (plan.targets, plan.sizes) == (("xpos",), (100, 50))
    assert (make_plan(data).targets, make_plan(data).sizes) == (TARGETS, SIZES)


def test_bad_input(data: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no part 'all'"):
        CorpusPlan(data=data, part="all")
    with pytest.raises(InvalidInput, match="no target 'feats'; there are upos, xpos"):
        make_plan(data, targets="upos,feats")
    with pytest.raises(InvalidInput, match="learn from 1 to 500 sentences"):
        make_plan(data, sizes="50,501")
    with pytest.raises(InvalidInput, match="sizes must be whole numbers"):
        make_plan(data, sizes="few")
    with pytest.raises(InvalidInput, match=r"there is no .*train\.conllu"):
        CorpusPlan(data=tmp_path)
