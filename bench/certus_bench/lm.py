"""``certus bench lm``: n-gram language models: training, perplexity, and queries beside KenLM's."""

from __future__ import annotations

import math
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from time import process_time
from typing import Annotated, Any

import typer
from rich.console import Group

import certus
from certus_bench.harness.benchmark import Benchmark, BenchmarkReport, Tell, keep_quiet
from certus_bench.harness.claims import Claim, divide
from certus_bench.harness.environment import describe_machine, find_versions
from certus_bench.harness.options import Data, check_data, require_data
from certus_bench.harness.tables import add_title, make_table

TRAIN, TEST = "align/hansard.train.en", "align/hansard.test.en"
COMPARED = 3000  # sentences whose words are held against KenLM's
# Perplexities of lmplz on these texts, with and without unknown words.
LMPLZ = {5: (105.2, 90.1), 3: (111.0, 95.0)}


@dataclass(frozen=True)
class LmPlan:
    """What to train on."""

    data: Path
    orders: tuple[int, ...] = (5, 3)
    repeats: int = 3


def make_plan(
    data: Data = None,
    repeats: Annotated[int, typer.Option(help="Trainings of each order.", metavar="NUMBER", min=1)] = 3,
) -> LmPlan:
    """Train language models on the English side of the Hansards, and ask them.

    Each training is a process of its own. Words are held against the `kenlm` package where it is installed;
    if some differ by more than 1e-5, the exit code is 1.
    """
    folder = require_data(data)
    check_data(folder)
    return LmPlan(data=folder, repeats=repeats)


@dataclass(frozen=True)
class OrderRow:
    """Models of one order."""

    order: int
    cpu: float  # seconds of one training in the median, start and writing included
    megabytes: float  # at the peak
    perplexity: float
    known: float  # without unknown words
    rate: float  # tokens per second of CPU time, all sentences in one call
    kenlm: float | None  # the same, line by line, which is how that package is asked
    difference: float | None  # the most that a word's log10 probability differs


@dataclass
class LmReport(BenchmarkReport):
    """What was found."""

    plan: LmPlan
    rows: list[OrderRow] = field(default_factory=list)


def run(plan: LmPlan, tell: Tell = keep_quiet) -> LmReport:
    """Train and ask."""
    report = LmReport(plan, describe_machine(find_versions("kenlm")))
    for number, order in enumerate(plan.orders):
        tell(f"order {order}", number / len(plan.orders))
        with tempfile.TemporaryDirectory() as folder:
            report.rows.append(_measure(report, order, Path(folder)))
    return report


def _measure(report: LmReport, order: int, folder: Path) -> OrderRow:
    train, test = report.plan.data / TRAIN, report.plan.data / TEST
    model = folder / "model.certus"
    runs = sorted(_train(train, model, order) for _ in range(report.plan.repeats))
    cpu, megabytes = runs[len(runs) // 2]
    loaded = certus.load(model)
    found = loaded.perplexity(test.read_text(encoding="utf-8").splitlines())
    lines = train.read_text(encoding="utf-8").splitlines()
    tokens = sum(len(line.split()) + 1 for line in lines)
    began = process_time()
    loaded.score_batch(lines)
    rate = tokens / (process_time() - began)
    kenlm, difference = None, None
    if find_spec("kenlm"):
        arpa = folder / "model.arpa"
        loaded.write_arpa(arpa)
        kenlm, difference = _compare(loaded, arpa, lines, tokens)
        if difference > 1e-5:
            report.fail(
                [f"order {order}: a word's log10 probability differs from KenLM's by {difference:.2g}"]
            )
    return OrderRow(order, cpu, megabytes, found.perplexity, found.known_perplexity, rate, kenlm, difference)


def _train(text: Path, model: Path, order: int) -> tuple[float, float]:
    """Train in a process of its own; return its CPU seconds and peak megabytes."""
    program = (
        "import resource; from certus.cli import main\n"
        "try: main()\n"
        "except SystemExit as end: assert not end.code, end.code\n"
        "used = resource.getrusage(resource.RUSAGE_SELF); "
        "print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)"
    )
    arguments = ["train", "lm", str(text), "-o", str(model), "--order", str(order)]
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True
    )
    cpu, megabytes = map(float, done.stdout.splitlines()[-1].split())
    return cpu, megabytes


def _compare(model: Any, arpa: Path, lines: list[str], tokens: int) -> tuple[float, float]:
    """Return KenLM's tokens per second, and the largest difference of a word."""
    other = import_module("kenlm").Model(str(arpa))
    began = process_time()
    for line in lines:
        other.score(line)
    rate = tokens / (process_time() - began)
    most = 0.0
    for line in lines[:COMPARED]:
        for ours, (theirs, _, _) in zip(model.score_words(line), other.full_scores(line), strict=False):
            most = max(most, abs(ours.score / math.log(10) - theirs))
    return rate, most


def make_claims(report: LmReport) -> list[Claim]:
    """Return what is promised, with what was measured."""
    made = []
    for row in report.rows:
        whole, known = LMPLZ[row.order]
        what = f"order {row.order}"
        if row.order == 5:
            made.append(Claim(f"{what}: training, CPU s", 2.0, False, row.cpu, "s"))
        for name, ours, theirs in (("", row.perplexity, whole), (", known words", row.known, known)):
            away = abs(round(ours, 1) - theirs)
            made.append(Claim(f"{what}{name}: perplexity away from lmplz's {theirs}", 0.05, False, away, ""))
        made.append(Claim(f"{what}: queries over kenlm's", 1.0, True, divide(row.rate, row.kenlm), "x"))
    return made


def lay_out(report: LmReport) -> Iterator[Group]:
    """Yield the table."""
    table = make_table(
        "order", "CPU s", "MB", "perplexity", "known words", "M tokens/s", "kenlm", "largest difference"
    )
    for row in report.rows:
        table.add_row(
            str(row.order),
            f"{row.cpu:.2f}",
            f"{row.megabytes:.0f}",
            f"{row.perplexity:.2f}",
            f"{row.known:.2f}",
            f"{row.rate / 1e6:.1f}",
            "" if row.kenlm is None else f"{row.kenlm / 1e6:.1f}",
            "" if row.difference is None else f"{row.difference:.1g}",
        )
    yield add_title("language models: training in a process of its own, one thread", table)


BENCHMARK = Benchmark(name="lm", make_plan=make_plan, run=run, lay_out=lay_out, make_claims=make_claims)
