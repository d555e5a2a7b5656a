"""The commands. What a command needs is imported when it runs, so that help is instant."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from certus.cli.bench import bench
from certus.cli.declare import InputArguments, ModelArgument, PlainCommand, PlainGroup, with_options
from certus.cli.options import (
    AlignOptions,
    EvaluateOptions,
    InfoOptions,
    ParseOptions,
    TagOptions,
    TranslateOptions,
)

app = typer.Typer(
    name="certus",
    cls=PlainGroup,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


class TrainGroup(PlainGroup):
    """A group whose commands are made when it is used: their options are those of all learners."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return what can be trained."""
        return ["tagger", "parser", "aligner", "lm", "translator"]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command that trains one kind of model."""
        from certus.cli.train_translator import commands  # the last one that adds to them

        group: Any = typer.main.get_command(commands)
        return group.commands.get(cmd_name)


train = typer.Typer(cls=TrainGroup, no_args_is_help=True, help="Train a model on sentences of your own.")


@train.callback()
def describe_training() -> None:
    """Train a model on sentences of your own."""


app.add_typer(bench, name="bench")
app.add_typer(train, name="train")


def _print_version(wanted: bool) -> None:
    if wanted:
        from certus import __version__

        print(f"certus {__version__}")
        raise typer.Exit


_TEACH = """
**Start here**

    certus demo                  a sentence decoded, with its proof (two seconds)
    certus tag "Any sentence."   parts of speech and morphology, from the English model
    certus train tagger --help   a tagger of your own, from CoNLL-U, columns or trees
    certus parse "Any sentence." its dependency tree, proven the best
    certus train parser --help   a parser of your own, from CoNLL-U or bracketed trees
    certus train aligner --help  a word aligner of your own, from sentence pairs
    certus train lm --help       a language model of your own, from text
    certus train translator -h   a translator of your own, from sentence pairs
    certus bench chain --quick   every solver on this machine, timed (a minute)

**In Python**

    import certus
    chain = certus.Chain(transitions)     # (L, L): scores from label to label
    best = chain.decode(emissions)        # (T, L): scores of labels at positions
    best.labels, best.score, best.bound   # the best sequence, and its proof
    certus.load().tag(["Any", "words"])   # a trained tagger
