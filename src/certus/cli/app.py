"""The commands and their options. What a command needs is imported when it runs, so that help is instant."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from certus.cli.bench import bench
from certus.cli.options import Columns, Encoding, Format, Inputs, Output, OwnModel, Quiet, Threads
from certus.cli.train import train as train_commands

app = typer.Typer(
    name="certus",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(bench, name="bench")
app.add_typer(train_commands, name="train")


def _version(wanted: bool) -> None:
    if wanted:
        from certus import __version__

        print(f"certus {__version__}")
        raise typer.Exit


_TEACH = """
**Start here**

    certus demo                  a sentence decoded, with its proof (two seconds)
    certus tag "Any sentence."   parts of speech and morphology, from the English model
    certus train tagger --help   a tagger of your own, from CoNLL-U, columns or trees
    certus train parser --help   a parser of your own, from bracketed trees
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
        bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Find the best label sequence or tree under a model, fast, with a bound that proves it is the best.

    A model gives each label a score at each position (emissions) and each pair of neighbouring labels another
    (transitions). Certus finds the sequence with the highest total, or the k highest, exactly.
    """


@app.command()
def demo() -> None:
    """Decode a small sentence and show what comes back: score, bound, runners-up, confidences, legal BIO."""
    from certus.cli.demo import run

    run()


@app.command()
def tag(
    model: OwnModel = None,
    inputs: Inputs = None,
    k: Annotated[int, typer.Option("-k", min=1, help="How many of the best label sequences to print.")] = 1,
    confidence: Annotated[
        bool, typer.Option("--confidence", help="Add the probability of each label, and of all together.")
    ] = False,
    threads: Threads = 1,
    legal: Annotated[
        str | None, typer.Option(help="Allow only legal sequences of bio, bilou or iobes labels.")
    ] = None,
    dictionary: Annotated[
        str | None, typer.Option(help="Labels that words may get: a word, a tab, labels; a line each.")
    ] = None,
    inference: Annotated[
        str | None,
        typer.Option(help="Of a latent-crf: ldi, bhp, bmp or mbr; as it was trained for by default."),
    ] = None,
    steps: Annotated[
        int, typer.Option(min=0, help="Of ldi and mbr: the most latent paths to look at; 0: as they have it.")
    ] = 0,
    output: Output = None,
    format: Format = None,
    columns: Columns = None,
    encoding: Encoding = "utf-8",
    consistent: Annotated[
        bool,
        typer.Option(
            "--consistent", help="Label all files as a whole: words unseen in training shall agree."
        ),
    ] = False,
    text: Annotated[
        list[str] | None, typer.Option(help="With --consistent: more text, which need not be labelled.")
    ] = None,
    delta: Annotated[
        str | None,
        typer.Option(help="With --consistent: the weights same,close,null; such as 4,3,0."),
    ] = None,
    known: Annotated[
        str | None, typer.Option(help="With --consistent: the training file, for models of older versions.")
    ] = None,
) -> None:
    """Label sentences: CoNLL-U and column files come out as they went in, plain text as CoNLL-U.

    Try: certus tag "Any sentence will do."
    """
    from certus.cli import consistent as whole
    from certus.cli import tag as alone
    from certus.errors import InvalidInput

    files: dict[str, Any] = {
        "threads": threads, "output": output, "format": format, "columns": columns, "encoding": encoding
    }  # fmt: skip
    one_by_one: dict[str, Any] = {
        "k": k, "confidence": confidence, "legal": legal, "dictionary": dictionary, "inference": inference,
        "steps": steps,
    }  # fmt: skip
    if consistent:
        whole.check(**one_by_one)
        whole.run(model, inputs or [], text=text or [], delta=delta, known=known, **files)
    elif text or delta is not None or known is not None:
        raise InvalidInput("--text, --delta and --known go with --consistent: add it, or leave them out")
    else:
        alone.run(model, inputs or [], **one_by_one, **files)


@app.command()
def parse(
    model: Annotated[str, typer.Argument(help="A parser, from certus train parser.", show_default=False)],
    inputs: Inputs = None,
    k: Annotated[int, typer.Option("-k", min=1, help="How many of the best trees to print.")] = 1,
    scores: Annotated[
        bool, typer.Option("--scores", help="Put rank, score and proof before each tree; as with -k.")
    ] = False,
    with_tagger: Annotated[
        str | None,
        typer.Option(help="A tagger of xpos, trained on the same trees: trees and tags that agree, jointly."),
    ] = None,
    weight: Annotated[
        float | None, typer.Option(help="Of the tagger's score beside the grammar's; 1 by default.", min=0)
    ] = None,
    pretty: Annotated[bool, typer.Option("--pretty", help="Draw the trees.")] = False,
    threads: Threads = 1,
    output: Output = None,
    format: Format = None,
    encoding: Encoding = "utf-8",
    quiet: Quiet = False,
) -> None:
    """Find the trees of sentences: plain text, a sentence a line, or the words of bracketed trees.

    Trees come out in brackets, one a line. The summary says how many are proven to be the best; a sentence
    that the grammar does not derive gets a cover, as few constituents as possible side by side, and is named.
    """
    from certus.cli.parse import run

    run(
        model,
        inputs or [],
        k=k,
        scores=scores,
        pretty=pretty,
        threads=threads,
        output=output,
        format=format,
        encoding=encoding,
        quiet=quiet,
        with_tagger=with_tagger,
        weight=weight,
    )


@app.command()
def evaluate(
    gold: Annotated[str, typer.Argument(help="The file as it should be.", show_default=False)],
    predicted: Annotated[str, typer.Argument(help="The same sentences as predicted.", show_default=False)],
    train: Annotated[
        str | None, typer.Option(help="The training file: words it lacks are counted apart as unknown.")
    ] = None,
    against: Annotated[
        str | None, typer.Option(help="Another prediction: is the difference more than chance?")
    ] = None,
    format: Format = None,
    columns: Columns = None,
    encoding: Encoding = "utf-8",
    json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Compare a predicted file with the gold file: accuracy by column, chunk and entity F1, attachment.

    Files of bracketed trees are told by their content: labelled brackets, exact match, crossing, tags.
    """
    from certus.cli.evaluate import run

    run(
        gold,
        predicted,
        train=train,
        against=against,
        format=format,
        columns=columns,
        encoding=encoding,
        as_json=json,
    )


@app.command()
def info(
    model: OwnModel = None,
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
    from certus.models.loading import locate

    run(locate(model), as_json=json, labels=labels, check=verify)
