"""``sklearn_crfsuite.CRF`` is ``certus.CRF``."""

from __future__ import annotations

import sklearn_crfsuite

import certus


def pytest_configure() -> None:
    """Replace the class."""
    sklearn_crfsuite.CRF = certus.CRF
