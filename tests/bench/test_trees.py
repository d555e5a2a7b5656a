"""The benchmark of trees runs, and its integer program finds the same trees."""

from __future__ import annotations

import io

import numpy as np
import pytest
from rich.console import Console

import certus
from certus_bench.harness.benchmark import keep_quiet
from certus_bench.tree_program import solve_program
from certus_bench.trees import BENCHMARK, KINDS, RANDOM, TreesPlan, make_claims, run


def test_the_report(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("certus_bench.trees.SPANS", (5,))
    report = run(TreesPlan(count=1, programs=0), keep_quiet)
    assert [row.kind for row in report.rows] == [*KINDS, *RANDOM]
    assert all(row.proven == 100 for row in report.rows)
    assert not report.failures
    assert make_claims(report)[-1].holds
    out = io.StringIO()
    BENCHMARK.show(report, Console(file=out, width=120))
    assert "spanning trees" in out.getvalue()


def test_the_program() -> None:
    pytest.importorskip("highspy")
    random = np.random.default_rng(0)
    for words in (1, 4, 6):
        arcs, siblings = random.normal(size=(words, words + 1)), random.normal(size=(words + 1,) * 3)
        best = certus.Trees().decode(arcs, siblings)
        assert solve_program(arcs, siblings, 60.0) == pytest.approx(best.score)
