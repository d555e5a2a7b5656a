"""``certus bench``: the figures of the documentation, taken on this machine."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

if TYPE_CHECKING:
    from rich.console import Console

Result = TypeVar("Result")

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
    from certus.bench import picture, run
    from certus.bench.environment import restart_tuned
    from certus.bench.options import parse
    from certus.bench.report import show, write_json

    plan = parse(
        sizes=sizes, lattices=lattices, methods=methods, dtype=dtype, seconds=seconds, quick=quick, seed=seed
    )
    _check_outputs(json, plot)
    restart_tuned()
    report = _run(partial(run, plan))
    show(report, _console())
    if json is not None:
        write_json(report, json)
    if plot is not None:
        picture.draw(report, plot)
    if report.failures:
        raise typer.Exit(1)


@bench.command()
def tagger(
    data: Annotated[
        Path | None,
        typer.Option(
            envvar="CERTUS_DATA", help="The folder with the corpora; docs/benchmarks.md lists them."
        ),
    ] = None,
    only: Annotated[
        str,
        typer.Option(
            help="Parts (decoders, training, orders, tasks) and corpora by name, by commas; all by default."
        ),
    ] = "",
    quick: Annotated[
        bool, typer.Option("--quick", help="Learn from 1,000 sentences for two epochs: a look, not figures.")
    ] = False,
    json: Annotated[Path | None, typer.Option(help="Write everything to this file.")] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the speed of decoders: a .png, .svg or .pdf file.")
    ] = None,
) -> None:
    """Train taggers on real corpora and measure them: decoders, training, orders of CRFs, and whole tasks.

    The corpora do not come with Certus. Everything is trained on train and compared on dev; test is used in
    the tasks alone. python-crfsuite does one of the tasks, too, if it is installed. The last table holds the
    promises of the documentation against this machine. All of it takes about an hour.
    """
    from certus.bench.environment import restart_tuned
    from certus.bench.tagger import Plan, picture, run
    from certus.bench.tagger.report import show, write_json
    from certus.errors import InvalidInput

    if data is None:
        raise InvalidInput("where are the corpora? Give their folder by --data, or in CERTUS_DATA")
    plan = Plan(data=data, only=frozenset(name.strip() for name in only.split(",") if name.strip()))
    _check_outputs(json, plot)
    restart_tuned()
    report = _run(partial(run, plan.hurried() if quick else plan))
    show(report, _console())
    if json is not None:
        write_json(report, json)
    if plot is not None:
        picture.draw(report, plot)
    if report.failures:
        raise typer.Exit(1)


@bench.command()
def corpus(
    data: Annotated[
        Path | None,
        typer.Option(envvar="CERTUS_DATA", help="The folder with the corpora; UD English EWT in ud/en_ewt."),
    ] = None,
    part: Annotated[str, typer.Option(help="What to label: test, or dev while one is choosing.")] = "test",
    order: Annotated[int, typer.Option(help="Of the pruned CRF.", min=1, max=5)] = 2,
    quick: Annotated[bool, typer.Option("--quick", help="One small run: a look, not figures.")] = False,
    json: Annotated[Path | None, typer.Option(help="Write everything to this file.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the iterations: a .png, .svg or .pdf file.")] = None,
) -> None:
    """Learn from 50 to 500 sentences, label a test set, and see what consistency across sentences brings.

    Accuracy, error reduction, proofs, iterations and time, without further text and with (Rush et al. 2012,
    table 4 and figure 3). The last table holds the promises of the documentation against this machine.
    """
    from certus.bench.corpus import Plan, picture, run
    from certus.bench.corpus.report import show, write_json
    from certus.errors import InvalidInput

    if data is None:
        raise InvalidInput("where are the corpora? Give their folder by --data, or in CERTUS_DATA")
    plan = Plan(data=data, part=part, order=order)
    _check_outputs(json, plot)
    report = _run(partial(run, plan.hurried() if quick else plan))
    show(report, _console())
    if json is not None:
        write_json(report, json)
    if plot is not None:
        picture.draw(report, plot)


def _check_outputs(json: Path | None, plot: Path | None) -> None:
    from certus.errors import CertusError

    for path in (json, plot):
        if path is not None and not path.absolute().parent.is_dir():
            raise CertusError(f"cannot write {path}: there is no folder {path.absolute().parent}")
    if plot is not None:
        from certus.bench import picture

        picture.check(plot)


def _run(work: Callable[[Callable[[str, float], None]], Result]) -> Result:
    """Do some work with a progress line on stderr."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    share, text = TextColumn("{task.percentage:3.0f}%"), TextColumn("{task.description}")
    columns = (BarColumn(), share, TimeElapsedColumn(), text)
    console = Console(stderr=True)
    # Drawing takes time from what is timed, so the line is drawn between turns only.
    with Progress(*columns, console=console, transient=True, auto_refresh=False) as progress:
        task = progress.add_task("", total=1.0)

        def tell(text: str, done: float) -> None:
            progress.update(task, description=text, completed=done, refresh=True)

        return work(tell)


def _console() -> Console:
    from rich.console import Console

    console = Console()
    return console if console.is_terminal else Console(width=150)
