"""``certus train``: models from annotated files."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

train = typer.Typer(no_args_is_help=True, help="Train a model on annotated sentences.")


@train.callback()
def about() -> None:
    """Train a model on annotated sentences."""


_TEACH = """
**Learners**

    pruned-crf   a CRF of any order; the best for morphology (crf with --order 2 is the same)
    perceptron   averaged, with exact decoding; the fastest to train, proven answers
    crf          first-order, nothing pruned, proven answers; for up to some hundred labels
    latent-crf   a CRF with latent states for each label; for few labels, mostly proven answers
    hmm          a smoothed hidden Markov model; trains in a second, proven answers

**Examples**

    certus train tagger train.conllu --dev dev.conllu --target upos+feats -o en.certus
    certus train tagger conll2000.txt --target 'pos|chunk' --learner perceptron -o chunks.certus
"""


@train.command(epilog=_TEACH)
def tagger(
    data: Annotated[str, typer.Argument(metavar="TRAIN", help="Annotated sentences: CoNLL-U or columns.")],
    output: Annotated[str, typer.Option("--output", "-o", help="Where to write the model.")],
    dev: Annotated[
        str | None, typer.Option(help="Held-out sentences: the best epoch on them is kept.")
    ] = None,
    target: Annotated[
        str, typer.Option(help="What to predict: upos, xpos, upos+feats, 'pos|chunk', ...")
    ] = "upos",
    learner: Annotated[
        str, typer.Option(help="pruned-crf, perceptron, crf, latent-crf or hmm.")
    ] = "pruned-crf",
    order: Annotated[
        int | None, typer.Option(min=1, help="Of pruned-crf: how many labels back transitions look.")
    ] = None,
    epochs: Annotated[int | None, typer.Option(min=1, help="Passes over the training data.")] = None,
    patience: Annotated[
        int | None, typer.Option(min=1, help="Stop after so many epochs without a better dev accuracy.")
    ] = None,
    rate: Annotated[float | None, typer.Option(help="Of pruned-crf: learning rate.")] = None,
    l1: Annotated[
        float | None, typer.Option(min=0, help="Of pruned-crf: L1 penalty; makes small models.")
    ] = None,
    algorithm: Annotated[str | None, typer.Option(help="Of crf: sgd or lbfgs.")] = None,
    c1: Annotated[float | None, typer.Option(min=0, help="Of crf: L1 penalty.")] = None,
    c2: Annotated[float | None, typer.Option(min=0, help="Of crf with lbfgs: L2 penalty.")] = None,
    latent: Annotated[
        int | None, typer.Option(min=1, help="Of latent-crf: latent states of each label.")
    ] = None,
    restarts: Annotated[
        int | None, typer.Option(min=1, help="Of latent-crf: how often to begin, from other weights.")
    ] = None,
    variance: Annotated[
        float | None, typer.Option(help="Of latent-crf: of the Gaussian prior of weights.")
    ] = None,
    inference: Annotated[
        str | None, typer.Option(help="Of latent-crf: how labels are found: ldi, bhp or bmp.")
    ] = None,
    steps: Annotated[
        int | None, typer.Option(min=0, help="Of latent-crf: the most latent paths ldi looks at; 0: all.")
    ] = None,
    margin: Annotated[
        float | None, typer.Option(min=0, help="Of perceptron: by how much the right label must win.")
    ] = None,
    min_count: Annotated[
        int | None, typer.Option(min=1, help="Features that occur less often are left out.")
    ] = None,
    hash_bits: Annotated[
        int | None, typer.Option(min=0, max=48, help="At most 2^bits features: memory stays fixed.")
    ] = None,
    rare: Annotated[int | None, typer.Option(min=0, help="Words seen at most this often are rare.")] = None,
    drop: Annotated[float | None, typer.Option(min=0, help="Leave smaller weights out of the model.")] = None,
    templates: Annotated[
        str | None, typer.Option(help="A file of feature templates; docs/features.md explains them.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Of the order of sentences, or of first weights.")
    ] = None,
    threads: Annotated[int, typer.Option(min=1, help="For lbfgs and latent-crf, and for dev data.")] = 1,
    checkpoint: Annotated[
        str | None, typer.Option(help="Keeps training between epochs; default: beside the model.")
    ] = None,
    format: Annotated[str | None, typer.Option(help="conllu, conllx or columns; guessed by default.")] = None,
    columns: Annotated[str | None, typer.Option(help='Names of columns, such as "word pos chunk".')] = None,
    encoding: Annotated[str, typer.Option(help="Of the files; old corpora may need latin-1.")] = "utf-8",
    licence: Annotated[str | None, typer.Option(help="To record in the model.")] = None,
    attribution: Annotated[str | None, typer.Option(help="To record in the model.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> None:
    """Train a tagger, from small tag sets to thousands of labels.

    A run that is killed goes on where it was when it is started again.
    """
    from certus.models.tagger import Tagger

    given: dict[str, Any] = {
        "order": order,
        "epochs": epochs,
        "patience": patience,
        "rate": rate,
        "l1": l1,
        "algorithm": algorithm,
        "c1": c1,
        "c2": c2,
        "latent": latent,
        "restarts": restarts,
        "variance": variance,
        "inference": inference,
        "steps": steps,
        "margin": margin,
        "min_count": min_count,
        "hash_bits": hash_bits,
        "rare": rare,
        "drop": drop,
        "seed": seed,
    }
    text = None if templates is None else _text(templates)
    made = Tagger(target, learner, templates=text, **{name: x for name, x in given.items() if x is not None})
    about = {"licence": licence, "attribution": attribution}
    checkpoint = checkpoint or f"{output}.checkpoint"
    check_writable(output, "model")
    check_writable(checkpoint, "checkpoint")
    began = time.perf_counter()
    with kept(checkpoint, KeyboardInterrupt, SystemExit):
        made.fit(
            data,
            dev,
            progress=(lambda _: None) if quiet else show,
            checkpoint=checkpoint,
            threads=threads,
            format=format,
            columns=columns,
            encoding=encoding,
            about={name: x for name, x in about.items() if x is not None},
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
        int | None, typer.Option(min=1, help="Generations that labels tell; 2 adds the parent.")
    ] = None,
    horizontal: Annotated[
        int | None, typer.Option(min=0, help="Siblings that the labels of binarisation tell.")
    ] = None,
    direction: Annotated[str | None, typer.Option(help="Of binarisation: head, left or right.")] = None,
    splits: Annotated[
        str | None, typer.Option(help="Refinements of labels by name, by commas; 'none' for none.")
    ] = None,
    min_hidden: Annotated[
        int | None, typer.Option(min=1, help="Rarer labels of binarisation tell fewer siblings.")
    ] = None,
    rare: Annotated[
        int | None, typer.Option(min=0, help="Words seen at most this often tell about new words.")
    ] = None,
    trusted: Annotated[
        int | None, typer.Option(min=1, help="Words seen this often have no tags but those seen.")
    ] = None,
    threads: Annotated[int, typer.Option(min=1, help="For measuring on dev data.")] = 1,
    encoding: Annotated[str, typer.Option(help="Of the files; old corpora may need latin-1.")] = "utf-8",
    licence: Annotated[str | None, typer.Option(help="To record in the model.")] = None,
    attribution: Annotated[str | None, typer.Option(help="To record in the model.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
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
    made = Parser(**{name: x for name, x in given.items() if x is not None})
    about = {"licence": licence, "attribution": attribution}
    check_writable(output, "model")
    began = time.perf_counter()
    made.fit(
        data,
        dev,
        progress=(lambda _: None) if quiet else (lambda stage: typer.echo(f"{stage.name} ...", err=True)),
        threads=threads,
        encoding=encoding,
        about={name: x for name, x in about.items() if x is not None},
    )
    made.save(output)
    if not quiet:
        report_parser(made, output, time.perf_counter() - began)


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
    parts = [
        f"{len(made.labels):,} labels",
        size_of(output),
        clock(seconds),
    ]
    if dev is not None:
        parts.insert(1, f"dev {100 * dev:.2f} %")
    typer.echo(f"{output}: {', '.join(parts)}", err=True)
