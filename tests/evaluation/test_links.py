"""Alignment error rate, by hand."""

from __future__ import annotations

import pytest

import certus
from certus.evaluation.links import compare_links, compare_reports
from certus.formats.pharaoh import parse_links

GOLD = [parse_links("0-0 1-1 2p2"), parse_links("0p0")]


def test_counts() -> None:
    report = compare_links(GOLD, [parse_links("0-0 2-2 3-3"), parse_links("1-1")])
    assert report.totals == (4, 2, 1, 2)
    assert report.precision == 2 / 4
    assert report.recall == 1 / 2
    assert report.aer == pytest.approx(1 - (1 + 2) / (4 + 2))
    assert report.as_dict()["aer"] == report.aer
    assert compare_links(GOLD, GOLD).aer == 0
    nothing = compare_links(GOLD, [parse_links(""), parse_links("")])
    assert (nothing.precision, nothing.recall, nothing.aer) == (1.0, 0.0, 1.0)


def test_differences() -> None:
    gold = [parse_links("0-0 1-1")] * 50
    good = compare_links(gold, [parse_links("0-0 1-1")] * 45 + [parse_links("0-0")] * 5)
    bad = compare_links(gold, [parse_links("0-0 1-2")] * 50)
    found = compare_reports(good, bad)
    assert found.difference == good.aer - bad.aer
    assert found.low <= found.difference <= found.high < 0
    assert found.p < 0.01
    assert compare_reports(good, good).p == 1


def test_refusals() -> None:
    for gold, predicted, which in ((GOLD, GOLD[:1], "predicted"), (GOLD[:1], GOLD, "gold")):
        with pytest.raises(certus.InvalidInput, match=f"no {which} line 2"):
            compare_links(gold, predicted)
    with pytest.raises(certus.InvalidInput, match="no sentence pair"):
        compare_links([], [])
