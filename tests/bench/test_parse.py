"""The parser benchmark, on an invented treebank: what it measures and writes."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from certus.errors import InvalidInput
from certus.formats import brackets
from certus_bench.harness.benchmark import store
from certus_bench.parse import BENCHMARK, FILE, ParsePlan, make_claims, run, run_duel
from tests.syntax import invented_trees


def test_everything_is_measured(tmp_path: Path) -> None:
    (tmp_path / FILE).parent.mkdir()
    brackets.write(invented_trees.trees(120), tmp_path / FILE)
    told: list[str] = []
    report = run(ParsePlan(data=tmp_path, train=90), lambda text, _: told.append(text))
    assert told[0] == "reading trees"
    assert report.trees == 120
    assert report.test.total.sentences == 30
    assert report.test.total.f1 > 0.8
    assert report.proven == 1
    assert all(spread.median > 0 for spread in report.lengths)
    assert set(report.threads) == {1, 2}
    measured = {claim.text: claim.measured for claim in make_claims(report)}
    assert measured["F1 on test, trained on 3,500 trees"] == 100 * report.test.total.f1
    console = Console(file=StringIO(), width=150)
    BENCHMARK.show(report, console)
    assert isinstance(console.file, StringIO)
    assert "scores on test" in console.file.getvalue()
    store(BENCHMARK.as_json(report), tmp_path / "r.json")
    assert json.loads((tmp_path / "r.json").read_text())["test"]["all"]["sentences"] == 30


def test_the_corpus_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="there is no"):
        run(ParsePlan(data=tmp_path), lambda text, done: None)


def test_the_rival_agrees() -> None:
    pytest.importorskip("nltk")
    found = run_duel([tree for tree in invented_trees.prepared_trees(60) if len(tree.words) < 12])
    assert found is not None
    assert found.equal == 1
    assert found.ratio > 1
