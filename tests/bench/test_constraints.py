"""The benchmark of constrained search: that every method is run, and that problems are what they say."""

from __future__ import annotations

import numpy as np

from certus_bench import constraints
from certus_bench.constraints import KINDS, ConstraintsPlan, make_claims, make_phrases, run


def test_every_method_is_run() -> None:
    report = run(ConstraintsPlan(count=2, seconds=0.02))
    assert report.failures == []
    assert {row.kind for row in report.rows} == set(KINDS)
    small = report.find("phrases, 5 words", "auto")
    assert small is not None
    assert small.proven == 100
    assert report.find("phrases, 5 words", "ilp") is not None
    assert len(list(constraints.lay_out(report))) == len(KINDS)
    assert len(make_claims(report)) == 3


def test_each_word_is_translated_once() -> None:
    problem = make_phrases(np.random.default_rng(0), 4)
    assert problem.graph.labels is not None
    found = problem.graph.with_constraints(problem.rows, problem.targets).decode(problem.scores)
    spans = sorted(label for edge in found.value if (label := problem.graph.labels[edge]))
    assert [word for i, j in spans for word in range(i, j)] == [0, 1, 2, 3]
