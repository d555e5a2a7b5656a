"""``certus parse`` with a dependency parser: heads and relations, in CoNLL-U."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from certus.annotation.dependencies import Parse
from certus.annotation.sentence import Sentence, replace
from certus.annotation.targets import Target
from certus.annotation.tokenizer import ENGLISH
from certus.cli.labelled import insert_comments, lay_out_columns
from certus.cli.options import ParseOptions
from certus.cli.progress import is_watched, watch_files
from certus.cli.streams import (
    choose_raw_text,
    deliver,
    is_file,
    is_typed,
    make_raw_text,
    open_tagger,
    parse_text,
    wants_view,
)
from certus.cli.wording import format_count
from certus.errors import InvalidInput
from certus.formats import read
from certus.formats.blocks import join_sentences
from certus.models.dependency_parser import DependencyParser
from certus.models.tagger import Tagger

BATCH = 512  # sentences that are parsed together
_TREE = Target("head")  # what is written, for texts that get columns of their own


def run(parser: DependencyParser, inputs: list[str], options: ParseOptions) -> None:
    """Parse the inputs and write CoNLL-U."""
    if options.weight is not None:
        raise InvalidInput("--weight is of constituency parsers: leave it out")
    tagger = None if options.with_tagger is None else open_tagger(options.with_tagger)
    waiting, pretty = is_typed(inputs), wants_view(inputs, options)
    sentences = read_sentences(inputs, tagger, options)
    tally = Tally()
    parsed = parse_sentences(parser, tagger, sentences, options, 1 if waiting else BATCH, tally)
    written = show_trees(parsed) if pretty else write_trees(parsed, options)
    with watch_files(inputs, is_watched(options.output)):
        deliver(written, options.output, options.encoding, waiting)
    if not options.quiet:
        print(tally.summarize(), file=sys.stderr)


def read_sentences(inputs: Iterable[str], tagger: Tagger | None, options: ParseOptions) -> Iterator[Sentence]:
    """Read files; what is no file is text itself. Text gets the columns of CoNLL-U."""
    raw = (
        make_raw_text(options, options.tokens or ENGLISH)
        if tagger is None
        else choose_raw_text(tagger, options)
    )
    for name in inputs:
        found = (
            read(
                name,
                options.format,
                encoding=options.encoding,
                tokens=raw.tokens,
                sentences=raw.sentences,
            )
            if is_file(name)
            else parse_text(name, raw)
        )
        yield from (lay_out_columns(sentence, _TREE) for sentence in found)


class Tally:
    """How many trees are proven to be the best."""

    def __init__(self) -> None:
        self.sentences = self.proven = self.pruned = 0

    def add(self, answer: Parse) -> None:
        """Count a sentence."""
        self.sentences += 1
        self.proven += answer.optimal
        self.pruned += answer.pruned > 0

    def summarize(self) -> str:
        """Say it in a line."""
        text = f"{format_count(self.sentences, 'sentence')}, {self.proven:,} proven optimal"
        if self.pruned:
            text += f", {self.pruned:,} of them over likely arcs only (--pruning 0 proves the whole model)"
        return text


def parse_sentences(
    parser: DependencyParser,
    tagger: Tagger | None,
    sentences: Iterator[Sentence],
    options: ParseOptions,
    batch: int,
    tally: Tally,
) -> Iterator[tuple[Sentence, list[Parse]]]:
    """Tag sentences where a tagger is given, parse them in batches, and yield each with its trees."""
    while several := list(islice(sentences, batch)):
        if tagger is not None:
            several = tag_sentences(tagger, several, options.threads)
        for sentence in several:
            check_columns(parser, sentence, tagger is not None)
        given: dict[str, Any] = {
            "pruning": options.pruning,
            "seconds": options.seconds,
            "threads": options.threads,
        }
        answers: Any = parser.parse_batch(several, options.k, **given)
        for sentence, answer in zip(several, answers, strict=True):
            ranked = [answer] if options.k == 1 else list(answer)
            tally.add(ranked[0])
            yield sentence, ranked


def tag_sentences(tagger: Tagger, sentences: list[Sentence], threads: int) -> list[Sentence]:
    """Put the tags of a tagger in place."""
    answers = tagger.tag_batch(sentences, threads=threads)
    return [
        replace(sentence, tagger.target.fill(sentence, answer.labels))
        for sentence, answer in zip(sentences, answers, strict=True)
    ]


def check_columns(parser: DependencyParser, sentence: Sentence, is_tagged: bool) -> None:
    """Refuse a sentence without any tag where the parser looks at tags: its answer would be worth nothing."""
    if "upos" in parser.columns and set(sentence.column("upos")) == {"_"}:
        advice = (
            "the tagger leaves upos empty: name one of upos by --with-tagger"
            if is_tagged
            else "name a tagger by --with-tagger"
        )
        raise InvalidInput(
            f"{sentence.source}:{sentence.line}: the parser looks at upos, which is empty; {advice}"
        )


def write_trees(parsed: Iterable[tuple[Sentence, list[Parse]]], options: ParseOptions) -> Iterator[str]:
    """Yield the texts of sentences with their trees: all other columns stay as they are."""
    scores = options.scores or options.k > 1
    return join_sentences(
        (write_tree(sentence, answer, rank if options.k > 1 else None, scores), sentence.layout)
        for sentence, ranked in parsed
        for rank, answer in enumerate(ranked, 1)
    )


def write_tree(sentence: Sentence, answer: Parse, rank: int | None, scores: bool) -> str:
    """Return a sentence with its tree, and if asked with its score and proof as comments."""
    made = replace(sentence, {"head": list(map(str, answer.heads)), "deprel": answer.relations})
    proof = [] if rank is None else [f"# rank = {rank}"]
    proof += [
        f"# parse_score = {answer.score:.6g}",
        f"# parse_bound = {answer.bound:.6g}",
        f"# parse_status = {answer.status.value}",
    ]
    return insert_comments(made, proof if scores else [])


def show_trees(parsed: Iterable[tuple[Sentence, list[Parse]]]) -> Iterator[str]:
    """Yield drawings of trees."""
    for sentence, ranked in parsed:
        yield from (f"{answer.value.pretty(sentence.words)}\n\n" for answer in ranked)
