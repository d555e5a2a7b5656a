"""What the tests of benchmarks share."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep benchmarks from starting the process anew, which would be that of the tests."""
    monkeypatch.setenv("CERTUS_BENCH_READY", "1")
