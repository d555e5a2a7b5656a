"""How fast aligners learn and align, and how good they are for pairs that they did not learn from.

Run as a program, it does one part in a process of its own, so that memory can be told, and prints it as JSON.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from rich.console import Group

import certus
from certus.evaluation.links import compare_links
from certus.formats.parallel import read_pairs
from certus.formats.pharaoh import GoldLinks, read_links
from certus_bench.harness.claims import Claim
from certus_bench.harness.tables import add_title, make_table

Answer = TypeVar("Answer")
MANY = 20_000  # training pairs that are aligned for the rates
REPEATS = 3  # of that: the least time counts, since other work makes all of them longer


@dataclass
class SpeedReport:
    """What was measured; all seconds are of the processor, so that other work matters little."""

    hmm_seconds: float  # 5 x IBM 1 and 5 x HMM in both directions, reading included; of both threads together
    hmm_megabytes: float
    best_seconds: float  # of the default model
    best_megabytes: float
    directional_rate: float  # pairs per second, one thread
    exact_rate: float
    directional_median: float  # seconds of one new pair
    directional_slowest: float
    exact_median: float
    exact_slowest: float
    proven: int  # of the gold pairs
    gold: int
    unseen_aer: float
    unseen_aer_held_out: float


def run(folder: Path, pairs: int, tuning: int) -> SpeedReport:
    """Measure everything."""
    parts: dict[str, Any] = {}
    for part in ("hmm", "best"):
        command = [
            sys.executable,
            "-m",
            "certus_bench.align_speed",
            part,
            str(folder),
            str(pairs),
            str(tuning),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        parts |= json.loads(done.stdout.splitlines()[-1])
    return SpeedReport(**parts)


def _read(folder: Path, pairs: int) -> Iterator[tuple[list[str], list[str]]]:
    files = folder / "hansard.train.en", folder / "hansard.train.fr"
    return ((pair.source, pair.target) for pair in islice(read_pairs(*files), pairs))


def _measure_memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(call: Callable[[], Answer]) -> tuple[float, Answer]:
    """Return the processor's seconds that a call takes, and its answer."""
    began = time.process_time()
    answer = call()
    return time.process_time() - began, answer


def _train_hmm(folder: Path, pairs: int) -> dict[str, Any]:
    seconds, _ = measure(lambda: certus.Aligner(model="hmm").fit_pairs(_read(folder, pairs), threads=2))
    return {"hmm_seconds": seconds, "hmm_megabytes": _measure_memory()}


def _use_best(folder: Path, pairs: int, tuning: int) -> dict[str, Any]:
    seconds, aligner = measure(lambda: certus.Aligner().fit_pairs(_read(folder, pairs)))
    found = {"best_seconds": seconds, "best_megabytes": _measure_memory()}
    source, target = (list(side) for side in zip(*_read(folder, min(MANY, pairs)), strict=True))
    test = list(read_pairs(folder / "hansard.test.en", folder / "hansard.test.fr"))
    gold = list(read_links(folder / "hansard.test.gold"))
    for name, method in (("directional", "forward"), ("exact", "exact")):
        seconds = min(measure(_bind(aligner, source, target, method))[0] for _ in range(REPEATS))
        found[f"{name}_rate"] = len(source) / seconds
        timed = [measure(_bind(aligner, [pair.source], [pair.target], method)) for pair in test]
        taken = [seconds for seconds, _ in timed]
        found |= {f"{name}_median": float(np.median(taken)), f"{name}_slowest": max(taken)}
        answers = [answer[0] for _, answer in timed]
    links = [GoldLinks(frozenset(one.links), frozenset(one.links)) for one in answers]
    return {
        **found,
        "proven": sum(one.optimal for one in answers),
        "gold": len(gold),
        "unseen_aer": compare_links(gold, links).aer,
        "unseen_aer_held_out": compare_links(gold[tuning:], links[tuning:]).aer,
    }


def _bind(
    aligner: certus.Aligner, source: list[list[str]], target: list[list[str]], method: str
) -> Callable[[], Any]:
    return lambda: aligner.align_batch(source, target, method=method)


def make_claims(report: SpeedReport, pairs: int) -> list[Claim]:
    """Return what is promised for 100,000 pairs, with what was measured."""
    if pairs != 100_000:
        return []
    return [
        Claim("training 5 × IBM 1 + 5 × HMM, both ways, CPU", 20.0, False, report.hmm_seconds, "s"),
        Claim("its memory", 1024.0, False, report.hmm_megabytes, "MB"),
        Claim("training the best model, CPU", 60.0, False, report.best_seconds, "s"),
        Claim("its memory", 300.0, False, report.best_megabytes, "MB"),
        Claim("aligning, one direction", 20_000.0, True, report.directional_rate, "pairs/s"),
        Claim("aligning, both, proven", 200.0, True, report.exact_rate, "pairs/s"),
        Claim("a new pair, one direction, median", 1.0, False, 1e3 * report.directional_median, "ms"),
        Claim("a new pair, both, median", 20.0, False, 1e3 * report.exact_median, "ms"),
        Claim("a new pair, both, slowest", 1000.0, False, 1e3 * report.exact_slowest, "ms"),
        Claim("gold pairs proven", 100.0, True, 100 * report.proven / max(report.gold, 1), "%"),
        Claim("AER of pairs that were not learned from", 8.5, False, 100 * report.unseen_aer, "%"),
    ]


def lay_out(report: SpeedReport) -> Group:
    """Return a table."""
    table = make_table("speed", "")
    rows = {
        "training 5 × IBM 1 + 5 × HMM, both ways, CPU": f"{report.hmm_seconds:.1f} s",
        "its memory": f"{report.hmm_megabytes:.0f} MB",
        "training the best model, CPU": f"{report.best_seconds:.1f} s",
        "its memory ": f"{report.best_megabytes:.0f} MB",
        "aligning, one direction": f"{report.directional_rate:,.0f} pairs/s",
        "aligning, both, proven": f"{report.exact_rate:,.0f} pairs/s",
        "a new pair, one direction: median and slowest": _format(
            report.directional_median, report.directional_slowest
        ),
        "a new pair, both: median and slowest": _format(report.exact_median, report.exact_slowest),
        "gold pairs proven": f"{report.proven} of {report.gold}",
        "AER of unseen pairs (without those for tuning)": (
            f"{100 * report.unseen_aer:.2f} ({100 * report.unseen_aer_held_out:.2f}) %"
        ),
    }
    for name, value in rows.items():
        table.add_row(name, value)
    return add_title("learning from the training pairs only; seconds of the processor", table)


def _format(median: float, slowest: float) -> str:
    return f"{1e3 * median:.3f} and {1e3 * slowest:.2f} ms"


def main() -> None:
    """Run the part that the command line names."""
    part, folder, pairs, tuning = sys.argv[1:]
    if part == "hmm":
        found = _train_hmm(Path(folder), int(pairs))
    else:
        found = _use_best(Path(folder), int(pairs), int(tuning))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
