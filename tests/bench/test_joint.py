"""The joint benchmark, on an invented treebank: what it measures, notices and writes."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from certus.cli.app import app
from certus.errors import InvalidInput
from certus.formats import build
from certus.models.tagger import Tagger
from certus.syntax import Grammar
from certus_bench import joint
from certus_bench.harness.benchmark import store
from certus_bench.joint import BENCHMARK, Models, compare_proofs, run, time_beside_highs
from certus_bench.joint_report import (
    FILE,
    PAPER,
    PROOF,
    JointPlan,
    JointReport,
    K,
    Solved,
    make_claims,
    share_by_iterations,
)
from tests.syntax import chunk_trees


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> JointReport:
    data = tmp_path_factory.mktemp("data")
    (data / "treebank").mkdir()
    (data / FILE).write_text(chunk_trees.text(140, 1), encoding="utf-8")
    plan = JointPlan(data=data, train=120, held_out=10, timed=2, epochs=2)
    return run(plan)


def test_everything_is_measured(report: JointReport) -> None:
    assert not report.failures
    assert {row.method for row in report.solved} == {PAPER, PROOF}
    assert all(row.proven for row in report.select(PROOF))
    assert [point.k for point in report.curve][-1] == K
    assert report.curve[-1].match == 100
    assert [row.what for row in report.quality] == ["fixed tags", f"joint, K={K}", "joint"]
    assert sum(share_by_iterations(report.select(PAPER), K).values()) == pytest.approx(100)
    # no sentence of the invented language has 15 words: nothing is timed beside HiGHS
    by_text = {claim.text: claim for claim in make_claims(report)}
    assert by_text["faster than HiGHS, integer program, whole forest, 15-25 words"].holds is None
    assert by_text["certificates with tightening and branching"].holds


def test_tables_json_and_picture(report: JointReport, tmp_path: Path) -> None:
    console = Console(file=StringIO(), width=200)
    BENCHMARK.show(report, console)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    for expected in ("the weight is", "5-10", "fixed tags", "match K=50", "what has to hold"):
        assert expected in text
    store(BENCHMARK.as_json(report), tmp_path / "report.json")
    written = json.loads((tmp_path / "report.json").read_text())
    assert len(written["solved"]) == len(report.solved)
    BENCHMARK.draw(report, tmp_path / "report.svg")
    assert (tmp_path / "report.svg").stat().st_size > 1000


def test_counts_by_iterations() -> None:
    rows = [Solved(n, 5, PAPER, count, 1, proven, 0, 0, 0.1, 1.0)
            for n, (count, proven) in enumerate([(1, True), (4, True), (12, True), (60, True)])]  # fmt: skip
    assert share_by_iterations(rows, K) == {
        "1": 25, "2": 0, "3": 0, "4": 25, "5-10": 0, "11-20": 25, "21-50": 0, "**": 25,
    }  # fmt: skip
    made = JointReport(_plan_without_data(), {}, solved=rows)
    assert made.share_within(PAPER, 10) == 50
    assert made.find_iterations(PAPER, 0.5) == 12
    assert made.share_within(PROOF, 10) is None


def test_highs_is_timed_and_has_to_agree(report: JointReport, monkeypatch: pytest.MonkeyPatch) -> None:
    grammar = Grammar.fit(chunk_trees.trees(100, 1))
    tagger = Tagger("xpos", order=2, epochs=2)
    tagger.fit([build(tree.words, {"xpos": tree.tags}) for tree in chunk_trees.trees(100, 1)])
    clause = chunk_trees.trees(1, 5)[0]
    models = Models(grammar, tagger, 1.0, [clause])
    made = JointReport(report.plan, {})
    monkeypatch.setattr(joint, "SHORTEST", 1)
    time_beside_highs(models, made, lambda _, __: None)
    (row,) = made.highs
    assert not made.failures
    assert row.variables > 0
    assert min(row.ours, row.linear, row.integer) > 0
    assert row.cut is None or row.cut > 0


def test_proofs_that_contradict_each_other_are_noticed() -> None:
    made = JointReport(_plan_without_data(), {})
    made.solved = [
        Solved(0, 5, PAPER, 1, 1, True, 1.0, 1.0, 0.1, 1.0),
        Solved(0, 5, PROOF, 1, 1, True, 2.0, 2.0, 0.1, 1.0),
    ]
    compare_proofs(made, PROOF)
    assert len(made.failures) == 1


def _plan_without_data() -> JointPlan:
    plan = object.__new__(JointPlan)
    object.__setattr__(plan, "data", Path())
    return plan


def test_refusals(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"wsj_sample\.mrg, which is not there"):
        JointPlan(data=tmp_path)
    (tmp_path / "treebank").mkdir()
    (tmp_path / FILE).write_text(chunk_trees.text(5, 1), encoding="utf-8")
    with pytest.raises(InvalidInput, match="has 5 trees; the benchmark learns from 3500"):
        run(JointPlan(data=tmp_path))
    done = CliRunner().invoke(app, ["bench", "joint"], env={"CERTUS_DATA": ""})
    assert done.exit_code != 0