"""


@app.callback(epilog=_TEACH)
def about(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True),
    ] = False,
) -> None:
    """Find the best label sequence, tree, alignment or translation under a model, and prove that it is.

    Models are trained on your own files, or come with the package for English. Every answer has a score and a
    bound that nothing exceeds: where the two meet, the answer is proven.
    """


@app.command(cls=PlainCommand)
def demo() -> None:
    """Decode a small sentence and show what comes back: score, bound, runners-up, confidences, legal BIO."""
    from certus.cli.demo import run

    run()


@app.command(cls=PlainCommand)
@with_options(TagOptions)
def tag(model: ModelArgument = None, inputs: InputArguments = None, *, options: TagOptions) -> None:
    """Label sentences: CoNLL-U and column files come out as they went in, plain text as CoNLL-U.

    Try: certus tag "Any sentence will do."
    """
    from certus.cli.tag import run

    run(model, inputs or [], options)


@app.command(cls=PlainCommand)
@with_options(ParseOptions)
def parse(
    model: Annotated[
        str | None,
        typer.Argument(
            metavar="MODEL",
            help="A parser, from certus train parser; without one, the English dependency parser of Certus.",
        ),
    ] = None,
    inputs: InputArguments = None,
    *,
    options: ParseOptions,
) -> None:
    """Find the trees of sentences: of dependencies in CoNLL-U, of constituents in brackets.

    A dependency parser takes CoNLL-U, which comes out as it went in but for heads and relations, and with a
    tagger plain text. A constituency parser takes plain text, or the words of bracketed trees. The summary
    says how many trees are proven to be the best; a sentence that a grammar does not derive gets a cover, as
    few constituents as possible side by side, and is named.

    Try: certus parse "Any sentence will do."
    """
    from certus.cli.parse import run

    run(model, inputs or [], options)


@app.command(cls=PlainCommand)
@with_options(AlignOptions)
def align(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="An aligner, from certus train aligner.")],
    inputs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE",
            help='A file of lines "source ||| target" (or with a tab), or two files; stdin by default.',
        ),
    ] = None,
    *,
    options: AlignOptions,
) -> None:
    """Link the words of sentence pairs: one line per pair, such as 0-0 1-2 2-1, source before target.

    Pairs need not be among those that the model learned from. The summary says how many answers are proven.
    """
    from certus.cli.align import run

    run(model, inputs or [], options)


@app.command(cls=PlainCommand)
@with_options(TranslateOptions)
def translate(
    inputs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="MODEL [FILE|TEXT]",
            help="A translator, from certus train translator (none with --table); then files of sentences, "
            "one per line, or texts in quotes; stdin by default.",
        ),
    ] = None,
    *,
    options: TranslateOptions,
) -> None:
    """Translate sentences: one line per sentence, the best translation under the model, proven.

    Words are what blanks separate, as in the training data. The summary says how many are proven to be the
    best. Tables of Moses are used as they are: certus translate --table phrase-table.gz --lm model.arpa FILE
    """
    from certus.cli.translate import run

    run(inputs or [], options)


@app.command(cls=PlainCommand)
@with_options(EvaluateOptions)
def evaluate(
    gold: Annotated[str, typer.Argument(metavar="GOLD", help="The file as it should be.")],
    predicted: Annotated[
        str | None, typer.Argument(metavar="PREDICTED", help="The same sentences as predicted.")
    ] = None,
    *,
    options: EvaluateOptions,
) -> None:
    """Compare a predicted file with the gold file: accuracy by column, chunk and entity F1, attachment.

    Files of bracketed trees are recognised by their content: labelled brackets, exact match, crossing, tags.
    So are files of links (0-1, or 0p1 for one that is only possible): alignment error rate. With --lm, the
    only file is a text, one sentence per line: perplexity. Two plain texts are translations: BLEU and chrF.
    """
    from certus.cli.outputs import check_outputs
    from certus.cli.progress import watch_files

    files = [gold, predicted, options.train, options.against]
    check_outputs({"report": None}, [*files, options.lm])
    with watch_files([*files, gold if options.against else None], sys.stderr.isatty()):
        _measure(gold, predicted, options)


def _measure(gold: str, predicted: str | None, options: EvaluateOptions) -> None:
    from certus.errors import InvalidInput

    if (predicted is None) == (options.lm is None):
        raise InvalidInput(
            "give the file with the predictions after the gold file, or, to measure a language model on a "
            "text, --lm MODEL; not both"
        )
    if predicted is not None:
        from certus.cli.evaluate import run

        run(gold, predicted, options)
    elif options.lm is not None:
        from certus.cli.perplexity import run as measure_perplexity

        measure_perplexity(gold, options.lm, options)


@app.command(cls=PlainCommand)
def verify(
    problem: Annotated[
        str, typer.Argument(metavar="PROBLEM", help="The problem: a file of JSON, or of arrays (.npz).")
    ],
    certificate: Annotated[
        str | None,
        typer.Argument(
            metavar="CERTIFICATE",
            help="The certificate of an answer: a file of JSON. Leave it out for a file that "
            "--certificate of certus tag or parse wrote, which holds both.",
        ),
    ] = None,
    tolerance: Annotated[
        float,
        typer.Option(
            metavar="NUMBER",
            help="How much more than the score of its answer a bound may be, for exit code 0.",
        ),
    ] = 0.0,
) -> None:
    """Check a certificate in exact arithmetic, without the solvers: proven, proven to within ε, or refuted.

    Exit codes:

    0: the certificate holds, and its answer is optimal within the tolerance.

    1: the certificate is refuted; the reason says where.

    2: a file cannot be read, or the certificate is of another problem.

    3: the certificate holds, but its bound exceeds the score by more than the tolerance, or it has no answer.
    """
    from certus.cli.verify import run

    run(problem, certificate, tolerance)


@app.command(cls=PlainCommand)
@with_options(InfoOptions)
def info(model: ModelArgument = None, *, options: InfoOptions) -> None:
    """Show what a model file holds: labels, features, training data, accuracy, licence, arrays."""
    from certus.cli.info import run
    from certus.cli.outputs import check_outputs
    from certus.models.loading import locate

    check_outputs({"report": None}, [locate(model)])
    run(locate(model), as_json=options.json, labels=options.labels, check=options.verify)
