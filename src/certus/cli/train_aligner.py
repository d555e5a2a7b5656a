"""``certus train aligner``: word aligners from sentence pairs."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer

from certus.cli.declare import PlainCommand, with_options
from certus.cli.outputs import check_outputs, check_writable
from certus.cli.pairs import read_pairs, save_model
from certus.cli.train import (
    ModelOutput,
    choose_checkpoint,
    commands,
    drop_none,
    format_seconds,
    format_size,
    keep_checkpoint,
    list_rights,
    show,
)
from certus.cli.train_options import TrainAlignerOptions
from certus.cli.wording import format_count

if TYPE_CHECKING:
    from certus.models.aligner import Aligner

__all__ = ["commands"]


@commands.command(cls=PlainCommand)
@with_options(TrainAlignerOptions)
def aligner(
    source: Annotated[
        str,
        typer.Argument(metavar="SOURCE", help='Sentences, one per line; or pairs, "source ||| target".'),
    ],
    output: ModelOutput,
    target: Annotated[
        str | None, typer.Argument(metavar="TARGET", help="Their translations, line by line.")
    ] = None,
    *,
    options: TrainAlignerOptions,
) -> None:
    """Train a word aligner on sentence pairs: two files line by line, or one of lines "source ||| target".

    Words are what blanks separate. A run that is killed goes on where it was when it is started again.
    """
    from certus.models.aligner import Aligner

    names = ("model", "iterations", "sparse", "spelling", "stems", "null", "min_count")
    made = Aligner(
        **drop_none({name: getattr(options, name) for name in names}), agreement=not options.no_agreement
    )
    checkpoint = choose_checkpoint(output, options)
    outputs = drop_none({"model": output, "checkpoint": checkpoint, "lexicon": options.lexicon})
    check_outputs(outputs, [source, target])
    for what, path in outputs.items():
        check_writable(path, what)
    began = time.perf_counter()
    with keep_checkpoint(checkpoint, KeyboardInterrupt, SystemExit):
        made.fit_pairs(
            read_pairs(source, target, options),
            progress=(lambda _: None) if options.quiet else show,
            checkpoint=checkpoint,
            threads=options.threads,
            max_length=options.max_length,
            metadata=list_rights(options),
        )
    save_model(made, output, checkpoint)
    if options.lexicon is not None:
        _write_lexicon(made, options.lexicon)
    if not options.quiet:
        report_aligner(made, output, time.perf_counter() - began)


def _write_lexicon(made: Aligner, path: str) -> None:
    from certus.formats import open_atomically

    with open_atomically(path) as file:
        for first, second, forward, backward in made.lexicon():
            file.write(f"{first}\t{second}\t{forward:.6g}\t{backward:.6g}\n")


def report_aligner(made: Aligner, output: str, seconds: float) -> None:
    """Say what was made."""
    about = made.description["training"]
    for reason, what in (("empty", "an empty side"), ("long", "more words than --max-length")):
        if about["skipped"][reason]:
            typer.echo(f"left out: {format_count(about['skipped'][reason], 'pair')} with {what}", err=True)
    parts = [format_count(about["pairs"], "pair"), format_size(output), format_seconds(seconds)]
    typer.echo(f"{output}: {', '.join(parts)}", err=True)
