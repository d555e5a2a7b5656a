"""Phrase pairs against all spans, and their counts."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

import certus
from certus.align import PhrasePair, extract_phrases
from certus.align.solution import Link
from certus.evaluation.phrases import compare_phrases, is_allowed
from certus.formats.pharaoh import parse_links


def extract_slowly(links: set[Link], sources: int, targets: int, longest: int) -> list[PhrasePair]:
    """Try all pairs of spans."""
    spans = product(range(sources), range(1, sources + 1), range(targets), range(1, targets + 1))
    return [
        pair
        for pair in (PhrasePair(*span) for span in spans)
        if 0 < pair.source_end - pair.source_begin <= longest
        and 0 < pair.target_end - pair.target_begin <= longest
        and any(pair.holds(link) for link in links)
        and all(pair.holds_source(i) == pair.holds_target(j) for i, j in links)
    ]


def test_all_spans() -> None:
    rng, count = Random(4), 0
    for _ in range(300):
        sources, targets, longest = rng.randint(0, 6), rng.randint(0, 6), rng.randint(1, 7)
        links = {
            (i, j) for i in range(sources) for j in range(targets) if rng.random() < rng.choice([0.1, 0.3])
        }
        found = extract_phrases(links, sources, targets, max_length=longest)
        assert found == sorted(extract_slowly(links, sources, targets, longest))
        count += len(found)
    assert count > 900


def test_refusals() -> None:
    with pytest.raises(certus.InvalidInput, match="link 2-0 is outside"):
        extract_phrases([(2, 0)], 2, 2)
    with pytest.raises(certus.InvalidInput, match="max_length"):
        extract_phrases([(0, 0)], 1, 1, max_length=0)


def test_possible_links_do_not_bind() -> None:
    """A phrase pair may cut a possible link, and may rest on one; a sure link it may not cut."""
    gold = parse_links("0-0 1p1 2-2")
    assert is_allowed(PhrasePair(0, 1, 0, 1), gold)
    assert is_allowed(PhrasePair(1, 2, 1, 2), gold)
    assert is_allowed(PhrasePair(0, 2, 0, 1), gold)
    assert not is_allowed(PhrasePair(0, 1, 0, 3), gold)
    assert not is_allowed(PhrasePair(1, 2, 0, 1), gold)


def test_counts() -> None:
    gold, predicted = [parse_links("0-0 1-1")], [parse_links("0-0 1-0 1-1")]
    report = compare_phrases(gold, predicted)
    assert (report.predicted, report.allowed, report.gold, report.found) == (1, 1, 3, 1)
    assert report.precision == 1
    assert report.recall == pytest.approx(1 / 3)
    assert report.f1 == pytest.approx(0.5)
    assert compare_phrases([parse_links("")], [parse_links("")]).f1 == 1
