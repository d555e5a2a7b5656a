"""Carries out ``certus bench NAME``: measures, shows, writes and draws."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from certus.cli.outputs import check_outputs
from certus.errors import CertusError
from certus_bench.harness.benchmark import Benchmark, BenchmarkReport, store
from certus_bench.harness.environment import restart_tuned
from certus_bench.harness.pictures import check_picture


def carry_out(
    benchmark: Benchmark[Any, Any], plan: Any, *, json: Path | None = None, plot: Path | None = None
) -> bool:
    """Measure what a plan asks for and report it; return whether all answers were right."""
    _check_outputs(json, plot, getattr(plan, "data", None))
    restart_tuned()
    report = _run(benchmark, plan)
    console = Console()
    benchmark.show(report, console if console.is_terminal else Console(width=150))
    if json is not None:
        store(benchmark.as_json(report), json)
    if plot is not None:
        benchmark.draw(report, plot)
    return not report.failures


def _check_outputs(json: Path | None, plot: Path | None, data: Path | None) -> None:
    outputs = {what: path for what, path in (("JSON", json), ("picture", plot)) if path is not None}
    corpora = () if data is None else (file for file in data.rglob("*") if file.suffix != ".json")
    check_outputs(outputs, corpora)
    for path in (json, plot):
        if path is not None and not path.absolute().parent.is_dir():
            raise CertusError(f"cannot write {path}: there is no folder {path.absolute().parent}")
    if plot is not None:
        check_picture(plot)


def _run(benchmark: Benchmark[Any, Any], plan: Any) -> BenchmarkReport:
    """Run a benchmark with a line about its progress on stderr."""
    share, text = TextColumn("{task.percentage:3.0f}%"), TextColumn("{task.description}")
    columns = (BarColumn(), share, TimeElapsedColumn(), text)
    # Drawing takes time from what is timed, so the line is drawn between turns only.
    with Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=False) as progress:
        task = progress.add_task("", total=1.0)

        def tell(text: str, done: float) -> None:
            progress.update(task, description=text, completed=done, refresh=True)

        report: BenchmarkReport = benchmark.run(plan, tell)
        return report
