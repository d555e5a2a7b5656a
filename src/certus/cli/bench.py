"""``certus bench``: the figures of the documentation, taken on this machine."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

if TYPE_CHECKING:
    from rich.console import Console

Result = TypeVar("Result")

Data = Annotated[
    Path | None,
    typer.Option(envvar="CERTUS_DATA", help="The folder with the corpora; docs/benchmarks.md lists them."),
]
Seed = Annotated[int, typer.Option(help="Of the random numbers.", min=0)]
Json = Annotated[Path | None, typer.Option(help="Write everything to this file.")]
Plot = Annotated[Path | None, typer.Option(help="Draw it: a .png, .svg or .pdf file.")]

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
    seed: Seed = 0,
    json: Json = None,
    plot: Plot = None,
) -> None:
    """Time every way to decode a sentence, on scores like a trained model's, on flat ones, and with ties.

    Rivals that are installed (pytorch-crf, hmmlearn, dynamax, librosa) decode the same sentences in the same
    run, on one thread. Every answer is compared with the best score; if one differs, the exit code is 1. The
    last table holds the promises of the documentation against this machine. Times on a machine that is busy
    otherwise mean little.
    """
    from certus_bench import picture, report, run
    from certus_bench.options import parse

    plan = parse(
        sizes=sizes, lattices=lattices, methods=methods, dtype=dtype, seconds=seconds, quick=quick, seed=seed
    )
    _measure(partial(run, plan), report, json, picture.draw, plot)


@bench.command()
def tagger(
    data: Data = None,
    only: Annotated[
        str,
        typer.Option(
            help="Parts (decoders, training, orders, tasks) and corpora by name, by commas; all by default."
        ),
    ] = "",
    quick: Annotated[
        bool, typer.Option("--quick", help="Learn from 1,000 sentences for two epochs: a look, not figures.")
    ] = False,
    json: Json = None,
    plot: Plot = None,
) -> None:
    """Train taggers on real corpora and measure them: decoders, training, orders of CRFs, and whole tasks.

    The corpora do not come with Certus. Everything is trained on train and compared on dev; test is used in
    the tasks alone. python-crfsuite does one of the tasks, too, if it is installed. The last table holds the
    promises of the documentation against this machine. All of it takes about an hour.
    """
    from certus_bench.tagger import Plan, picture, report, run

    plan = Plan(data=_folder(data), only=_names(only))
    _measure(partial(run, plan.hurried() if quick else plan), report, json, picture.draw, plot)


@bench.command()
def hypergraph(
    edges: Annotated[
        str, typer.Option(help="Sizes of forests, by commas; 10000,100000,1000000 by default.")
    ] = "",
    seconds: Annotated[float, typer.Option(help="Budget of a cell.", min=0.001)] = 1.0,
    seed: Seed = 0,
    json: Json = None,
) -> None:
    """Time the questions about packed forests, beside the time to read their bytes once.

    The forests hold every bracketing of some words under random rules. Answers are compared with one another;
    if some differ, the exit code is 1.
    """
    from certus.errors import InvalidInput
    from certus_bench import hypergraph as module

    sizes = [size.strip() for size in edges.split(",") if size.strip()]
    if not all(size.isdecimal() and int(size) >= 5000 for size in sizes):
        raise InvalidInput(f"edges are whole numbers from 5000 on, separated by commas, not {edges!r}")
    plan = module.Plan(edges=tuple(map(int, sizes)) or module.Plan.edges, seconds=seconds, seed=seed)
    _measure(partial(module.run, plan), module, json)


@bench.command()
def relax(
    only: Annotated[
        str,
        typer.Option(help="Kinds of problems, by parts of their names separated by commas; all by default."),
    ] = "",
    count: Annotated[int, typer.Option(help="Problems of each kind.", min=1)] = 40,
    iterations: Annotated[int, typer.Option(help="The most for each optimiser.", min=1)] = 200,
    quick: Annotated[bool, typer.Option("--quick", help="Four problems of each kind.")] = False,
    seed: Seed = 0,
    json: Json = None,
) -> None:
    """Compare the optimisers of decompositions: iterations until the answer is proven, and what is proven.

    Each gets the same random problems, without branching; the last row of each table is the default with
    branching, to the proof.
    """
    from certus_bench.relax import report
    from certus_bench.relax.compare import Plan, run

    names = tuple(name.strip() for name in only.split(",") if name.strip())
    plan = Plan(count=4 if quick else count, iterations=iterations, seed=seed, only=names)
    _measure(partial(run, plan), report, json)


@bench.command()
def parse(
    data: Data = None,
    train: Annotated[
        int, typer.Option(min=1, help="How many trees to learn from; the rest is tested.")
    ] = 3500,
    json: Json = None,
) -> None:
    """Train a parser on the Penn Treebank sample and measure it: F1, speed, k best, repeated parsing.

    NLTK's ViterbiParser parses a few short sentences with the same small grammar, if it is installed.
    """
    from certus_bench import parse as module

    folder = _folder(data)
    _measure(lambda tell: module.run(folder, tell, train), module, json)


@bench.command()
def joint(
    data: Data = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Learn from 600 trees, test on 40: a look, not figures.")
    ] = False,
    json: Json = None,
    plot: Plot = None,
) -> None:
    """Parse and tag jointly, as Rush et al. (2010): iterations, certificates, accuracy, times beside HiGHS.

    Learns from the first 3,500 trees of the treebank and tests on the others. The last table holds the
    promises of the documentation against this machine. HiGHS (certus[ilp]) takes most of the time.
    """
    from certus_bench.joint import Plan, picture, report, run

    plan = Plan(data=_folder(data))
    _measure(partial(run, plan.hurried() if quick else plan), report, json, picture.draw, plot)


@bench.command()
def corpus(
    data: Data = None,
    part: Annotated[str, typer.Option(help="What to label: test, or dev while one is choosing.")] = "test",
    order: Annotated[int, typer.Option(help="Of the pruned CRF.", min=1, max=5)] = 2,
    quick: Annotated[bool, typer.Option("--quick", help="One small run: a look, not figures.")] = False,
    json: Json = None,
    plot: Plot = None,
) -> None:
    """Learn from 50 to 500 sentences, label a test set, and see what consistency across sentences brings.

    Accuracy, error reduction, proofs, iterations and time, without further text and with (Rush et al. 2012,
    table 4 and figure 3). The last table holds the promises of the documentation against this machine.
    """
    from certus_bench.corpus import Plan, picture, report, run

    plan = Plan(data=_folder(data), part=part, order=order)
    _measure(partial(run, plan.hurried() if quick else plan), report, json, picture.draw, plot)


@bench.command()
def latent(
    data: Data = None,
    only: Annotated[str, typer.Option(help="The task, np or jnlpba; both by default.")] = "",
    quick: Annotated[
        bool, typer.Option("--quick", help="Learn little from 500 sentences: a look, not figures.")
    ] = False,
    threads: Annotated[int, typer.Option(min=1, help="For learning; inference is timed on one.")] = 2,
    seed: Seed = 0,
    json: Json = None,
    plot: Plot = None,
) -> None:
    """Learn latent-dynamic CRFs and find labels in every way: noun phrases, and biomedical entities.

    The tables and figures of Sun & Tsujii (2009), beside a CRF with the same features. The corpora do not
    come with Certus. All of it takes about a quarter of an hour.
    """
    from certus_bench.latent import Plan, picture, report, run

    plan = Plan(data=_folder(data), only=_names(only), quick=quick, threads=threads, seed=seed)
    _measure(partial(run, plan), report, json, picture.draw, plot)


@bench.command()
def refinement(
    data: Data = None,
    only: Annotated[
        str,
        typer.Option(help="Parts (consistency, states, ablation, words) by name, by commas; all by default."),
    ] = "",
    quick: Annotated[
        bool, typer.Option("--quick", help="1,000 sentences, few states and iterations: a look, not figures.")
    ] = False,
    json: Json = None,
    plot: Plot = None,
) -> None:
    """Estimate refinement HMMs spectrally and by EM, and compare them: error, accuracy, training time.

    Consistency is measured on sentences drawn from a known model; accuracy on chunk tags of CoNLL-2000, with
    parts of speech as observations. The corpus does not come with Certus. Everything is chosen on the last
    tenth of train; the claims are about test.
    """
    from certus_bench.refinement import Plan, picture, report, run

    plan = Plan(data=data, only=_names(only), quick=quick)
    _measure(partial(run, plan), report, json, picture.draw, plot)


def _folder(data: Path | None) -> Path:
    from certus.errors import InvalidInput

    if data is None:
        raise InvalidInput("where are the corpora? Give their folder by --data, or in CERTUS_DATA")
    return data


def _names(only: str) -> frozenset[str]:
    return frozenset(name.strip() for name in only.split(",") if name.strip())


def _measure(
    work: Callable[[Callable[[str, float], None]], Any],
    report: Any,
    json: Path | None,
    draw: Callable[[Any, Path], None] | None = None,
    plot: Path | None = None,
) -> None:
    """Do a benchmark's work and report it; the exit code is 1 if an answer was wrong.

    ``report`` is a module with ``show`` and ``as_json``.
    """
    from certus_bench.environment import restart_tuned
    from certus_bench.report import store

    _check_outputs(json, plot)
    restart_tuned()
    found = _run(work)
    report.show(found, _console())
    if json is not None:
        store(report.as_json(found), json)
    if plot is not None and draw is not None:
        draw(found, plot)
    if getattr(found, "failures", ()):
        raise typer.Exit(1)


def _check_outputs(json: Path | None, plot: Path | None) -> None:
    from certus.errors import CertusError

    for path in (json, plot):
        if path is not None and not path.absolute().parent.is_dir():
            raise CertusError(f"cannot write {path}: there is no folder {path.absolute().parent}")
    if plot is not None:
        from certus_bench import picture

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
