"""The comparison of optimisers runs, and its tables say what was found."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner

from certus.cli.app import app
from certus.errors import InvalidInput
from certus.relax import Descent
from certus_bench.relax import AUTO, BENCHMARK, OPTIMIZERS, PAPER, PROOF, RelaxPlan, make_claims, run
from certus_bench.relax_problems import PROBLEMS


@pytest.mark.parametrize("kind", [name for name in PROBLEMS if "30" not in name and "hard" not in name])
def test_problems_are_proven(kind: str) -> None:
    solution = PROBLEMS[kind](np.random.default_rng(2)).solve()
    assert solution.optimal


def test_the_report() -> None:
    told: list[float] = []
    plan = RelaxPlan(count=2, iterations=60, only=("colouring", "siblings, 10"))
    report = run(plan, lambda _, share: told.append(share))
    assert told == sorted(told)
    assert {row.optimizer for row in report.rows} == {*OPTIMIZERS, PROOF}
    assert report.row("siblings, 10 words", "descent") is not None  # both parts know their max-marginals
    assert isinstance(OPTIMIZERS["descent"], Descent)
    held = make_claims(report)
    assert held[1].measured is None  # its problems were not asked for
    assert held[2].holds
    out = io.StringIO()
    BENCHMARK.show(report, Console(file=out, width=150))
    assert AUTO in out.getvalue()
    assert PAPER in out.getvalue()


def test_the_command(tmp_path: Path) -> None:
    path = tmp_path / "relax.json"
    arguments = [
        "bench",
        "relax",
        "--count",
        "1",
        "--iterations",
        "5",
        "--only",
        "colouring",
        "--json",
        str(path),
    ]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0
    assert json.loads(path.read_text())["rows"]


def test_solvers_agree() -> None:
    report = run(RelaxPlan(graphs=2, only=("4 × 4", "roles")), lambda *_: None)
    assert not report.rows
    assert {row.kind for row in report.solvers} == {"grid, 4 × 4", "semantic roles"}
    assert all(row.wrong == 0 for row in report.solvers)
    sure = [row for row in report.solvers if row.solver in ("certus", "HiGHS", "CP-SAT")]
    assert all(row.share_within(10) == 100 for row in sure)
    assert len({round(row.proofs[0].score, 4) for row in sure}) == 2
    assert make_claims(report)[3].holds
    out = io.StringIO()
    BENCHMARK.show(report, Console(file=out, width=150))
    assert "semantic roles" in out.getvalue()


def test_unknown_kinds() -> None:
    with pytest.raises(InvalidInput, match="no kind of problem is named luck; there are: siblings"):
        run(RelaxPlan(only=("luck",)), lambda *_: None)
