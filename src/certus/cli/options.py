"""The options of the commands, each declared once: its name, its spelling, its default and its help.

Typer's declarations are made from these by ``certus.cli.declare``; the quick way to ``certus tag`` reads them
without typer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import Field, dataclass, field, fields
from typing import Any

SENTENCES, CORPUS = "sentences", "corpus"  # what an option of certus tag is about, where not about both


def option(
    default: Any,
    help: str,
    *spellings: str,
    takes: str | None = None,
    least: float | None = None,
    about: str | None = None,
) -> Any:
    """Declare an option.

    Args:
        default: its value where it is not given; False makes a flag, a tuple an option that may be repeated.
        help: what it does, in a sentence.
        spellings: how it is written; its name after two dashes by default.
        takes: what stands for its value in the help.
        least: the smallest number that it may be.
        about: what it goes with, where not with all that the command takes.
    """
    metadata = {"help": help, "spellings": spellings, "takes": takes, "least": least, "about": about}
    return field(default=default, metadata=metadata)


def list_options(kind: type[Any]) -> Iterator[Field[Any]]:
    """Yield the options that a class declares, its own before those that it shares with others."""
    declared = {one.name: one for one in fields(kind)}
    own = [name for name in declared if name in vars(kind).get("__annotations__", {})]
    return (declared[name] for name in dict.fromkeys([*own, *declared]))


def spell(declared: Field[Any]) -> tuple[str, ...]:
    """Return all spellings of an option."""
    return declared.metadata["spellings"] or (f"--{declared.name.replace('_', '-')}",)


@dataclass(frozen=True, kw_only=True)
class EncodingOptions:
    """How files are read whose format is known."""

    encoding: str = option("utf-8", "The encoding of the files; old corpora may need latin-1.", takes="NAME")


@dataclass(frozen=True, kw_only=True)
class ReadingOptions(EncodingOptions):
    """How files are read."""

    format: str | None = option(
        None,
        "The format of the files: conllu, conllx, columns, brackets, text or raw. It is guessed by default.",
        takes="NAME",
    )


@dataclass(frozen=True, kw_only=True)
class ColumnOptions(ReadingOptions):
    """How files are read that may have columns."""

    columns: str | None = option(
        None, 'The names of the columns, such as "word pos chunk"; the usual ones by default.', takes="NAMES"
    )


@dataclass(frozen=True, kw_only=True)
class TextOptions:
    """How text is read that nobody has tokenised."""

    tokens: str | None = option(
        None,
        "How text is cut into tokens: english, penn or plain. By default, as the model's training data was.",
        takes="NAME",
    )
    one_per_line: bool = option(
        False, "Take each line of text as one sentence. By default, lines are split into sentences."
    )


@dataclass(frozen=True, kw_only=True)
class WritingOptions:
    """Where and how answers are written, and how many threads work on them."""

    output: str | None = option(None, "Write to this file instead of stdout.", "--output", "-o", takes="FILE")
    threads: int = option(1, "How many threads to use.", takes="NUMBER", least=1)
    pretty: bool = option(
        False,
        "Show answers for people to read. This is the default for texts on a terminal.",
        about=SENTENCES,
    )
    no_pretty: bool = option(False, "Write to a terminal what a file would get.", about=SENTENCES)


@dataclass(frozen=True, kw_only=True)
class TagOptions(WritingOptions, TextOptions, ColumnOptions):
    """The options of ``certus tag``."""

    k: int = option(
        1, "How many of the best label sequences to print.", "-k", takes="NUMBER", least=1, about=SENTENCES
    )
    confidence: bool = option(
        False, "Add the probability of each label, and of all of them together.", about=SENTENCES
    )
    proof: bool = option(
        False,
        "Say of each sentence its score, a bound that no labels exceed, and whether the two meet; with "
        "--consistent, what is proven of it as a part of all.",
    )
    certificate: str | None = option(
        None,
        "Write what proves the labels of each sentence to this file, for certus verify.",
        takes="FILE",
        about=SENTENCES,
    )
    unproven: bool = option(False, "Do without proofs, which makes pruned CRFs faster.")
    legal: str | None = option(
        None,
        "Allow only legal sequences of bio, iob1, bilou, iobes or bmes labels.",
        takes="SCHEME",
        about=SENTENCES,
    )
    dictionary: str | None = option(
        None,
        "A file with the labels that words may get: on each line a word, a tab, and labels.",
        takes="FILE",
        about=SENTENCES,
    )
    seconds: float | None = option(
        None,
        "The most time for proving the labels of a sentence, or with --consistent of all; then what is found "
        "by then is written.",
        takes="NUMBER",
    )
    max_iterations: int | None = option(
        None,
        "The most searches of a pruned CRF for proving the labels of a sentence; the same holds then.",
        takes="NUMBER",
        least=1,
        about=SENTENCES,
    )
    inference: str | None = option(
        None,
        "How a latent-crf, or a refinement by em, finds labels: ldi, bhp, bmp or mbr; as it was trained for "
        "by default.",
        takes="NAME",
        about=SENTENCES,
    )
    steps: int = option(
        0,
        "The most latent paths that ldi and mbr look at; 0 leaves the limit to them.",
        takes="NUMBER",
        least=0,
        about=SENTENCES,
    )
    consistent: bool = option(
        False,
        "Label all files together, so that words not seen in training get the same labels.",
        about=CORPUS,
    )
    text: tuple[str, ...] = option(
        (), "With --consistent: a file of more text, which need not be labelled.", takes="FILE", about=CORPUS
    )
    delta: str | None = option(
        None,
        "With --consistent: the weights of agreement, same,close,null, such as 4,3,0.",
        takes="NUMBERS",
        about=CORPUS,
    )
    memory: float = option(
        2.0,
        "With --consistent: the gigabytes, about, that the lattices of a pruned CRF may take; with fewer, "
        "fewer sentences are certified.",
        takes="NUMBER",
        least=0.001,
        about=CORPUS,
    )
    known: str | None = option(
        None,
        "With --consistent: the training file, for a model of an older version.",
        takes="FILE",
        about=CORPUS,
    )
    quiet: bool = option(False, "Print nothing but the answer, and errors.", "--quiet", "-q")

    def find_given(self, about: str) -> list[str]:
        """Return the spellings of the options about something that differ from their defaults."""
        return [
            spell(one)[0]
            for one in list_options(TagOptions)
            if one.metadata["about"] == about and getattr(self, one.name) != one.default
        ]


@dataclass(frozen=True, kw_only=True)
class ParseOptions(WritingOptions, TextOptions, ReadingOptions):
    """The options of ``certus parse``."""

    k: int = option(1, "How many of the best trees to print.", "-k", takes="NUMBER", least=1)
    scores: bool = option(False, "Put the rank, the score and the proof before each tree, as with -k.")
    certificate: str | None = option(
        None,
        "Of constituency parsers: write what proves the tree of each sentence to this file, for certus "
        "verify.",
        takes="FILE",
    )
    with_tagger: str | None = option(
        None,
        "A tagger. Of a dependency parser, it gives the tags that the parser looks at; of a constituency "
        "parser, it must be of xpos, and trees and tags are found jointly and agree.",
        takes="MODEL",
    )
    weight: float | None = option(
        None,
        "Of constituency parsers: the weight of the tagger's score beside the grammar's; 1 by default.",
        takes="NUMBER",
        least=0,
    )
    pruning: float | None = option(
        None,
        "Of dependency parsers: heads less likely than this many times the best one are left out, with "
        "--cascade heads. Of "
        "constituency parsers with a tagger: what the thresholds of its lattice are multiplied by; 1 by "
        "default. At 0 nothing is pruned, and trees are proven the best of the whole model, which takes "
        "longer.",
        takes="NUMBER",
        least=0,
    )
    seconds: float | None = option(
        None,
        "Of dependency parsers: the most that may be spent on proving the tree of a sentence.",
        takes="NUMBER",
    )
    quiet: bool = option(False, "Print nothing but the answer, and errors.", "--quiet", "-q")


@dataclass(frozen=True, kw_only=True)
class AlignOptions(EncodingOptions):
    """The options of ``certus align``."""

    output: str | None = option(None, "Write to this file instead of stdout.", "--output", "-o", takes="FILE")
    method: str = option(
        "exact",
        "exact, the best agreement of both directions, proven; or forward, backward, intersection, union, "
        "grow-diag, grow-diag-final or grow-diag-final-and.",
        takes="NAME",
    )
    probabilities: bool = option(False, "Add the probability of each link, as in 0-1:0.987.")
    scores: bool = option(False, "Put score, bound and status before the links of each pair.")
    pretty: bool = option(False, "Draw a grid of words for people to read.")
    draw: str | None = option(
        None,
        "Also draw grids of all pairs, shaded by probability, into this .svg or .html file.",
        takes="FILE",
    )
    phrases: str | None = option(
        None,
        "Also write the phrase pairs of each pair to this file: source ||| target ||| links inside.",
        takes="FILE",
    )
    max_phrase: int = option(7, "The most words of a phrase, for --phrases.", takes="NUMBER", least=1)
    seconds: float | None = option(
        None,
        "The most time that a pair may take; then its answer may be unproven.",
        takes="NUMBER",
    )
    skip: bool = option(False, "Pass over lines that cannot be read, without links, and name them.")
    threads: int = option(1, "How many threads to use.", takes="NUMBER", least=1)
    quiet: bool = option(False, "Print nothing but the answer, and errors.", "--quiet", "-q")


@dataclass(frozen=True, kw_only=True)
class TranslateOptions(EncodingOptions):
    """The options of ``certus translate``."""

    output: str | None = option(None, "Write to this file instead of stdout.", "--output", "-o", takes="FILE")
    k: int = option(
        1,
        "How many of the best translations to write for each sentence, as Moses does: number ||| text ||| "
        "features ||| score.",
        "-k",
        takes="NUMBER",
        least=1,
    )
    distinct: bool = option(False, "Let the k best differ in their words, not only in their phrases.")
    alignment: bool = option(
        False, "Add which source words became which target words, as in 0-1=0-2 2=3, after |||."
    )
    proof: bool = option(False, "Put score, bound and status before each translation, with tabs.")
    method: str = option(
        "auto",
        "auto (optimal-beam), beam, lagrangian, astar, or stack, the decoder of Moses, which proves nothing; "
        "for hierarchical models coarse-to-fine, optimal-beam, lagrangian, cube, exhaustive or ilp.",
        takes="NAME",
    )
    width: int | None = option(
        None,
        "How many hypotheses beam and stack keep, 1000 by default, and cells that cube looks at, 200.",
        takes="NUMBER",
        least=1,
    )
    limit: int | None = option(
        None,
        "The longest jump, in words; -1 for any. By default, that of the model.",
        takes="NUMBER",
        least=-1,
    )
    terms: str | None = option(
        None,
        "A file of terms: lines 'source ||| target' force a translation, '! target' forbids one.",
        takes="FILE",
    )
    seconds: float | None = option(
        None,
        "The most time that a sentence may take; what is found by then is written. 5 by default for "
        "hierarchical models, unlimited for phrases.",
        takes="NUMBER",
    )
    table: str | None = option(
        None, "A phrase table of Moses (.gz is decompressed), in place of a model.", takes="FILE"
    )
    lm: str | None = option(None, "The language model beside --table: ARPA, or of Certus.", takes="FILE")
    weights: str | None = option(
        None, "The weights of --table, or in place of the model's: a moses.ini, or its lines.", takes="FILE"
    )
    scores: str = option(
        "guessed",
        "What the numbers of --table are: probability, log10, natural; log10 by default if one is negative.",
        takes="NAME",
    )
    threads: int = option(1, "How many threads to use.", takes="NUMBER", least=1)
    quiet: bool = option(False, "Print nothing but the answer, and errors.", "--quiet", "-q")


@dataclass(frozen=True, kw_only=True)
class EvaluateOptions(ColumnOptions):
    """The options of ``certus evaluate``."""

    train: str | None = option(
        None, "The training file: words that it lacks are counted apart, as unknown.", takes="FILE"
    )
    against: str | None = option(
        None, "Another prediction, to test whether the difference is more than chance.", takes="FILE"
    )
    judge: str | None = option(
        None,
        'The columns that were predicted, such as "upos feats": no others are judged. '
        "By default, columns that are the same as in the gold file throughout are marked as copied.",
        takes="NAMES",
    )
    details: bool = option(
        False,
        "Attachment of dependency trees by relation, length of sentence, distance of heads and projectivity; "
        "phrase pairs of alignments.",
    )
    lm: str | None = option(
        None,
        "A language model: instead of a prediction, its perplexity on the text is measured.",
        takes="MODEL",
    )
    bleu: bool = option(
        False,
        "Compare translations, one sentence per line: BLEU and chrF of sacrebleu. This is what happens to "
        "plain text.",
    )
    json: bool = option(False, "Print everything as JSON.")


@dataclass(frozen=True, kw_only=True)
class InfoOptions:
    """The options of ``certus info``."""

    json: bool = option(False, "Print one JSON object with everything.")
    labels: bool = option(False, "Name all labels, not only the first few.")
    verify: bool = option(False, "Read the whole file and compare it with its checksum.")
