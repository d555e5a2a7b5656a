"""The options of ``certus train``, declared as those of the other commands are."""

from __future__ import annotations

from dataclasses import dataclass

from certus.cli.options import ColumnOptions, EncodingOptions, ReadingOptions, list_options, option, spell

CONSTITUENTS, DEPENDENCIES = "constituents", "dependencies"  # what an option of certus train parser is about


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
