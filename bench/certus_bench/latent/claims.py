"""What latent-dynamic inference has to show, held against a report."""

from __future__ import annotations

from collections.abc import Iterator

from certus_bench.claims import Claim
from certus_bench.latent.plan import FEW, MANY, Report, TaskReport
from certus_bench.latent.tasks import TASKS

EQUAL = 0.1  # points of F1 by which LDI-A and LDI-E may differ


def claims(report: Report) -> list[Claim]:
    """Return every claim with what the report says about it.

    A quick run learns too little to say anything about quality, the time of learning, or that of inference
    beside BHP: the less sure a model is, the longer LDI takes.
    """
    return [claim for name in TASKS for claim in _of_task(name, report.task(name), report.plan.quick)]


def _of_task(name: str, found: TaskReport | None, quick: bool) -> Iterator[Claim]:
    def f1(way: str) -> float | None:
        row = found.row(way) if found and not quick else None
        return None if row is None else row.f1

    few, many = f1("LDI-A"), f1("LDI-E")
    apart = None if few is None or many is None else abs(few - many)
    yield Claim(f"{name}: LDI-A and LDI-E differ, F1", EQUAL, False, apart, "points")
    for better, worse, by in (
        ("LDI-E", "BHP", 0.01),
        ("LDI-E", "BMP", 0.01),
        ("BHP", "CRF", 0.01),
        ("BMP", "CRF", 0.01),
        ("LDI-E", "CRF", 0.3 if name == "np" else 0.01),
        ("LDI-A + MBR", "LDI-A", 0.01),
        ("100 best + MBR", "LDI-A", 0.01),
    ):
        gain = _minus(f1(better), f1(worse))
        yield Claim(f"{name}: {better} above {worse}, F1", by, True, gain, "points")
    yield from _times(name, found, quick)


def _times(name: str, found: TaskReport | None, quick: bool) -> Iterator[Claim]:
    def seconds(way: str) -> float | None:
        row = found.row(way) if found and not quick else None
        return None if row is None else row.seconds

    text = f"{name}: time of LDI-A (n={FEW}) over that of BHP"
    yield Claim(text, 2, False, _over(seconds("LDI-A"), seconds("BHP")))
    mass, label = (found.point(bound, MANY) if found else None for bound in ("mass", "label"))
    ratio = _over(mass.paths, label.paths) if mass and label else None
    yield Claim(f"{name}: fewer latent paths by the label bound, n={MANY:,}", 1, True, ratio)
    ratio = _over(label.seconds, mass.seconds) if mass and label else None
    yield Claim(f"{name}: time of the label bound over that of the mass, n={MANY:,}", 1, False, ratio)
    minutes = found.seconds["latent"] / 60 if found and not quick else None
    yield Claim(f"{name}: learning", TASKS[name].minutes, False, minutes, "min")


def _minus(a: float | None, b: float | None) -> float | None:
    return None if a is None or b is None else a - b


def _over(a: float | None, b: float | None) -> float | None:
    return a / b if a is not None and b else None
