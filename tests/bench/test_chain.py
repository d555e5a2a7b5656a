"""The benchmark itself: that it times all it promises, notices wrong answers, and writes what it found."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from certus.chain import METHODS
from certus.errors import CertusError, InvalidInput
from certus_bench import chain
from certus_bench.chain import (
    BENCHMARK,
    ChainPlan,
    ChainReport,
    format_microseconds,
    make_claims,
    make_plan,
    run,
)
from certus_bench.entries import FLOOR, Entry, list_entries, select_entries
from certus_bench.harness.benchmark import store
from certus_bench.harness.pictures import check_picture
from certus_bench.harness.timing import Spread, Stopwatch
from certus_bench.lattices import draw
from certus_bench.referee import Referee, Row, time_entries

SMALL = ChainPlan(sizes=((9, 4), (40, 3)), seconds=0.001, sentences=2, whole=False)


@pytest.fixture(scope="module")
def report() -> ChainReport:
    return run(SMALL)


def test_every_method_is_timed_on_every_lattice_and_size(report: ChainReport) -> None:
    assert report.failures == []
    for size in SMALL.sizes:
        for lattice in SMALL.lattices:
            for name, method in METHODS.items():
                if method.one:
                    assert report.seconds(name, size, lattice), name
                if method.many:
                    assert report.seconds(name, size, lattice, k=5), name
            assert report.seconds("NumPy", size, lattice)
            assert report.seconds(FLOOR, size, lattice)


def test_whole_calls_are_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chain, "CROWD", 20)
    monkeypatch.setattr(chain, "LONG", 5)
    found = run(replace(SMALL, sizes=((9, 4),), lattices=("ties",), methods=("viterbi",), whole=True))
    assert found.failures == []
    assert {item.what for item in found.whole} >= {
        "one by one",
        "batch of 64",
        "call",
        "threads=1",
        "threads=2",
    }
    assert found.whole_seconds("call", "auto", chain.CALL_SIZE)


def test_a_wrong_answer_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def worst(sample: Any) -> list[Any]:
        return [partial(np.argmin, emissions, axis=1) for emissions in sample.sentences]

    liar = replace(next(e for e in list_entries() if e.name == "NumPy"), name="liar", load=worst)
    monkeypatch.setattr(chain, "select_entries", lambda _: [liar])
    failures = run(SMALL).failures
    assert len(failures) == len(SMALL.sizes) * len(SMALL.lattices)
    assert "liar, peaked 9×4, sentence 0: score" in failures[0]


def test_the_referee_wants_the_bound_of_an_approximate_method_to_hold() -> None:
    sample = draw("ties", 9, 4)
    referee = Referee(sample, "here")
    best = referee.best(0, 1)[0]
    referee.enclose("fine", 0, best - 1, best)
    assert not referee.failures
    referee.enclose("boast", 0, best - 1, best - 0.5)
    assert "boast, here, sentence 0" in referee.failures[0]


def test_best_scores_are_found_before_the_clock_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    def find_best(referee: Referee, index: int, k: int) -> Any:
        found.append((index, k))
        return np.zeros(k)

    def begin_timing(watches: Any, tick: Any) -> None:
        assert found == [(0, 1), (1, 1), (0, 5), (1, 5)]
        for watch in watches:
            watch.turn()

    found: list[tuple[int, int]] = []
    monkeypatch.setattr(Referee, "best", find_best)
    monkeypatch.setattr("certus_bench.referee.race", begin_timing)
    sample = draw("ties", 9, 4, sentences=2)
    sample = replace(sample, sentences=(sample.sentences[0], sample.sentences[1][:3]))
    rows, _ = time_entries(sample, "ties", "here", select_entries([FLOOR, "viterbi", "viterbi-astar"]), 0.001)
    assert [row.stats.get("tokens") for row in rows] == [None, 3.5, 3.5]


def test_a_slow_call_is_made_once() -> None:
    clock = Stopwatch([lambda: sum(range(200_000))] * 3, lambda _, __: None, 1e-6)
    clock.turn()
    clock.turn()
    assert (clock.once, clock.count, clock.inputs) == (True, 1, 1)


def test_a_fast_call_is_made_often_on_all_inputs() -> None:
    clock = Stopwatch([lambda: None] * 3, lambda _, __: None, 0.01)
    for _ in range(3):
        clock.turn(1 / 3)
    assert not clock.once
    assert clock.inputs == 3
    assert clock.spread.low <= clock.spread.median <= clock.spread.high


def test_claims_compare_times_of_one_run() -> None:
    def row(method: str, seconds: float) -> Row:
        return Row("peaked", 319, 23, method, "certus", 1, Spread(seconds, seconds, seconds), 1, 1, False)

    found = ChainReport(
        ChainPlan(), {}, [row("viterbi", 30e-6), row("auto", 1e-6), row("pytorch-crf", 60e-6)]
    )
    made = {claim.text: claim for claim in make_claims(found)}
    fast = made["auto faster than viterbi, peaked 319×23"]
    slow = made["viterbi faster than pytorch-crf, 319×23 (least over lattices)"]
    unknown = made["auto faster than viterbi, peaked 2602×22"]
    assert fast.measured == pytest.approx(30)
    assert slow.measured == pytest.approx(2)
    assert unknown.measured is None
    assert [claim.holds for claim in (fast, slow, unknown)] == [True, False, None]


def test_tables_and_json(report: ChainReport, tmp_path: Path) -> None:
    console = Console(width=200, record=True, file=StringIO())
    BENCHMARK.show(report, console)
    text = console.export_text()
    assert "peaked lattices, k=1: µs per sentence, median [quartiles]" in text
    assert "what has to hold" in text
    path = tmp_path / "report.json"
    store(BENCHMARK.as_json(report), path)
    stored = json.loads(path.read_text(encoding="utf-8"))
    assert len(stored["rows"]) == len(report.rows)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("seconds", "text"), [(1.234e-6, "1.23"), (99.96e-6, "100"), (12e-6, "12.0"), (1.5, "1,500,000")]
)
def test_times_have_three_digits(seconds: float, text: str) -> None:
    assert format_microseconds(seconds) == text


@pytest.mark.parametrize("suffix", [".png", ".svg"])
def test_picture(report: ChainReport, tmp_path: Path, suffix: str) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / f"chain{suffix}"
    BENCHMARK.draw(report, path)
    assert path.stat().st_size > 1000


def test_a_picture_of_an_unknown_kind_is_refused() -> None:
    with pytest.raises(CertusError, match=r"\.png"):
        check_picture(Path("chain.gif"))


def test_names_choose_entries_of_every_k() -> None:
    assert [(entry.name, entry.k) for entry in select_entries(["auto"])] == [("auto", 1), ("auto", 5)]
    assert all(isinstance(entry, Entry) and entry.usual for entry in select_entries(None))
    with pytest.raises(InvalidInput, match="is unknown; choose from"):
        select_entries(["fastest"])


def test_options_become_a_plan() -> None:
    options: dict[str, Any] = {"lattices": "", "methods": "", "dtype": "float32", "seconds": 1.0, "seed": 0}
    plan = make_plan(sizes="45x23, 7×3", quick=True, **options)
    assert plan.sizes == ((45, 23), (7, 3))
    assert plan.seconds == pytest.approx(0.1)
    assert plan.methods is None
    for wrong in ("45", "1x5", "5x0", "ax3"):
        with pytest.raises(InvalidInput, match="LABELSxLENGTH"):
            make_plan(sizes=wrong, quick=False, **options)
    with pytest.raises(InvalidInput, match="kind of lattice"):
        make_plan(sizes="", quick=False, **{**options, "lattices": "round"})
