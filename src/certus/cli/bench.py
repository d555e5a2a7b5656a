"""``certus bench``: the figures of the documentation, taken on this machine.

The benchmarks are a package of their own, ``certus_bench``, which declares them and their options. It is
imported when ``certus bench`` runs, and nowhere else.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any

import typer

from certus.cli.declare import PlainCommand, PlainGroup
from certus.errors import CertusError

HELP = "Time Certus beside the alternatives that are installed."
_MISSING = "the benchmarks are a package of their own: from a clone of Certus, run pip install ./bench"
_JSON = Annotated[Path | None, typer.Option(metavar="FILE", help="Write all that was measured to this file.")]
_PLOT = Annotated[Path | None, typer.Option(metavar="FILE", help="Draw it: a .png, .svg or .pdf file.")]


class BenchmarkGroup(PlainGroup):
    """A group whose commands are the benchmarks that ``certus_bench`` lists."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all benchmarks."""
        return list(import_benchmarks().NAMES)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command of one benchmark; only its own module is imported."""
        package = import_benchmarks()
        if cmd_name not in package.NAMES:
            return None
        commands = typer.Typer(add_completion=False, rich_markup_mode="markdown")
        commands.command(cmd_name, cls=PlainCommand)(make_command(package.load_benchmark(cmd_name)))
        return typer.main.get_command(commands)


def import_benchmarks() -> Any:
    """Return the package of the benchmarks, or say how to get it."""
    try:
        import certus_bench
    except ModuleNotFoundError as error:
        if error.name != "certus_bench":
            raise
        raise CertusError(_MISSING) from None
    return certus_bench


def make_command(benchmark: Any) -> Callable[..., None]:
    """Return the function of a command: the options of a benchmark's plan, and where to write to."""

    def command(*, json: Path | None = None, plot: Path | None = None, **options: Any) -> None:
        from certus_bench.harness.command import carry_out

        if not carry_out(benchmark, benchmark.make_plan(**options), json=json, plot=plot):
            raise typer.Exit(1)

    declared = inspect.signature(benchmark.make_plan, eval_str=True)
    outputs = {"json": _JSON, "plot": _PLOT} if benchmark.paint else {"json": _JSON}
    more = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
        for name, annotation in outputs.items()
    ]
    parameters = [*declared.parameters.values(), *more]
    command.__dict__["__signature__"] = inspect.Signature(parameters)  # what typer reads
    command.__doc__ = benchmark.make_plan.__doc__
    return command


bench = typer.Typer(cls=BenchmarkGroup, no_args_is_help=True, help=HELP)


@bench.callback()
def about() -> None:
    """Time Certus beside the alternatives that are installed."""
