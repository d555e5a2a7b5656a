"""The commands and their options. What a command needs is imported when it runs, so that help is instant."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from certus.cli.bench import bench

app = typer.Typer(
    name="certus",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(bench, name="bench")


def _version(wanted: bool) -> None:
    if wanted:
        from certus import __version__

        print(f"certus {__version__}")
        raise typer.Exit


_TEACH = """
**Start here**

    certus demo                  a sentence decoded, with its proof (two seconds)
    certus bench chain --quick   every solver on this machine, timed (a minute)

**In Python**

    import certus
    chain = certus.Chain(transitions)     # (L, L): scores from label to label
    best = chain.decode(emissions)        # (T, L): scores of labels at positions
    best.labels, best.score, best.bound   # the best sequence, and its proof
"""


@app.callback(epilog=_TEACH)
def about(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Find the best label sequence under a model, fast, with a bound that proves it is the best.

    A model gives each label a score at each position (emissions) and each pair of neighbouring labels another
    (transitions). Certus finds the sequence with the highest total, or the k highest, exactly.
    """


@app.command()
def demo() -> None:
    """Decode a small sentence and show what comes back: score, bound, runners-up, confidences, legal BIO."""
    from certus.cli.demo import run

    run()


@app.command()
def info(
    model: Annotated[Path, typer.Argument(help="A model file.", show_default=False)],
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object with everything.")] = False,
    labels: Annotated[
        bool, typer.Option("--labels", help="Name all labels, not only the first few.")
    ] = False,
    verify: Annotated[
        bool, typer.Option("--verify", help="Read the whole file and hold it against its checksum.")
    ] = False,
) -> None:
    """Show what a model file holds: labels, features, training data, accuracy, licence, arrays."""
    from certus.cli.info import run

    run(model, as_json=json, labels=labels, check=verify)


def main() -> None:
    """Run the command line; errors that Certus raises on purpose are shown without a traceback."""
    from certus.errors import CertusError

    try:
        app()
    except CertusError as error:
        typer.secho(f"Error: {error}", fg=typer.colors.RED, err=True)
        sys.exit(2)
