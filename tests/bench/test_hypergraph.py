"""The benchmark of packed forests: that it times all it promises, and its forests are what it says."""

from __future__ import annotations

import json
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from certus.hypergraph import Hypergraph
from certus.solution import KBest
from certus_bench.harness.benchmark import store
from certus_bench.hypergraph import (
    BENCHMARK,
    FLOOR,
    HypergraphPlan,
    HypergraphReport,
    make_claims,
    make_forest,
    run,
)


@pytest.fixture(scope="module")
def report() -> HypergraphReport:
    return run(HypergraphPlan(edges=(6000,), seconds=0.001))


def test_everything_is_timed_and_right(report: HypergraphReport) -> None:
    assert report.failures == []
    for what in (FLOOR, "viterbi", "inside", "build from arrays", "kbest, k=100"):
        assert report.find_seconds(what, 6000)
    assert report.find_seconds("viterbi", 7) is None
    assert [claim.holds for claim in make_claims(report)] == [None] * 3


def test_it_is_shown_and_written(report: HypergraphReport, tmp_path: Path) -> None:
    out = StringIO()
    BENCHMARK.show(report, Console(file=out, width=150))
    assert "part.maximize" in out.getvalue()
    assert "not run" in out.getvalue()
    store(BENCHMARK.as_json(report), tmp_path / "r.json")
    stored = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert len(stored["rows"]) == len(report.rows)
    wrong = replace(report, failures=["6,000 edges: something differ"])
    BENCHMARK.show(wrong, Console(file=out, width=150))
    assert "FAILED  " in out.getvalue()


def test_wrong_answers_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    right: Any = Hypergraph.decode

    def wrong(self: Hypergraph, scores: object, **options: object) -> object:
        found = right(self, scores, **options)
        if not isinstance(found, KBest):
            found.score += 1
        return found

    monkeypatch.setattr(Hypergraph, "decode", wrong)
    assert len(run(HypergraphPlan(edges=(6000,), seconds=0.001)).failures) >= 3


def test_the_forests() -> None:
    forest = make_forest(20_000, words=12, labels=4)
    graph = Hypergraph(forest.heads, forest.offsets, forest.tails, forest.goal, nodes=forest.nodes)
    assert abs(graph.edges - 20_000) < 500
    assert graph._forest.in_order
    assert (graph.tails < np.repeat(graph.heads, np.diff(graph.offsets))).all()
    mixed = forest.shuffle(1)
    other = Hypergraph(mixed.heads, mixed.offsets, mixed.tails, mixed.goal, nodes=mixed.nodes)
    assert not other._forest.in_order
    assert graph.count() == other.count() > 1
