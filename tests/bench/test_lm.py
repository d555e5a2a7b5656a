"""The benchmark of language models: that it trains what it says, and tells what it found."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import certus
from certus_bench import lm
from certus_bench.lm import LmPlan, OrderRow, make_claims, run


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    rng = np.random.default_rng(0)
    (folder / "align").mkdir()
    for name, count in ((lm.TRAIN, 300), (lm.TEST, 20)):
        lines = [" ".join(f"w{x}" for x in rng.zipf(1.5, 8) % 90) for _ in range(count)]
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def test_a_model_is_trained_and_asked(data: Path, tmp_path: Path) -> None:
    report = run(LmPlan(data, orders=(3,), repeats=1))
    assert report.failures == []
    (row,) = report.rows
    trained = certus.LanguageModel(order=3).fit(data / lm.TRAIN)
    expected = trained.perplexity((data / lm.TEST).read_text(encoding="utf-8").splitlines())
    assert row.perplexity == pytest.approx(expected.perplexity)
    assert 0 < row.known <= row.perplexity
    assert row.cpu > 0
    assert row.megabytes > 10
    assert len(list(lm.lay_out(report))) == 1


def test_claims_compare_with_what_was_measured() -> None:
    report = lm.LmReport(LmPlan(Path()), {}, [OrderRow(5, 1.0, 1.0, 105.24, 90.3, 4e6, 2e6, 0.0)])
    assert [claim.holds for claim in make_claims(report)] == [True, True, False, True]
