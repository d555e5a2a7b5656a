"""certus bench hiero, on pairs made up here."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from certus_bench.harness.benchmark import keep_quiet
from certus_bench.hiero import BENCHMARK, make_plan
from certus_bench.hiero_report import DECODERS, OPTIMAL
from tests.models.test_translator import make_pairs


def write_corpus(folder: Path) -> None:
    corpus = folder / "mt/multi30k"
    corpus.mkdir(parents=True)
    for part in ("train", "val", "test2016"):
        for language, side in (("de", 0), ("en", 1)):
            lines = [" ".join(pair[side]) for pair in make_pairs()]
            (corpus / f"{part}.{language}").write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_every_decoder_is_measured_and_checked(tmp_path: Path) -> None:
    write_corpus(tmp_path)
    plan = make_plan(tmp_path, count=3, model=tmp_path / "de.certus")
    report = BENCHMARK.run(plan, keep_quiet)
    assert not report.failures
    assert {row.decoder for row in report.rows} == set(DECODERS)
    first = report.rows[0]
    assert (first.decoder, first.proven, first.errors) == (OPTIMAL, 100, 0)
    assert (tmp_path / "de.certus").is_file()
    text = io.StringIO()
    BENCHMARK.show(report, Console(file=text, width=200))
    assert "search errors" in text.getvalue()
    assert BENCHMARK.as_json(report)["rows"]


def test_parts_and_programs_are_counted(tmp_path: Path) -> None:
    pytest.importorskip("highspy")
    write_corpus(tmp_path)
    plan = make_plan(tmp_path, count=3, options=3, decoders="coarse-to-fine,tightening,lp")
    report = BENCHMARK.run(plan, keep_quiet)
    assert not report.failures
    optimal, tightening, program = report.rows
    assert optimal.within[-1] == 100
    assert optimal.parts == []
    assert len(tightening.parts) == 3
    assert min(tightening.parts) >= 1
    assert program.fractional is not None
    text = io.StringIO()
    BENCHMARK.show(report, Console(file=text, width=200))
    assert "one part" in text.getvalue()
    assert "is fractional" in text.getvalue()
