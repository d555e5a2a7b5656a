"""What Certus promises about its speed, held against a report: ratios of times from one run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from certus_bench.entries import K
from certus_bench.plan import SIZES, Report, Size
from certus_bench.whole import BATCH, CALL_SIZE, CROWD, CROWD_SIZE

_LARGEST = SIZES[-1]


@dataclass(frozen=True)
class Claim:
    """A figure, mostly a ratio of two times, and what it has to be.

    Attributes:
        text: what is claimed, with the size it is claimed for.
        needed: the limit.
        least: whether the limit is the least (or, if False, the most) that the figure may be.
        measured: the figure, or None if the run did not time what it takes.
        unit: of both; ``×`` for a ratio.
    """

    text: str
    needed: float
    least: bool
    measured: float | None
    unit: str = "×"

    @property
    def holds(self) -> bool | None:
        """Whether the claim holds; None if it was not measured."""
        if self.measured is None:
            return None
        return self.measured >= self.needed if self.least else self.measured <= self.needed

    def as_json(self) -> dict[str, Any]:
        """Return all of it, and whether it holds."""
        return {**asdict(self), "holds": self.holds}


def claims(report: Report) -> list[Claim]:
    """Return every claim with what the report says about it."""
    return [*_dense(report), *_automatic(report), *_many(report), *_whole(report)]


def _dense(report: Report) -> Iterator[Claim]:
    for size in SIZES:
        ratios = [
            _over(report.seconds("pytorch-crf", size, lattice), report.seconds("viterbi", size, lattice))
            for lattice in report.plan.lattices
        ]
        known = [ratio for ratio in ratios if ratio is not None]
        text = f"viterbi faster than pytorch-crf, {_at(size)} (least over lattices)"
        yield Claim(text, 25, True, min(known, default=None))
    alone = report.whole_seconds("one by one", "viterbi", _LARGEST)
    together = report.whole_seconds(f"batch of {BATCH}", "viterbi", _LARGEST)
    text = f"viterbi faster a sentence in a batch of {BATCH} than one by one, {_at(_LARGEST)}"
    yield Claim(text, 2, True, _over(alone, together))


def _automatic(report: Report) -> Iterator[Claim]:
    for size, needed in zip(SIZES[1:], (15, 20, 250), strict=True):
        ratio = _over(report.seconds("viterbi", size, "peaked"), report.seconds("auto", size, "peaked"))
        yield Claim(f"auto faster than viterbi, peaked {_at(size)}", needed, True, ratio)
    for size in SIZES:
        ratio = _over(report.seconds("auto", size, "flat"), report.seconds("viterbi", size, "flat"))
        yield Claim(f"auto's time over viterbi's, flat {_at(size)}", 1.25, False, ratio)


def _many(report: Report) -> Iterator[Claim]:
    for size in SIZES:
        ratio = _over(report.seconds("auto", size, "peaked", K), report.seconds("auto", size, "peaked"))
        yield Claim(f"auto's time for k={K} over k=1, peaked {_at(size)}", 3, False, ratio)
    for size, needed in ((SIZES[1], 5), (_LARGEST, 100)):
        ratio = _over(
            report.seconds("viterbi-astar", size, "peaked", K), report.seconds("auto", size, "peaked", K)
        )
        yield Claim(f"auto faster than viterbi-astar, k={K}, peaked {_at(size)}", needed, True, ratio)


def _whole(report: Report) -> Iterator[Claim]:
    for method in ("viterbi", "auto"):
        kernel = [
            report.whole_seconds(what, method, CALL_SIZE) for what in ("in a batch", "in a long sentence")
        ]
        least = min((seconds for seconds in kernel if seconds), default=None)
        ratio = _over(report.whole_seconds("call", method, CALL_SIZE), least)
        yield Claim(f"a whole call of {method} over its kernel's time, {_at(CALL_SIZE)}", 2.5, False, ratio)
    for method in ("viterbi", "auto"):
        one, two = (report.whole_seconds(f"threads={n}", method, CROWD_SIZE) for n in (1, 2))
        text = f"two threads faster than one, {method}, batch of {CROWD:,}, {_at(CROWD_SIZE)}"
        yield Claim(text, 1.7, True, _over(one, two))


def _over(numerator: float | None, denominator: float | None) -> float | None:
    return numerator / denominator if numerator is not None and denominator else None


def _at(size: Size) -> str:
    return f"{size[0]}×{size[1]}"
