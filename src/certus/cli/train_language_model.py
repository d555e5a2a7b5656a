"""``certus train lm``: n-gram language models from text."""

from __future__ import annotations

import time
import warnings
from typing import TYPE_CHECKING, Annotated

import typer

from certus.cli.declare import PlainCommand, with_options
from certus.cli.outputs import check_outputs, check_writable
from certus.cli.train import ModelOutput, drop_none, format_seconds, format_size, list_rights, show
from certus.cli.train_aligner import commands
from certus.cli.train_options import TrainLanguageModelOptions
from certus.cli.wording import format_count

if TYPE_CHECKING:
    from certus.models.language_model import LanguageModel

__all__ = ["commands"]


@commands.command(cls=PlainCommand)
@with_options(TrainLanguageModelOptions)
def lm(
    texts: Annotated[
        list[str],
        typer.Argument(
            metavar="TEXT", help="Sentences, one per line (- for stdin, .gz decompressed); or an ARPA file."
        ),
    ],
    output: ModelOutput,
    *,
    options: TrainLanguageModelOptions,
) -> None:
    """Estimate an n-gram language model: interpolated, with the modified discounts of Kneser and Ney.

    Words are what blanks separate. An ARPA file in place of text is converted into a model file, or checked
    and written again.
    """
    check_outputs({"model": output}, texts)
    check_writable(output, "model")
    began = time.perf_counter()
    made = _make_model(texts, options)
    if not options.quiet:
        typer.echo("writing ...", err=True)
    if options.arpa:
        made.write_arpa(output)
    else:
        made.save(output)
    if not options.quiet:
        report_model(made, output, time.perf_counter() - began)


def _make_model(texts: list[str], options: TrainLanguageModelOptions) -> LanguageModel:
    from certus.errors import InvalidInput, SmoothingWarning
    from certus.formats.arpa import looks_like_arpa
    from certus.models.language_model import LanguageModel

    if any(map(looks_like_arpa, texts)):
        if len(texts) > 1 or options.order is not None:
            raise InvalidInput(
                "an ARPA file is converted as it is: give one, without other texts and --order"
            )
        return LanguageModel.read_arpa(texts[0], encoding=options.encoding, metadata=list_rights(options))
    made = LanguageModel(**drop_none({"order": options.order}))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SmoothingWarning)  # told by report_model, from the description
        made.fit(
            *texts,
            encoding=options.encoding,
            progress=(lambda _: None) if options.quiet else show,
            metadata=list_rights(options),
        )
    return made


def report_model(made: LanguageModel, output: str, seconds: float) -> None:
    """Say what was made."""
    about = made.description
    blank = about.get("training", {}).get("blank")
    if blank:
        typer.echo(f"left out: {format_count(blank, 'line')} without words", err=True)
    for problem in about.get("problems", {}).values():
        typer.echo(f"warning: {problem}", err=True)
    parts = [
        f"order {made.order}",
        format_count(about["words"], "word"),
        format_count(sum(about["ngrams"]), "n-gram"),
        format_size(output),
        format_seconds(seconds),
    ]
    typer.echo(f"{output}: {', '.join(parts)}", err=True)
