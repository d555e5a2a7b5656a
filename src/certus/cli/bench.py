"""``certus bench``: the figures of the documentation, taken on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from certus.bench import Plan, Report

bench = typer.Typer(no_args_is_help=True, help="Time Certus beside the alternatives that are installed.")


@bench.callback()
def about() -> None:
    """Time Certus beside the alternatives that are installed."""


@bench.command()
def chain(
    sizes: Annotated[
        str, typer.Option(help="Label counts and lengths, such as 45x23,2602x22; all four by default.")
    ] = "",
    lattices: Annotated[str, typer.Option(help="Kinds of scores: peaked, flat, ties; all by default.")] = "",
    methods: Annotated[
        str, typer.Option(help="Methods and rivals by name, separated by commas; the usual ones by default.")
    ] = "",
    dtype: Annotated[str, typer.Option(help="float64, what NumPy makes by default, or float32.")] = "float64",
    seconds: Annotated[
        float, typer.Option(help="Budget of a cell; a slower call is made once.", min=0.001)
    ] = 1.0,
    quick: Annotated[
        bool, typer.Option("--quick", help="A tenth of the time, five sentences a size.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Of the random scores.", min=0)] = 0,
    json: Annotated[Path | None, typer.Option(help="Write everything to this file.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the times: a .png, .svg or .pdf file.")] = None,
) -> None:
    """Time every way to decode a sentence, on scores like a trained model's, on flat ones, and with ties.

    Rivals that are installed (pytorch-crf, hmmlearn, dynamax, librosa) decode the same sentences in the same
    run, on one thread. Every answer is compared with the best score; if one differs, the exit code is 1. The
    last table holds the promises of the documentation against this machine. Times on a machine that is busy
    otherwise mean little.
    """
    from certus.bench.environment import restart_tuned
    from certus.bench.options import parse

    plan = parse(
        sizes=sizes, lattices=lattices, methods=methods, dtype=dtype, seconds=seconds, quick=quick, seed=seed
    )
    _check_outputs(json, plot)
    restart_tuned()
    report = _run(plan)
    _deliver(report, json, plot)
    if report.failures:
        raise typer.Exit(1)


def _check_outputs(json: Path | None, plot: Path | None) -> None:
    from certus.errors import CertusError

    for path in (json, plot):
        if path is not None and not path.absolute().parent.is_dir():
            raise CertusError(f"cannot write {path}: there is no folder {path.absolute().parent}")
    if plot is not None:
        from certus.bench import picture

        picture.check(plot)


def _run(plan: Plan) -> Report:
    """Run a plan with a progress line on stderr."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    from certus.bench import run

    share, text = TextColumn("{task.percentage:3.0f}%"), TextColumn("{task.description}")
    columns = (BarColumn(), share, TimeElapsedColumn(), text)
    # Drawing takes time from what is timed, so the line is drawn between turns only.
    with Progress(
        *columns,
        TextColumn("{task.description}"),
        console=Console(stderr=True),
        transient=True,
        auto_refresh=False,
    ) as progress:
        task = progress.add_task("", total=1.0)

        def tell(text: str, done: float) -> None:
            progress.update(task, description=text, completed=done, refresh=True)

        return run(plan, tell)


def _deliver(report: Report, json: Path | None, plot: Path | None) -> None:
    from rich.console import Console

    from certus.bench import picture
    from certus.bench.report import show, write_json

    console = Console()
    show(report, console if console.is_terminal else Console(width=150))
    if json is not None:
        write_json(report, json)
    if plot is not None:
        picture.draw(report, plot)
