"""certus bench translate, on tables made up here."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from certus.errors import InvalidInput
from certus_bench import translate_systems
from certus_bench.harness.benchmark import keep_quiet
from certus_bench.translate import BENCHMARK, make_plan
from certus_bench.translate_report import OPTIMAL, PROGRAM, TranslatePlan
from tests.models.test_translator import make_pairs, write_tables


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder of tables and of Multi30k, both tiny."""
    toy, corpus = tmp_path / "mt", tmp_path / "mt/multi30k"
    corpus.mkdir(parents=True)
    table, model = write_tables(toy)
    table.rename(toy / "tm")
    model.write_arpa(toy / "lm.arpa")
    (toy / "input").write_text("das Haus\nHaus das Haus\n", encoding="utf-8")
    for part in ("train", "val", "test2016"):
        for language, side in (("fr", 0), ("en", 1)):
            lines = [" ".join(pair[side]) for pair in make_pairs()]
            (corpus / f"{part}.{language}").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "align").mkdir()
    for language, side in (("fr", 0), ("en", 1)):
        lines = [" ".join(pair[side]) for pair in make_pairs()]
        (tmp_path / f"align/hansard.train.{language}").write_text(
            "\n".join(lines * 2) + "\n", encoding="utf-8"
        )
    return tmp_path


def test_every_decoder_is_measured_and_checked(data: Path) -> None:
    plan = make_plan(data, languages="mt,fr", limits="4", count=3)
    assert OPTIMAL in plan.decoders
    report = BENCHMARK.run(plan, keep_quiet)
    assert not report.failures
    for system in ("mt", "fr"):
        line = report.find(system, 4, OPTIMAL)
        assert line is not None
        assert line.certified == 100
        assert line.exact == 100
    assert report.find("mt", 4, "stack 100, gaps") is not None
    assert set(report.program) == {"mt, limit 4", "fr, limit 4"}
    assert report.bleu["fr, limit 4"][OPTIMAL] > 50
    text = io.StringIO()
    BENCHMARK.show(report, Console(file=text, width=200))
    assert "where the time goes" in text.getvalue()
    assert PROGRAM in text.getvalue()
    BENCHMARK.draw(report, data / "gaps.svg")
    assert BENCHMARK.as_json(report)["lines"]


def test_a_decoder_gets_no_more_sentences_when_its_time_is_over(data: Path) -> None:
    plan = make_plan(
        data, languages="mt", limits="4", decoders="optimal-beam,lagrangian; started", seconds=1e-9
    )
    report = BENCHMARK.run(plan, keep_quiet)
    ours, theirs = (report.find("mt", 4, name) for name in (OPTIMAL, "lagrangian, started"))
    assert ours is not None
    assert theirs is not None
    assert (ours.sentences, theirs.sentences) == (2, 1)


def test_pairs_of_the_hansards_are_held_out(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(translate_systems, "HELD_OUT", 5)
    train, dev, test = translate_systems._read_hansards(data, "hansard", "")
    assert (len(dev), len(test)) == (5, 5)
    whole = [tuple(map(tuple, pair)) for pair in [*train, *dev, *test]]
    assert len(whole) == len(set(whole)) == len({tuple(map(tuple, pair)) for pair in make_pairs()})
    report = BENCHMARK.run(
        make_plan(data, languages="hansard", limits="4", decoders=OPTIMAL, count=3), keep_quiet
    )
    assert report.bleu["hansard, limit 4"][OPTIMAL] > 0


def test_bad_plans_are_refused(data: Path) -> None:
    with pytest.raises(InvalidInput, match="no decoder"):
        TranslatePlan(data=data, decoders=("magic",))
    with pytest.raises(InvalidInput, match="there is no"):
        TranslatePlan(data=data, languages=("tlh",))
