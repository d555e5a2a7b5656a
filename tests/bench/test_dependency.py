"""The benchmark of dependency parsers, on an invented treebank: what it measures and writes."""

from __future__ import annotations

import json
from importlib.util import find_spec
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from certus.errors import InvalidInput
from certus_bench.dependency import BENCHMARK, TREEBANKS, DependencyPlan, make_claims, run
from certus_bench.dependency_paper import PROGRAMS
from certus_bench.harness.benchmark import store
from tests.models import invented_treebank


def make_data(folder: Path) -> None:
    for seed, file in enumerate(filter(None, TREEBANKS["szeged"])):
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(invented_treebank.conllu(60, seed))


def test_everything_is_measured(tmp_path: Path) -> None:
    make_data(tmp_path)
    plan = DependencyPlan(
        data=tmp_path,
        treebanks=("szeged",),
        systems=("arcs", "projective grandparents", "siblings"),
        epochs=2,
        learn_from="automata",
        pruning=0.1,
        pruning_features="arcs",
        programs=2,
    )
    report = run(plan, lambda *_: None)
    assert not report.failures
    assert [trial.system for trial in report.trials] == list(plan.systems)
    for trial in report.trials:
        assert trial.uas >= trial.las > 80
        assert trial.proven == 100
        assert min(trial.rates.values()) > 0
    assert [trial.paper is None for trial in report.trials] == [True, True, False]
    paper = report.trials[2].paper
    assert paper is not None
    assert len(paper.limited) == 3
    assert min(paper.precision, paper.recall) > 90
    if find_spec("highspy"):
        assert [(row.name, row.sentences) for row in paper.programs] == [(name, 2) for name in PROGRAMS]
        assert [row.whole for row in paper.programs][-1] == 100
    for each in paper.limited:
        assert 0 < each.recomputed <= 100
        assert each.proven > 90
        assert each.same >= each.proven
        assert each.uas > 90
    measured = {claim.text: claim.measured for claim in make_claims(report)}
    assert measured["UAS on szeged, order 3"] == report.trials[1].uas
    assert measured["UAS on ewt, order 3"] is None
    console = Console(file=StringIO(), width=150)
    BENCHMARK.show(report, console)
    assert isinstance(console.file, StringIO)
    assert "projective grandparents" in console.file.getvalue()
    store(BENCHMARK.as_json(report), tmp_path / "r.json")
    assert json.loads((tmp_path / "r.json").read_text())["trials"][0]["system"] == "arcs"
    BENCHMARK.draw(report, tmp_path / "r.svg")
    assert (tmp_path / "r.svg").stat().st_size > 1000


def test_what_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="there is no treebank 'x'"):
        DependencyPlan(data=tmp_path, treebanks=("x",))
    with pytest.raises(InvalidInput, match="there is no algorithm 'z'"):
        DependencyPlan(data=tmp_path, algorithm="z")
    with pytest.raises(InvalidInput, match="there is no way to learn 'w'"):
        DependencyPlan(data=tmp_path, learn_from="w")
    with pytest.raises(InvalidInput, match="there is no kind of features 'v'"):
        DependencyPlan(data=tmp_path, pruning_features="v")
    with pytest.raises(InvalidInput, match="there is no system 'y'"):
        DependencyPlan(data=tmp_path, treebanks=(), systems=("y",))
    with pytest.raises(InvalidInput, match="says which corpora are needed"):
        DependencyPlan(data=tmp_path, treebanks=("szeged",))
