"""The latent benchmark, on corpora of a few made-up sentences: what it measures and writes."""

from __future__ import annotations

import json
from dataclasses import replace
from io import StringIO
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner

from certus.cli.app import app
from certus.errors import InvalidInput
from certus.learn.features.data import compile_templates
from certus_bench.harness.significance import count_disagreements
from certus_bench.latent import BENCHMARK, run
from certus_bench.latent.measuring import SHARES, TESTED, WAYS
from certus_bench.latent.records import (
    FEW,
    MANY,
    STEPS,
    InferenceRow,
    LatentPlan,
    LatentReport,
    TaskReport,
    make_plan,
)
from certus_bench.latent.report import make_claims
from certus_bench.latent.tasks import RICH, TASKS, WORDS
from tests.models import invented


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both corpora, in the invented language."""
    folder = tmp_path_factory.mktemp("data")
    for name in ("chunk/conll2000", "ner/jnlpba", "pos/genia"):
        (folder / name).mkdir(parents=True)
    for part, seed in (("train", 1), ("test", 2)):
        (folder / "chunk/conll2000" / f"{part}.txt").write_text(invented.columns(40, seed), encoding="utf-8")
    for part, seed in (("train", 1), ("dev", 3), ("test", 2)):
        text = "\n".join(
            "".join(f"{word}\t{chunk if chunk.endswith('NP') else 'O'}\n" for word, _, _, chunk in one)
            for one in invented.tokens(25, seed)
        )
        (folder / "ner/jnlpba" / f"{part}.iob2").write_text(text + "\n", encoding="utf-8")
    tags = "\n".join("".join(f"{word}\t{pos}\n" for word, pos, _, _ in one) for one in invented.tokens(40, 1))
    (folder / "pos/genia/train.tsv").write_text(tags + "\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def report(data: Path) -> LatentReport:
    return run(LatentPlan(data=data, quick=True, seeds=2))


def test_every_table_and_curve_is_measured(report: LatentReport) -> None:
    assert [task.task for task in report.tasks] == list(TASKS)
    for task in report.tasks:
        crfs = ["CRF", "CRF, own prior"] if task.task == "np" else ["CRF"]
        assert [row.name for row in task.rows] == [*WAYS, *crfs]
        assert [(p.bound, p.steps) for p in task.points] == [(b, n) for b in ("mass", "label") for n in STEPS]
        assert set(task.seconds) == set(task.iterations) == {"latent", *crfs}
        assert task.states == 3 * TASKS[task.task].latent
        mass = task.concentration
        assert all(0 < a <= b <= 1 + 1e-9 for a, b in pairwise(mass))
    np = report.find_task("np")
    assert np is not None
    assert np.learned == np.measured == 40
    assert all(0 < row.f1 <= 100 and 0 <= row.sentences <= 100 and row.seconds > 0 for row in np.rows)


def test_models_from_other_weights_and_tests_of_significance(report: LatentReport) -> None:
    for task in report.tasks:
        assert list(task.scores) == list(WAYS)
        assert all(len(scores) == 2 for scores in task.scores.values())
        assert [len(tests) for tests in task.seed_tests] == [len(task.tests)] * 2
        for name, scores in task.scores.items():
            first = task.find_row(name)
            assert first is not None
            assert scores[0] == first.f1
        pairs = [(test.first, test.second) for test in task.tests]
        assert pairs == [(a, b) for a, b in TESTED if b != "CRF, own prior" or task.task == "np"]
        for test in task.tests:
            first, second = task.find_row(test.first), task.find_row(test.second)
            assert first is not None
            assert second is not None
            gain = 100 * (test.only_first - test.only_second) / task.measured
            assert first.sentences - second.sentences == pytest.approx(gain)
            assert 0 < test.p <= 1


def test_the_loose_condition_stops_sooner_and_proves_less(report: LatentReport) -> None:
    for task in report.tasks:
        rows = [task.find_row(name) for name in WAYS if name == "LDI-E, mass" or "alpha" in name]
        assert len(rows) == 1 + len(SHARES)
        paths = [row.paths for row in rows if row is not None]
        assert paths == sorted(paths, reverse=True)
        exact = [row.exact for row in rows if row is not None]
        assert exact == sorted(exact, reverse=True)


@pytest.mark.parametrize(("first", "second", "p"), [(0, 0, 1.0), (5, 0, 0.0625), (1, 4, 0.375), (3, 3, 1.0)])
def test_mcnemar(first: int, second: int, p: float) -> None:
    right = {"a": np.repeat([True, False, True], [first, second, 2])}
    right["b"] = np.repeat([False, True, True], [first, second, 2])
    found = count_disagreements("a", "b", right)
    assert (found.only_first, found.only_second) == (first, second)
    assert found.p == pytest.approx(p)


def test_more_steps_prove_more_and_the_label_bound_never_takes_more_paths(report: LatentReport) -> None:
    for task in report.tasks:
        for steps in STEPS:
            mass, label = task.find_point("mass", steps), task.find_point("label", steps)
            assert mass is not None
            assert label is not None
            assert label.paths <= mass.paths <= steps
            assert label.exact >= mass.exact
        exact = [p.row.exact for p in task.points if p.bound == "label"]
        assert exact == sorted(exact)
        few, by_mass = task.find_row("LDI-A"), task.find_point("label", FEW)
        assert few is not None
        assert by_mass is not None
        assert (few.f1, few.paths) == (by_mass.f1, by_mass.paths)


def test_labels_of_noun_phrases_alone(data: Path) -> None:
    learned, tested = TASKS["np"].load(data, 7, 1)
    assert len(learned) == len(tested) == 7
    assert {tag for sentence in learned for tag in sentence.column("chunk")} == {"B-NP", "I-NP", "O"}


def test_entities_get_parts_of_speech(data: Path) -> None:
    learned, tested = TASKS["jnlpba"].load(data, None, 1)
    assert len(learned) == 50
    assert len(tested) == 25
    assert all(len(s.column("pos")) == len(s) for s in (*learned, *tested))


def test_templates_are_those_of_the_paper() -> None:
    assert len(WORDS.splitlines()) == 2 * 7
    rich = [line for line in RICH.splitlines() if not line.startswith("pair ")]
    assert [f"pair {line}" for line in rich] == RICH.splitlines()[len(rich) :]
    assert sum(line.startswith("pos") for line in rich) == 12
    assert sum(line.startswith("shape") for line in rich) == 9
    assert compile_templates(RICH).columns == ("word", "pos")


def row(name: str, f1: float, seconds: float = 1.0, paths: float = 1.0) -> InferenceRow:
    return InferenceRow(name, 50.0, f1, f1, f1, seconds, 90.0, paths)


def test_claims_hold_or_not(data: Path) -> None:
    found = TaskReport("np", "", 1, 1, seconds={"latent": 60.0, "CRF": 1.0})
    values = {"LDI-A": 91.17, "LDI-E": 91.16, "BMP": 91.0, "BHP": 90.91, "CRF": 90.63, "LDI-A + MBR": 91.3}
    found.rows = [row(name, f1, 2.5 if name == "LDI-A" else 1.0) for name, f1 in values.items()]
    made = LatentReport(LatentPlan(data=data, only=frozenset({"np"})), {}, [found])
    verdicts = {claim.text: claim.holds for claim in make_claims(made)}
    assert verdicts["np: LDI-E above CRF, F1"]
    assert verdicts["np: LDI-A + MBR above LDI-A, F1"]
    assert verdicts["np: time of LDI-A (n=30) over that of BHP"] is False
    assert verdicts["np: learning"]
    assert verdicts["np: 100 best + MBR above LDI-A, F1"] is None
    assert verdicts["jnlpba: learning"] is None
    quick = replace(made.plan, quick=True)
    assert {claim.holds for claim in make_claims(LatentReport(quick, {}, [found])) if "F1" in claim.text} == {
        None
    }


def test_it_is_shown_written_and_drawn(report: LatentReport, tmp_path: Path) -> None:
    console = Console(file=StringIO(), width=150)
    BENCHMARK.show(report, console)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    for words in (
        "noun phrases",
        "LDI-A + MBR",
        "10,000",
        "mass of the best latent paths",
        "without a mistake",
        "from 2 seeds",
        "from each seed",
        "what has to hold",
    ):
        assert words in text
    kept = json.loads(json.dumps(BENCHMARK.as_json(report)))
    assert [task["task"] for task in kept["tasks"]] == list(TASKS)
    assert len(kept["claims"]) == len(make_claims(report))
    BENCHMARK.draw(report, tmp_path / "r.svg")
    assert (tmp_path / "r.svg").stat().st_size > 10_000


def test_what_cannot_be_run_is_refused(data: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="there is no task 'pos' to run; there are np, jnlpba"):
        LatentPlan(data=data, only=frozenset({"pos"}))
    with pytest.raises(InvalidInput, match="there is no folder"):
        LatentPlan(data=tmp_path / "none")
    with pytest.raises(InvalidInput, match=r"np needs .*train.txt, which is not there"):
        LatentPlan(data=tmp_path)
    result = CliRunner().invoke(app, ["bench", "latent"], env={"CERTUS_DATA": ""})
    assert isinstance(result.exception, InvalidInput)


def test_the_command_line(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CERTUS_BENCH_READY", "1")
    arguments = [
        "bench",
        "latent",
        "--data",
        str(data),
        "--quick",
        "--only",
        "np",
        "--json",
        str(tmp_path / "j"),
    ]
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == 0
    assert f"n={MANY:,}" in result.stdout
    assert (tmp_path / "j").exists()


def test_kept_models_are_taken_again(data: Path, tmp_path: Path) -> None:
    plan = LatentPlan(data=data, quick=True, only=frozenset({"np"}), seeds=2, models=tmp_path / "kept")
    (first,), (again,) = run(plan).tasks, run(plan).tasks
    assert len(list((tmp_path / "kept").iterdir())) == 4  # two latent models, two CRFs
    assert set(first.seconds) == {"latent", "CRF", "CRF, own prior"}
    assert again.seconds == {}
    assert (again.features, again.states) == (first.features, first.states)
    assert (again.scores, again.seed_tests) == (first.scores, first.seed_tests)
    whole = LatentReport(replace(plan, quick=False), {}, [again])
    assert {claim.text: claim.holds for claim in make_claims(whole)}["np: learning"] is None


def test_priors_are_compared_on_held_out_sentences(data: Path) -> None:
    plan = LatentPlan(data=data, quick=True, only=frozenset({"np"}), variances=(0.1, 10.0))
    report = run(plan)
    (task,) = report.tasks
    assert (task.learned, task.measured) == (35, 5)
    assert [prior.variance for prior in task.priors] == [0.1, 10.0]
    assert all(0 < prior.crf <= 100 and 0 < prior.latent <= 100 for prior in task.priors)
    console = Console(record=True, width=200, file=StringIO())
    BENCHMARK.show(report, console)
    assert "F1 on held-out sentences" in console.export_text()


@pytest.mark.parametrize("variances", ["1,x", "0", "nan"])
def test_bad_variances_are_refused(data: Path, variances: str) -> None:
    with pytest.raises(InvalidInput, match="variances must be"):
        make_plan(data, variances=variances)
