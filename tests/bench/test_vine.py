"""The benchmark of cascades, on an invented treebank: what it measures and writes."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from certus.errors import InvalidInput
from certus_bench.vine import BENCHMARK, NONE, VinePlan, make_claims, run
from tests.bench.test_dependency import make_data


def test_setups_are_measured(tmp_path: Path) -> None:
    make_data(tmp_path)
    plan = VinePlan(
        data=tmp_path, treebank="szeged", setups=("local", "default"), orders=(1, 3), epochs=1, sample=10
    )
    report = run(plan, lambda *_: None)
    assert [(s.name, s.order) for s in report.setups] == [
        (name, order) for order in (1, 3) for name in (NONE, "local", "default")
    ]
    for setup in report.setups:
        assert setup.uas > 90
        assert (setup.pruned > 0) == (setup.name != NONE)
        assert 90 < setup.oracle <= 100
        assert len(setup.passes) == {NONE: 0, "local": 3, "default": 4}[setup.name]
    assert all(claim.measured is not None for claim in make_claims(report))
    console = Console(file=StringIO(), width=150)
    BENCHMARK.show(report, console)
    assert isinstance(console.file, StringIO)
    assert "wrong arcs closed" in console.file.getvalue()
    BENCHMARK.draw(report, tmp_path / "r.svg")
    assert (tmp_path / "r.svg").stat().st_size > 1000


def test_what_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="there is no treebank 'x'"):
        VinePlan(data=tmp_path, treebank="x")
    with pytest.raises(InvalidInput, match="there is no setup 'y'"):
        VinePlan(data=tmp_path, setups=("y",))
    with pytest.raises(InvalidInput, match="orders are some of"):
        VinePlan(data=tmp_path, orders=(4,))
    with pytest.raises(InvalidInput, match="says which corpora are needed"):
        VinePlan(data=tmp_path)
