"""``certus train translator``: translators from sentence pairs."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from certus.cli.declare import PlainCommand, with_options
from certus.cli.outputs import check_outputs, check_writable
from certus.cli.pairs import read_pairs, save_model
from certus.cli.train import (
    ModelOutput,
    choose_checkpoint,
    drop_none,
    format_seconds,
    format_size,
    keep_checkpoint,
    list_rights,
    show,
)
from certus.cli.train_language_model import commands
from certus.cli.train_options import TrainTranslatorOptions
from certus.cli.wording import format_count

if TYPE_CHECKING:
    from certus.models.translator import Translator

__all__ = ["commands"]


@commands.command(cls=PlainCommand)
@with_options(TrainTranslatorOptions)
def translator(
    source: Annotated[
        str,
        typer.Argument(metavar="SOURCE", help='Sentences, one per line; or pairs, "source ||| target".'),
    ],
    output: ModelOutput,
    target: Annotated[
        str | None, typer.Argument(metavar="TARGET", help="Their translations, line by line.")
    ] = None,
    *,
    options: TrainTranslatorOptions,
) -> None:
    """Train a translator on sentence pairs: alignment, phrases, a language model, and tuned weights.

    Words are what blanks separate. Pairs that occur several times count once. A run that is killed goes on
    where it was when it is started again.
    """
    from certus.models.translator import Translator

    made = Translator(**_list_given(options))
    checkpoint = choose_checkpoint(output, options)
    outputs = drop_none({"model": output, "checkpoint": checkpoint})
    inputs = [source, target, options.dev_source, options.dev_target]
    check_outputs(outputs, inputs)
    for what, path in outputs.items():
        check_writable(path, what)
    began = time.perf_counter()
    with keep_checkpoint(checkpoint, KeyboardInterrupt, SystemExit):
        made.fit_pairs(
            read_pairs(source, target, options),
            dev=_read_dev(options),
            progress=(lambda _: None) if options.quiet else show,
            checkpoint=checkpoint,
            threads=options.threads,
            metadata=list_rights(options),
        )
    save_model(made, output, checkpoint)
    if not options.quiet:
        report_translator(made, output, time.perf_counter() - began)


def _list_given(options: TrainTranslatorOptions) -> dict[str, Any]:
    names = ("model", "held_out", "tuning", "k", "order", "max_phrase", "max_length", "symmetrization")
    given = drop_none({name: getattr(options, name) for name in names})
    if options.limit is not None:
        given["limit"] = None if options.limit < 0 else options.limit
    return given


def _read_dev(options: TrainTranslatorOptions) -> Iterator[tuple[list[str], list[str]]] | None:
    from certus.errors import InvalidInput

    if options.dev_source is None:
        if options.dev_target is not None:
            raise InvalidInput("--dev-target needs its --dev-source")
        return None
    return read_pairs(options.dev_source, options.dev_target, options)


def report_translator(made: Translator, output: str, seconds: float) -> None:
    """Say what was made."""
    about = made.description
    for reason, what in (("empty", "with an empty side"), ("long", "with more words than --max-length")):
        count = about["training"]["left_out"][reason]
        if count:
            typer.echo(f"left out: {format_count(count, 'pair')} {what}", err=True)
    rounds = about["tuning"]["rounds"]
    bleu = [f"BLEU {100 * max(one['bleu'] for one in rounds):.2f} on held-out pairs"] if rounds else []
    parts = [
        format_count(about["training"]["different"], "different pair"),
        format_count(about["entries"], "phrase pair" if about["model"] == "phrases" else "rule"),
        *bleu,
        format_size(output),
        format_seconds(seconds),
    ]
    typer.echo(f"{output}: {', '.join(parts)}", err=True)
