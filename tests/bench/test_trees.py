"""The benchmark of trees runs, and its integer program finds the same trees."""

from __future__ import annotations

import io
from typing import get_args

import numpy as np
import pytest
from rich.console import Console

import certus
from certus_bench.harness.benchmark import keep_quiet
from certus_bench.tree_program import Flow, Parts, flatten, solve_program
from certus_bench.trees import BENCHMARK, KINDS, RANDOM, TreesPlan, make_claims, run
from tests.reference.dependency import TreeProblem, make_problem


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
        found = solve_program(flatten(arcs, siblings), 60.0)
        assert found is not None
        assert found.score == pytest.approx(best.score)
        assert found.is_whole


@pytest.mark.parametrize("order", ["s", "g", "t", "sgt"])
@pytest.mark.parametrize("single", [False, True])
def test_programs_over_candidate_arcs(order: str, single: bool) -> None:
    """Integer programs find the best tree; relaxations are no lower, and the tighter one no higher."""
    pytest.importorskip("highspy")
    random = np.random.default_rng(3)
    for words in (1, 3, 3, 4, 4):
        drawn = make_problem(random, words, order=order, share=0.8)
        kinds = (drawn.siblings, drawn.grandparents, drawn.grandsiblings)
        scores = np.maximum(drawn.arc_scores, -4)  # HiGHS is not given -inf
        parts = [None if kind is None else np.maximum(kind, -4) for kind in kinds]
        trees = [score for score, _ in TreeProblem(drawn.arcs, scores, *parts).score_all(False, single)]
        flat = Parts(
            words,
            drawn.arcs.heads,
            drawn.arcs.modifiers,
            scores,
            *(np.empty(0) if part is None else part for part in parts),
        )
        if not trees:
            continue
        whole = solve_program(flat, 60.0, single_root=single)
        loose, tight = (
            solve_program(flat, 60.0, integer=False, flow=flow, single_root=single) for flow in get_args(Flow)
        )
        assert whole is not None
        assert loose is not None
        assert tight is not None
        assert whole.score == pytest.approx(max(trees))
        assert whole.is_whole
        assert loose.score >= tight.score - 1e-6 >= whole.score - 2e-6
