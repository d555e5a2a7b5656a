"""``certus train``: models from annotated files."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from certus.cli import learners
from certus.cli.declare import PlainCommand, with_options
from certus.cli.outputs import check_outputs, check_writable
from certus.cli.train_options import (
    CONSTITUENTS,
    DEPENDENCIES,
    TrainAlignerOptions,
    TrainingOptions,
    TrainParserOptions,
    TrainTaggerOptions,
    TrainTranslatorOptions,
)
from certus.cli.wording import format_count
from certus.formats.brackets import looks_bracketed
from certus.learn.arcs.options import ArcOptions
from certus.learn.learners import make_learner

if TYPE_CHECKING:
    from certus.learn.progress import Progress
    from certus.models.parser import ConstituencyParser
    from certus.models.tagger import Tagger

_TOLD = 5  # labels with too little to go by that are named after training

ModelOutput = Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="Where to write the model.")]

commands = typer.Typer(add_completion=False, rich_markup_mode="markdown")


_TEACH = f"""
**Learners**

{learners.TABLE}

**Examples**

    certus train tagger train.conllu --dev dev.conllu -o en.certus
    certus train tagger morphology.conllu --target upos+feats -o m.certus
    certus train tagger conll2000.txt --target 'pos|chunk' -o chunks.certus
