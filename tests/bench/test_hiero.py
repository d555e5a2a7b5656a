"""certus bench hiero, on pairs made up here."""

from __future__ import annotations

import io
from pathlib import Path

from rich.console import Console

from certus_bench.harness.benchmark import keep_quiet
from certus_bench.hiero import BENCHMARK, DECODERS, OPTIMAL, make_plan
from tests.models.test_translator import make_pairs


def test_every_decoder_is_measured_and_checked(tmp_path: Path) -> None:
    corpus = tmp_path / "mt/multi30k"
    corpus.mkdir(parents=True)
    for part in ("train", "val", "test2016"):
        for language, side in (("de", 0), ("en", 1)):
            lines = [" ".join(pair[side]) for pair in make_pairs()]
            (corpus / f"{part}.{language}").write_text("\n".join(lines) + "\n", encoding="utf-8")
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
