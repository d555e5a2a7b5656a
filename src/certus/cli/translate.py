"""``certus translate``: the best translation of each sentence, proven."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

from certus.cli.options import TranslateOptions
from certus.cli.outputs import check_outputs
from certus.cli.streams import deliver, is_file, is_model, is_typed
from certus.cli.wording import format_count
from certus.errors import InvalidInput
from certus.formats import moses
from certus.formats.blocks import decode
from certus.formats.parallel import BARS
from certus.formats.text import split_lines
from certus.models.language_model import LanguageModel
from certus.models.loading import load
from certus.models.translator import Translator
from certus.solution import KBest
from certus.storage.files import check_encoding, name_of, open_source
from certus.translate.hierarchical_methods import CubePruning, ForestMethod
from certus.translate.methods import Beam, Method, Stack
from certus.translate.solution import Translation
from certus.translate.terms import read_terms
from certus.translate.weights import Weights

BATCH = 16  # sentences translated together, for each thread


def run(arguments: list[str], options: TranslateOptions) -> None:
    """Translate the inputs and write one line for each."""
    check_encoding(options.encoding)
    model, names = _sort_out(arguments, options)
    read = [model, options.table, options.lm, options.weights, options.terms, *names]
    check_outputs({"output": options.output}, read)
    translator = open_translator(model, options)
    method = make_method(translator, options)
    waiting = is_typed(names)
    tally = Tally()
    batch = 1 if waiting else BATCH * options.threads
    found = translate_lines(translator, read_lines(names, options), options, method, batch, tally)
    deliver(write_answers(found, options), options.output, options.encoding, waiting)
    if not options.quiet:
        print(tally.summarize(method), file=sys.stderr)


def _sort_out(arguments: list[str], options: TranslateOptions) -> tuple[str | None, list[str]]:
    """Tell the model from what is to be translated."""
    if options.table is not None:
        if arguments and is_model(arguments[0]):
            raise InvalidInput(f"--table and the model {arguments[0]} exclude each other: leave one out")
        return None, arguments or ["-"]
    if not arguments:
        raise InvalidInput(
            "name a translator, from certus train translator; or a --table of Moses, and its --lm"
        )
    return arguments[0], arguments[1:] or ["-"]


def make_method(translator: Translator, options: TranslateOptions) -> Method | ForestMethod:
    """Return the method with its width."""
    method = translator.choose_method(options.method, k=options.k)
    if options.width is None:
        return method
    if not isinstance(method, Beam | Stack | CubePruning):
        raise InvalidInput(f"--width is for --method beam, stack and cube, not {options.method}")
    return replace(method, width=options.width)


def open_translator(path: str | None, options: TranslateOptions) -> Translator:
    """Open a translator, or make one of tables."""
    if path is None:
        return _join_tables(options)
    if options.lm is not None:
        raise InvalidInput("--lm goes with --table; a translator has a language model of its own")
    model = load(path)
    if not isinstance(model, Translator):
        raise InvalidInput(f"{path} holds no translator; train one with certus train translator")
    if options.weights is not None:
        found = moses.read_weights(options.weights, encoding=options.encoding)
        model.weights = Weights.from_dict(found, len(model.weights.translation))
    return model


def _join_tables(options: TranslateOptions) -> Translator:
    if options.table is None or options.lm is None:
        raise InvalidInput("give the language model of --table with --lm: an ARPA file, or one of Certus")
    language_model = load(options.lm)
    if not isinstance(language_model, LanguageModel):
        raise InvalidInput(f"{options.lm} holds no language model")
    return Translator.from_tables(
        options.table,
        language_model,
        weights=options.weights,
        scores=options.scores,
        encoding=options.encoding,
    )


def read_lines(names: Iterable[str], options: TranslateOptions) -> Iterator[list[str]]:
    """Yield the words of each line; what is no file is a text itself."""
    for name in names:
        if not is_file(name):
            yield name.split()
            continue
        with open_source(name) as chunk:
            for line, _ in split_lines(decode(chunk, name_of(name), options.encoding)):
                yield line.removeprefix("\ufeff").split()


class Tally:
    """Counts what was translated."""

    def __init__(self) -> None:
        self.sentences = self.proven = self.words = 0
        self.gap = 0.0

    def add(self, answer: Translation) -> None:
        """Count a sentence."""
        self.sentences += 1
        self.words += len(answer.words)
        self.proven += answer.optimal
        self.gap = max(self.gap, answer.gap)

    def summarize(self, method: Method | ForestMethod) -> str:
        """Say it in a line."""
        text = f"{format_count(self.sentences, 'sentence')}, {format_count(self.words, 'word')}"
        if not method.proves:
            return f"{text}, none proven: {method.name} proves nothing"
        text += f", {self.proven:,} proven optimal"
        return text if self.proven == self.sentences else f"{text}, the largest gap {self.gap:.4g}"


def translate_lines(
    translator: Translator,
    lines: Iterator[list[str]],
    options: TranslateOptions,
    method: Method | ForestMethod,
    batch: int,
    tally: Tally,
) -> Iterator[KBest[Translation]]:
    """Translate lines in batches."""
    terms = None if options.terms is None else read_terms(options.terms, encoding=options.encoding)
    limit: Any = "model" if options.limit is None else None if options.limit < 0 else options.limit
    while several := list(islice(lines, batch)):
        answers = translator.translate_batch(
            several,
            k=options.k,
            method=method,
            terms=terms,
            distinct=options.distinct,
            limit=limit,
            seconds="model" if options.seconds is None else options.seconds,
            threads=options.threads,
        )
        for answer in answers:
            ranked = answer if isinstance(answer, KBest) else KBest([answer])
            tally.add(ranked[0])
            yield ranked


def write_answers(found: Iterable[KBest[Translation]], options: TranslateOptions) -> Iterator[str]:
    """Write a line per translation."""
    for number, answers in enumerate(found):
        for answer in answers:
            if options.k > 1:
                line = moses.format_translation(number, answer.text, answer.features, answer.score)
            else:
                line = answer.text
            if options.proof:
                line = f"{answer.score:.6f}\t{answer.bound:.6f}\t{answer.status.value}\t{line}"
            if options.alignment:
                line = f"{line} {BARS} {answer.alignment}"
            yield f"{line}\n"