"""


@commands.command(cls=PlainCommand, epilog=_TEACH)
@with_options(TrainTaggerOptions)
@learners.with_learner_options
def tagger(
    data: Annotated[
        str, typer.Argument(metavar="TRAIN", help="Annotated sentences: CoNLL-U, columns or bracketed trees.")
    ],
    output: ModelOutput,
    *,
    options: TrainTaggerOptions,
    **given: Any,
) -> None:
    """Train a tagger, from small tag sets to thousands of labels.

    A run that is killed goes on where it was when it is started again.
    """
    from certus.errors import RefinementWarning
    from certus.models.tagger import Tagger

    text = None if options.templates is None else _read_templates(options.templates)
    make_learner(options.learner, drop_none(given), _spell_option)  # refuses options as they are spelled here
    made = Tagger(options.target, options.learner, templates=text, **drop_none(given))
    checkpoint = choose_checkpoint(output, options)
    outputs = {"model": output} if checkpoint is None else {"model": output, "checkpoint": checkpoint}
    check_outputs(outputs, [data, options.dev, options.templates])
    for what, path in outputs.items():
        check_writable(path, what)
    began = time.perf_counter()
    with keep_checkpoint(checkpoint, KeyboardInterrupt, SystemExit), warnings.catch_warnings():
        warnings.simplefilter("ignore", RefinementWarning)  # told by report, from the description
        made.fit(
            data,
            options.dev,
            progress=(lambda _: None) if options.quiet else show,
            checkpoint=checkpoint,
            threads=options.threads,
            format=options.format,
            columns=options.columns,
            encoding=options.encoding,
            metadata=list_rights(options),
        )
    with keep_checkpoint(checkpoint, BaseException):
        made.save(output)
    if not options.quiet:
        report(made, output, time.perf_counter() - began)


@commands.command(cls=PlainCommand)
@with_options(TrainParserOptions)
@learners.with_options_of("dependency parsers", ArcOptions)
def parser(
    data: Annotated[
        str,
        typer.Argument(
            metavar="TRAIN", help="Bracketed trees, such as a .mrg file, or dependency trees in CoNLL-U."
        ),
    ],
    output: ModelOutput,
    *,
    options: TrainParserOptions,
    **given: Any,
) -> None:
    """Train a parser: of constituents from bracketed trees, of dependencies from CoNLL-U.

    The format of the training data says which. A constituency parser is a probabilistic grammar with refined
    labels; a dependency parser learns weights of features. Training of a dependency parser that is killed
    goes on where it was when it is started again.
    """
    check_outputs({"model": output}, [data, options.dev])
    check_writable(output, "model")
    if options.format == "brackets" or (options.format is None and looks_bracketed(data)):
        _refuse_given("constituency", [*options.find_given(DEPENDENCIES), *_spell(drop_none(given))])
        train_constituency_parser(data, output, options)
    else:
        _refuse_given("dependency", options.find_given(CONSTITUENTS))
        train_dependency_parser(data, output, options, drop_none(given))


def _spell(given: dict[str, Any]) -> list[str]:
    return [_spell_option(name) for name in given]


def _spell_option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _refuse_given(kind: str, spellings: list[str]) -> None:
    """Refuse options of the other kind of parser."""
    from certus.errors import InvalidInput

    if spellings:
        raise InvalidInput(
            f"the training data make a {kind} parser, which has no {spellings[0]}: leave it out"
        )


def train_constituency_parser(data: str, output: str, options: TrainParserOptions) -> None:
    """Estimate a grammar and write it."""
    from certus.models.parser import ConstituencyParser

    began = time.perf_counter()
    names = ("vertical", "horizontal", "direction", "min_hidden", "rare", "trusted")
    given = {name: getattr(options, name) for name in names}
    splits = None if options.splits is None else _split_names(options.splits)
    made = ConstituencyParser(**drop_none({**given, "splits": splits}))
    made.fit(
        data,
        options.dev,
        progress=(lambda _: None) if options.quiet else show,
        threads=options.threads,
        encoding=options.encoding,
        metadata=list_rights(options),
    )
    made.save(output)
    if not options.quiet:
        report_parser(made, output, time.perf_counter() - began)


def train_dependency_parser(
    data: str, output: str, options: TrainParserOptions, given: dict[str, Any]
) -> None:
    """Learn the weights of arcs and write them."""
    from certus.models.dependency_parser import DependencyParser

    began = time.perf_counter()
    text = None if options.templates is None else _read_templates(options.templates)
    made = DependencyParser(templates=text, **given)
    checkpoint = choose_checkpoint(output, options)
    outputs = {"model": output} if checkpoint is None else {"model": output, "checkpoint": checkpoint}
    check_outputs(outputs, [data, options.dev, options.templates])
    if checkpoint is not None:
        check_writable(checkpoint, "checkpoint")
    with keep_checkpoint(checkpoint, KeyboardInterrupt, SystemExit):
        made.fit(
            data,
            options.dev,
            progress=(lambda _: None) if options.quiet else show,
            checkpoint=checkpoint,
            threads=options.threads,
            format=options.format,
            encoding=options.encoding,
            metadata=list_rights(options),
        )
    with keep_checkpoint(checkpoint, BaseException):
        made.save(output)
    if not options.quiet:
        dev = made.description.get("accuracy", {}).get("dev")
        parts = [format_count(len(made.relations), "relation"), format_size(output)]
        parts += [] if dev is None else [f"dev LAS {100 * dev:.2f} % with full relations"]
        parts.append(format_seconds(time.perf_counter() - began))
        typer.echo(f"{output}: {', '.join(parts)}", err=True)


def drop_none(given: dict[str, Any]) -> dict[str, Any]:
    """Return what the user gave."""
    return {name: value for name, value in given.items() if value is not None}


def list_rights(options: TrainingOptions) -> dict[str, Any]:
    """Return what is recorded in a model about the rights of its data."""
    return drop_none({"licence": options.licence, "attribution": options.attribution})


def _split_names(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    return () if names == ("none",) else names


def report_parser(made: ConstituencyParser, output: str, seconds: float) -> None:
    """Say what was made."""
    measured = made.description.get("accuracy")
    dev = (
        []
        if measured is None
        else [f"dev F1 {100 * measured['dev']:.2f}, tags {100 * measured['dev_tags']:.2f} %"]
    )
    rules = sum(len(rules) for rules in made.grammar.rules[::2])
    parts = [
        format_count(len(made.grammar.symbols), "symbol"),
        format_count(rules, "rule"),
        *dev,
        format_size(output),
        format_seconds(seconds),
    ]
    typer.echo(f"{output}: {', '.join(parts)}", err=True)


def format_size(path: str) -> str:
    """Return the size of a file as people read it."""
    size = os.path.getsize(path)
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.0f} kB"


def _read_templates(path: str) -> str:
    from certus.errors import InvalidInput

    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"cannot read the templates {path}: {error}") from error


def choose_checkpoint(
    output: str,
    options: TrainTaggerOptions | TrainParserOptions | TrainAlignerOptions | TrainTranslatorOptions,
) -> str | None:
    """Return where training is kept between epochs; None where the user does not want that."""
    from certus.errors import InvalidInput

    if not options.no_checkpoint:
        return options.checkpoint or f"{output}.checkpoint"
    if options.checkpoint is not None:
        raise InvalidInput("--checkpoint and --no-checkpoint exclude each other: leave one out")
    return None


@contextmanager
def keep_checkpoint(checkpoint: str | None, *errors: type[BaseException]) -> Iterator[None]:
    """Say where training can be taken up again, if one of these ends it before its time."""
    try:
        yield
    except errors:
        if checkpoint is not None and os.path.exists(checkpoint):
            typer.echo(f"what was learned is in {checkpoint}: the same command goes on from there", err=True)
        raise


def show(progress: Progress) -> None:
    """Print a line about an epoch, or a stage that begins."""
    if progress.stage is not None:
        typer.echo(f"{progress.stage} ...", err=True)
        return
    dev = "" if progress.dev is None else f"   dev {100 * progress.dev:6.2f} %"
    left = f"   {format_seconds(progress.left)} left" if progress.left else ""
    typer.echo(
        f"epoch {progress.epoch:3}/{progress.epochs}   loss {progress.loss:.4f}{dev}   "
        f"{format_seconds(progress.seconds)}{left}",
        err=True,
    )


def format_seconds(seconds: float) -> str:
    """Return a time as people read it."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def report(made: Tagger, output: str, seconds: float) -> None:
    """Say what was made."""
    about = made.description
    dev = about.get("accuracy", {}).get("dev")
    held_out = about.get("dev", {})
    if held_out.get("unseen"):
        typer.echo(
            f"{held_out['unseen']:,} of {format_count(held_out['tokens'], 'dev token')} have labels that the "
            "training data lack: they count as wrong",
            err=True,
        )
    for line in list_weaknesses(about):
        typer.echo(f"warning: {line}", err=True)
    parts = [format_count(len(made.labels), "label"), format_size(output), format_seconds(seconds)]
    if dev is not None:
        parts.insert(1, f"dev {100 * dev:.2f} %")
    typer.echo(f"{output}: {', '.join(parts)}", err=True)


def list_weaknesses(about: dict[str, Any]) -> Iterator[str]:
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
