"""``certus train``: models from annotated files."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from certus.cli import learners
from certus.cli.options import Columns, Encoding, Format, Licence, Quiet

_TOLD = 5  # labels with too little to go by that are named after training

train = typer.Typer(no_args_is_help=True, help="Train a model on annotated sentences.")


@train.callback()
def about() -> None:
    """Train a model on annotated sentences."""


_TEACH = f"""
**Learners**

{learners.TABLE}

**Examples**

    certus train tagger train.conllu --dev dev.conllu -o en.certus
    certus train tagger morphology.conllu --target upos+feats -o m.certus
    certus train tagger conll2000.txt --target 'pos|chunk' -o chunks.certus
"""


@train.command(epilog=_TEACH)
@learners.with_options
def tagger(
    data: Annotated[
        str, typer.Argument(metavar="TRAIN", help="Annotated sentences: CoNLL-U, columns or bracketed trees.")
    ],
    output: Annotated[str, typer.Option("--output", "-o", help="Where to write the model.")],
    dev: Annotated[
        str | None, typer.Option(help="Held-out sentences: the best epoch on them is kept.")
    ] = None,
    target: Annotated[
        str, typer.Option(help="What to predict: upos, xpos, upos+feats, 'pos|chunk', ...")
    ] = "upos",
    learner: Annotated[
        str, typer.Option(help=f"How to learn it: {learners.NAMES}; see below.")
    ] = "pruned-crf",
    templates: Annotated[
        str | None, typer.Option(help="A file of feature templates; docs/features.md explains them.")
    ] = None,
    threads: Annotated[int, typer.Option(min=1, help="For lbfgs and latent-crf, and for dev data.")] = 1,
    checkpoint: Annotated[
        str | None, typer.Option(help="Keeps training between epochs; default: beside the model.")
    ] = None,
    format: Format = None,
    columns: Columns = None,
    encoding: Encoding = "utf-8",
    licence: Licence = None,
    attribution: Licence = None,
    quiet: Quiet = False,
    **given: Any,
) -> None:
    """Train a tagger, from small tag sets to thousands of labels.

    A run that is killed goes on where it was when it is started again.
    """
    from certus.errors import RefinementWarning
    from certus.models.tagger import Tagger

    text = None if templates is None else _text(templates)
    made = Tagger(target, learner, templates=text, **_without_none(given))
    checkpoint = checkpoint or f"{output}.checkpoint"
    check_writable(output, "model")
    check_writable(checkpoint, "checkpoint")
    began = time.perf_counter()
    with kept(checkpoint, KeyboardInterrupt, SystemExit), warnings.catch_warnings():
        warnings.simplefilter("ignore", RefinementWarning)  # told by report, from the description
        made.fit(
            data,
            dev,
            progress=(lambda _: None) if quiet else show,
            checkpoint=checkpoint,
            threads=threads,
            format=format,
            columns=columns,
            encoding=encoding,
            about=_without_none({"licence": licence, "attribution": attribution}),
        )
    with kept(checkpoint, BaseException):
        made.save(output)
    if not quiet:
        report(made, output, time.perf_counter() - began)


@train.command()
def parser(
    data: Annotated[str, typer.Argument(metavar="TRAIN", help="Bracketed trees, such as a .mrg file.")],
    output: Annotated[str, typer.Option("--output", "-o", help="Where to write the model.")],
    dev: Annotated[str | None, typer.Option(help="Held-out trees to measure F1 on.")] = None,
    vertical: Annotated[
        int | None, typer.Option(min=1, help="Generations that labels tell; 2, the default, adds the parent.")
    ] = None,
    horizontal: Annotated[
        int | None, typer.Option(min=0, help="Siblings that the labels of binarisation tell; 2 by default.")
    ] = None,
    direction: Annotated[
        str | None, typer.Option(help="Of binarisation: head (the default), left or right.")
    ] = None,
    splits: Annotated[
        str | None,
        typer.Option(help="Refinements of labels by name, by commas; 'none' for none, the usual by default."),
    ] = None,
    min_hidden: Annotated[
        int | None,
        typer.Option(min=1, help="Rarer labels of binarisation tell fewer siblings; 20 by default."),
    ] = None,
    rare: Annotated[
        int | None,
        typer.Option(min=0, help="Words seen at most this often tell about new words; 5 by default."),
    ] = None,
    trusted: Annotated[
        int | None,
        typer.Option(min=1, help="Words seen this often have no tags but those seen; 20 by default."),
    ] = None,
    threads: Annotated[int, typer.Option(min=1, help="For measuring on dev data.")] = 1,
    encoding: Encoding = "utf-8",
    licence: Licence = None,
    attribution: Licence = None,
    quiet: Quiet = False,
) -> None:
    """Train a constituency parser: a probabilistic grammar with refined labels, and a lexicon."""
    from certus.models.parser import Parser

    given: dict[str, Any] = {
        "vertical": vertical,
        "horizontal": horizontal,
        "direction": direction,
        "splits": None if splits is None else _names(splits),
        "min_hidden": min_hidden,
        "rare": rare,
        "trusted": trusted,
    }
    made = Parser(**_without_none(given))
    check_writable(output, "model")
    began = time.perf_counter()
    made.fit(
        data,
        dev,
        progress=(lambda _: None) if quiet else (lambda stage: typer.echo(f"{stage.name} ...", err=True)),
        threads=threads,
        encoding=encoding,
        about=_without_none({"licence": licence, "attribution": attribution}),
    )
    made.save(output)
    if not quiet:
        report_parser(made, output, time.perf_counter() - began)


def _without_none(given: dict[str, Any]) -> dict[str, Any]:
    """Return what the user gave."""
    return {name: value for name, value in given.items() if value is not None}


def _names(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    return () if names == ("none",) else names


def report_parser(made: Any, output: str, seconds: float) -> None:
    """Say what was made."""
    measured = made.description.get("accuracy")
    dev = (
        []
        if measured is None
        else [f"dev F1 {100 * measured['dev']:.2f}, tags {100 * measured['dev_tags']:.2f} %"]
    )
    rules = sum(len(rules) for rules in made.grammar.rules[::2])
    parts = [f"{len(made.grammar.symbols):,} symbols, {rules:,} rules", *dev, size_of(output), clock(seconds)]
    typer.echo(f"{output}: {', '.join(parts)}", err=True)


def size_of(path: str) -> str:
    """Return the size of a file as people read it."""
    size = os.path.getsize(path)
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.0f} kB"


def _text(path: str) -> str:
    from certus.errors import InvalidInput

    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"cannot read the templates {path}: {error}") from error


def check_writable(path: str, what: str) -> None:
    """Refuse a place that cannot be written before hours of training, not after."""
    from certus.errors import InvalidInput

    folder = os.path.dirname(os.path.abspath(path))
    if os.path.isdir(path):
        raise InvalidInput(f"{path} is a folder; name a file for the {what}")
    if not os.path.isdir(folder):
        raise InvalidInput(f"there is no folder {folder} to write the {what} to")
    place = path if os.path.exists(path) and not os.path.isfile(path) else folder
    if not os.access(place, os.W_OK):
        raise InvalidInput(f"{place} may not be written to: permission denied")


@contextmanager
def kept(checkpoint: str, *errors: type[BaseException]) -> Iterator[None]:
    """Say where training can be taken up again, if one of these ends it before its time."""
    try:
        yield
    except errors:
        if os.path.exists(checkpoint):
            typer.echo(f"what was learned is in {checkpoint}: the same command goes on from there", err=True)
        raise


def show(progress: Any) -> None:
    """Print a line about an epoch."""
    dev = "" if progress.dev is None else f"   dev {100 * progress.dev:6.2f} %"
    left = f"   {clock(progress.left)} left" if progress.left else ""
    typer.echo(
        f"epoch {progress.epoch:3}/{progress.epochs}   loss {progress.loss:.4f}{dev}   "
        f"{clock(progress.seconds)}{left}",
        err=True,
    )


def clock(seconds: float) -> str:
    """Return a time as people read it."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def report(made: Any, output: str, seconds: float) -> None:
    """Say what was made."""
    about = made.description
    dev = about.get("accuracy", {}).get("dev")
    held_out = about.get("dev", {})
    if held_out.get("unseen"):
        typer.echo(
            f"{held_out['unseen']:,} of {held_out['tokens']:,} dev tokens have labels that the training data "
            "lack: they count as wrong",
            err=True,
        )
    for line in weaknesses(about):
        typer.echo(f"warning: {line}", err=True)
    parts = [
        f"{len(made.labels):,} labels",
        size_of(output),
        clock(seconds),
    ]
    if dev is not None:
        parts.insert(1, f"dev {100 * dev:.2f} %")
    typer.echo(f"{output}: {', '.join(parts)}", err=True)


def weaknesses(about: dict[str, Any]) -> Iterator[str]:
    """Yield what a refinement was estimated from too little for; ``certus info`` has all of it."""
    problems = list(about.get("problems", {}).values())
    yield from problems[:_TOLD]
    if len(problems) > _TOLD:
        left = len(problems) - _TOLD
        others = "1 more label has" if left == 1 else f"{left} more labels have"
        yield f"{others} too little to go by: certus info names all of them"
    found = about.get("marginals", {})
    if found.get("damped") or found.get("plain"):
        yield (
            f"{found['damped'] + found['plain']:,} of {found['sentences']:,} {found['of']} sentences have a "
            f"total that is not above 0: {found['damped']:,} of them are labelled with the model's memory "
            f"halved, {found['plain']:,} by the plain HMM; lower --hidden, or take --estimator em"
        )
