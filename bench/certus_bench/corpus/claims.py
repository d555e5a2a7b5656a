"""What Certus promises about consistency, held against a report."""

from __future__ import annotations

from collections.abc import Iterator

from certus_bench.claims import Claim
from certus_bench.corpus.plan import SIZES, TARGETS, Report, Row


def claims(report: Report) -> list[Claim]:
    """Return every claim with what the report says about it."""
    return [*_errors(report), *_proofs(report), *_costs(report)]


def _errors(report: Report) -> Iterator[Claim]:
    for target in TARGETS:
        for size in SIZES:
            rows = [row for row in report.rows if (row.target, row.size) == (target, size)]
            least = min((row.unknown_reduction for row in rows), default=None)
            text = f"errors on unknown words gone, {target}, {size} sentences (least, with and without text)"
            yield Claim(text, 0.01, True, least, "%")
    largest = max((row.p for row in report.rows), default=None)
    yield Claim("chance of such a difference in accuracy (largest)", 0.05, False, largest, "")


def _proofs(report: Report) -> Iterator[Claim]:
    least = min((row.certified for row in report.rows), default=None)
    yield Claim("sentences certified (least)", 99, True, least, "%")


def _costs(report: Report) -> Iterator[Claim]:
    rows = report.rows
    whole = (
        sum(row.consistent.median for row in rows) / sum(row.tagging.median for row in rows) if rows else None
    )
    yield Claim("time over sentence by sentence, from words in memory, all runs together", 2, False, whole)
    timed = [row for row in rows if row.command is not None]
    yield Claim("time over sentence by sentence, of certus tag, all runs together", 2, False, _total(timed))
    last = max((row.shares[-1] for row in report.rows if row.shares), default=None)
    yield Claim("the last iteration's time over the first round of decoding (largest)", 0.05, False, last)


def _total(rows: list[Row]) -> float | None:
    pairs = [row.command for row in rows if row.command is not None]
    return sum(pair[1] for pair in pairs) / sum(pair[0] for pair in pairs) if pairs else None
