"""What has to hold of refinement HMMs, held against a report."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from certus_bench.claims import Claim
from certus_bench.refinement.plan import Report

LEAST = 8  # hidden states from which on the spectral estimate has to be good


def claims(report: Report) -> list[Claim]:
    """Return every claim with what the report says about it."""
    return [*_consistent(report), *_accurate(report)]


def _consistent(report: Report) -> Iterator[Claim]:
    yield Claim("slope of log error over log sample, spectral, known model", -0.4, False, report.slope, "")
    found = [row.relative for row in report.errors if row.what == "spectral"]
    falls = [late < early for early, late in pairwise(found)]
    share = 100 * sum(falls) / len(falls) if falls else None
    text = "steps of the sample at which the relative error of marginals falls"
    yield Claim(text, 100, True, share, "%")


def _accurate(report: Report) -> Iterator[Claim]:
    plain = next(iter(report.rows("states", "HMM")), None)
    large = [row for row in report.rows("states", "spectral") if row.hidden >= LEAST]
    gain = min(row.test for row in large) - plain.test if plain and large else None
    yield Claim(
        f"accuracy of spectral over the plain HMM, least over m ≥ {LEAST}, test", 0, True, gain, "points"
    )
    ours, theirs = report.best("states", "spectral", LEAST), report.best("states", "EM")
    lag = theirs.test - ours.test if ours and theirs else None
    text = f"accuracy that the best spectral (m ≥ {LEAST}) lacks of the best EM, both chosen on dev, test"
    yield Claim(text, 0.5, False, lag, "points")
    for row in large:
        same = [em for em in report.rows("states", "EM") if em.hidden == row.hidden]
        if same:
            text = f"accuracy that spectral({row.hidden}) lacks of EM({row.hidden}), test"
            yield Claim(text, 0.5, False, same[0].test - row.test, "points")
    ratio = theirs.seconds / ours.seconds if ours and theirs else None
    yield Claim("training time of the best EM, all restarts, over that of the best spectral", 5, True, ratio)
