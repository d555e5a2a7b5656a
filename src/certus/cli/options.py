"""The options of the commands, each declared once: its name, its spelling, its default and its help.

Typer's declarations are made from these by ``certus.cli.declare``; the quick way to ``certus tag`` reads them
without typer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import Field, dataclass, field, fields
from typing import Any

SENTENCES, CORPUS = "sentences", "corpus"  # what an option of certus tag is about, where not about both
CONSTITUENTS, DEPENDENCIES = "constituents", "dependencies"  # what one of certus train parser is about


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
        about: SENTENCES or CORPUS, CONSTITUENTS or DEPENDENCIES.
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
        "Say of each sentence its score, a bound that no labels exceed, and whether the two meet.",
        about=SENTENCES,
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
    known: str | None = option(
        None,
        "With --consistent: the training file, for a model of an older version.",
        takes="FILE",
        about=CORPUS,
    )

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
        "Of dependency parsers: heads less likely than this many times the best one are left out. Of "
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
        least=0,
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
        None, "The most time that a pair may take; then its answer may be unproven.", takes="NUMBER", least=0
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
        least=0,
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


@dataclass(frozen=True, kw_only=True)
class TrainingOptions(EncodingOptions):
    """What the training of all models shares."""

    licence: str | None = option(None, "The licence to record in the model.", takes="TEXT")
    attribution: str | None = option(None, "Whom to name for the data, to record in the model.", takes="TEXT")
    quiet: bool = option(False, "Print nothing but errors.", "--quiet", "-q")


@dataclass(frozen=True, kw_only=True)
class TrainTaggerOptions(TrainingOptions, ColumnOptions):
    """The options of ``certus train tagger``, apart from those of the learners."""

    dev: str | None = option(None, "Held-out sentences: the best epoch on them is kept.", takes="FILE")
    target: str = option("upos", "What to predict: upos, xpos, upos+feats, 'pos|chunk', ...", takes="COLUMNS")
    learner: str = option("pruned-crf", "How to learn it; the learners are listed below.", takes="NAME")
    templates: str | None = option(
        None, "A file of feature templates; docs/features.md explains them.", takes="FILE"
    )
    threads: int = option(
        1, "How many threads to use for lbfgs, latent-crf and the dev data.", takes="NUMBER", least=1
    )
    checkpoint: str | None = option(
        None, "The file that keeps training between epochs; beside the model by default.", takes="FILE"
    )
    no_checkpoint: bool = option(
        False, "Keep nothing between epochs: a run that is killed has to begin again."
    )


@dataclass(frozen=True, kw_only=True)
class TrainParserOptions(TrainingOptions, ReadingOptions):
    """The options of ``certus train parser``; those of dependency parsers are declared by ArcOptions."""

    dev: str | None = option(None, "Held-out trees to measure F1 or LAS on.", takes="FILE")
    vertical: int | None = option(
        None,
        "How many generations labels tell; 2, the default, adds the parent.",
        takes="NUMBER",
        least=1,
        about=CONSTITUENTS,
    )
    horizontal: int | None = option(
        None,
        "How many siblings the labels of binarisation tell; 2 by default.",
        takes="NUMBER",
        least=0,
        about=CONSTITUENTS,
    )
    direction: str | None = option(
        None,
        "The direction of binarisation: head (the default), left or right.",
        takes="NAME",
        about=CONSTITUENTS,
    )
    splits: str | None = option(
        None,
        "Refinements of labels by name, separated by commas; 'none' for none, the usual ones by default.",
        takes="NAMES",
        about=CONSTITUENTS,
    )
    min_hidden: int | None = option(
        None,
        "Rarer labels of binarisation tell fewer siblings; 20 by default.",
        takes="NUMBER",
        least=1,
        about=CONSTITUENTS,
    )
    rare: int | None = option(
        None,
        "Words seen at most this often tell about new words; 5 by default.",
        takes="NUMBER",
        least=0,
        about=CONSTITUENTS,
    )
    trusted: int | None = option(
        None,
        "Words seen this often have no tags but those seen; 20 by default.",
        takes="NUMBER",
        least=1,
        about=CONSTITUENTS,
    )
    templates: str | None = option(
        None,
        "A file of templates of arcs; docs/dependency-parsing.md explains them.",
        takes="FILE",
        about=DEPENDENCIES,
    )
    checkpoint: str | None = option(
        None,
        "The file that keeps training between epochs; beside the model by default.",
        takes="FILE",
        about=DEPENDENCIES,
    )
    no_checkpoint: bool = option(
        False,
        "Keep nothing between epochs: a run that is killed has to begin again.",
        about=DEPENDENCIES,
    )
    threads: int = option(
        1, "How many threads to use for measuring on the dev data.", takes="NUMBER", least=1
    )

    def find_given(self, about: str) -> list[str]:
        """Return the spellings of the options about a kind of parser that differ from their defaults."""
        return [
            spell(one)[0]
            for one in list_options(TrainParserOptions)
            if one.metadata["about"] == about and getattr(self, one.name) != one.default
        ]


@dataclass(frozen=True, kw_only=True)
class TrainAlignerOptions(TrainingOptions):
    """The options of ``certus train aligner``; those that are None have the defaults of AlignerOptions."""

    model: str | None = option(
        None, "ibm1, diagonal, hmm, or fertility, which is the default and the best.", takes="NAME"
    )
    iterations: int | None = option(
        None, "How often to go over the data, for each stage; 5 by default.", takes="NUMBER", least=1
    )
    no_agreement: bool = option(False, "Train each direction by itself.")
    sparse: float | None = option(
        None, "Pseudo-count of pairs of words, 0.1 by default; 0 for plain EM.", takes="NUMBER", least=0
    )
    spelling: float | None = option(
        None, "Pseudo-count of words spelled alike; 3 by default.", takes="NUMBER", least=0
    )
    stems: float | None = option(
        None, "Pseudo-count of words whose stems are linked; 100 by default.", takes="NUMBER", least=0
    )
    null: float | None = option(
        None, "The probability that a word has no link; 0.1 by default.", takes="NUMBER", least=0
    )
    min_count: int | None = option(
        None,
        "Words that occur less often are learned as one, to save memory; 1 by default.",
        takes="NUMBER",
        least=1,
    )
    skip: bool = option(False, "Leave out lines that cannot be read, and name them, instead of ending.")
    max_length: int = option(250, "Pairs with more words on a side are left out.", takes="NUMBER", least=1)
    lexicon: str | None = option(
        None,
        "Also write the pairs of words to this file: source, target, p(target|source), p(source|target).",
        takes="FILE",
    )
    threads: int = option(1, "How many threads to use; the model is the same.", takes="NUMBER", least=1)
    checkpoint: str | None = option(
        None, "The file that keeps training between iterations; beside the model by default.", takes="FILE"
    )
    no_checkpoint: bool = option(
        False, "Keep nothing between iterations: a run that is killed has to begin again."
    )


@dataclass(frozen=True, kw_only=True)
class TrainTranslatorOptions(TrainingOptions):
    """The options of ``certus train translator``; those that are None have TranslatorOptions' defaults."""

    dev_source: str | None = option(
        None, "Other sentences, to tune the weights on; by default pairs are kept aside.", takes="FILE"
    )
    dev_target: str | None = option(None, "The translations of --dev-source.", takes="FILE")
    model: str | None = option(
        None, "phrases (the default), or hierarchical for rules with gaps.", takes="NAME"
    )
    held_out: int | None = option(
        None,
        "Pairs kept aside to tune weights on, without --dev-source; 400 at most by default.",
        takes="NUMBER",
        least=0,
    )
    tuning: int | None = option(
        None,
        "The most rounds of tuning, 10 by default; 0 leaves the weights as they are.",
        takes="NUMBER",
        least=0,
    )
    k: int | None = option(
        None,
        "Translations of each sentence that a round of tuning adds; 30 by default.",
        "-k",
        takes="NUMBER",
        least=1,
    )
    order: int | None = option(
        None, "The order of the language model; 3 by default.", takes="NUMBER", least=1
    )
    max_phrase: int | None = option(
        None, "The most words of a phrase; 7 by default.", takes="NUMBER", least=1
    )
    max_length: int | None = option(
        None, "Pairs with more words on a side are left out; 80 by default.", takes="NUMBER", least=1
    )
    symmetrization: str | None = option(
        None,
        "How links are made of both directions: exact, grow-diag-final-and (the default), intersection, ...",
        takes="NAME",
    )
    limit: int | None = option(
        None,
        "The longest jump in a translation, in words; 6 by default, -1 for any.",
        takes="NUMBER",
        least=-1,
    )
    skip: bool = option(False, "Leave out lines that cannot be read, and name them, instead of ending.")
    checkpoint: str | None = option(
        None, "Where training is kept between its stages; MODEL.checkpoint by default.", takes="FILE"
    )
    no_checkpoint: bool = option(False, "Keep nothing: a run that is killed begins anew.")
    threads: int = option(1, "How many threads to use.", takes="NUMBER", least=1)


@dataclass(frozen=True, kw_only=True)
class TrainLanguageModelOptions(TrainingOptions):
    """The options of ``certus train lm``."""

    order: int | None = option(
        None, "The words of the longest n-grams; 5 by default.", takes="NUMBER", least=1
    )
    arpa: bool = option(False, "Write an ARPA file, which other tools read (.gz is compressed).")
