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
from certus.learn.arcs import learner
from certus.models.dependency_parser import DependencyParser
from certus.models.tagger import Tagger

BATCH = 512  # sentences that are parsed together
_TREE = Target("head")  # what is written, for texts that get columns of their own


def run(parser: DependencyParser, inputs: list[str], options: ParseOptions, *, is_default: bool) -> None:
    """Parse the inputs and write CoNLL-U.

    Args:
        parser: what parses.
        inputs: files and texts.
        options: of the command.
        is_default: whether it is the English parser; the English tagger then tags what has no tags.
    """
    if options.weight is not None:
        raise InvalidInput("--weight is of constituency parsers: leave it out")
    tagger = None
    if options.with_tagger is not None or is_default:
        tagger = SentenceTagger(open_tagger(options.with_tagger), fill_only=options.with_tagger is None)
    waiting, pretty = is_typed(inputs), wants_view(inputs, options)
    sentences = read_sentences(inputs, tagger, options)
    tally = Tally()
    parsed = parse_sentences(parser, tagger, sentences, options, 1 if waiting else BATCH, tally)
    written = show_trees(parsed) if pretty else write_trees(parsed, options)
    with watch_files(inputs, is_watched(options.output)):
        deliver(written, options.output, options.encoding, waiting)
    if not options.quiet:
        print(tally.summarize(), file=sys.stderr)
    if tally.refused:
        raise InvalidInput("\n".join(tally.refused))


class SentenceTagger:
    """Puts the tags of a tagger in place: in every sentence, or only in those that have none."""

    def __init__(self, tagger: Tagger, *, fill_only: bool) -> None:
        self.tagger, self._fill_only = tagger, fill_only

    def tag(self, sentences: list[Sentence], threads: int) -> list[Sentence]:
        """Return the sentences with tags."""
        made = list(sentences)
        wanted = [n for n, one in enumerate(sentences) if not self._fill_only or is_untagged(one)]
        answers = self.tagger.tag_batch([sentences[n] for n in wanted], threads=threads)
        for n, answer in zip(wanted, answers, strict=True):
            made[n] = replace(sentences[n], self.tagger.target.fill(sentences[n], answer.labels))
        return made


def is_untagged(sentence: Sentence) -> bool:
    """Whether the column of tags holds nothing."""
    return set(sentence.column("upos")) == {"_"}


def read_sentences(
    inputs: Iterable[str], tagger: SentenceTagger | None, options: ParseOptions
) -> Iterator[Sentence]:
    """Read files; what is no file is text itself. Text gets the columns of CoNLL-U."""
    raw = (
        make_raw_text(options, options.tokens or ENGLISH)
        if tagger is None
        else choose_raw_text(tagger.tagger, options)
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
        self.refused: list[str] = []  # why sentences were left as they are

    def add(self, answer: Parse) -> None:
        """Count a sentence."""
        self.sentences += 1
        self.proven += answer.optimal
        self.pruned += not answer.optimal and answer.pruned > 0

    def summarize(self) -> str:
        """Say it in a line."""
        text = f"{format_count(self.sentences, 'sentence')}, {self.proven:,} proven optimal"
        if self.pruned:
            text += f", {self.pruned:,} over likely arcs only (--pruning 0 proves the whole model)"
        return text


def parse_sentences(
    parser: DependencyParser,
    tagger: SentenceTagger | None,
    sentences: Iterator[Sentence],
    options: ParseOptions,
    batch: int,
    tally: Tally,
) -> Iterator[tuple[Sentence, list[Parse]]]:
    """Tag sentences where a tagger is given, parse them in batches, and yield each with its trees."""
    while several := list(islice(sentences, batch)):
        if tagger is not None:
            several = tagger.tag(several, options.threads)
        for sentence in several:
            check_columns(parser, sentence, tagger is not None)
        given: dict[str, Any] = {
            "k": options.k,
            "pruning": options.pruning,
            "seconds": options.seconds,
            "threads": options.threads,
        }
        short = [sentence for sentence in several if not is_too_long(sentence, tally)]
        answers: Any = iter(parser.parse_batch(short, **given))
        for sentence in several:
            if len(sentence) > learner.MOST_WORDS:
                yield sentence, []
                continue
            answer = next(answers)
            ranked = [answer] if options.k == 1 else list(answer)
            tally.add(ranked[0])
            yield sentence, ranked


def is_too_long(sentence: Sentence, tally: Tally) -> bool:
    """Tell whether a sentence is too long to be parsed, and note it if it is."""
    try:
        learner.check_length(len(sentence), f"{sentence.source}:{sentence.line}")
    except InvalidInput as error:
        tally.refused.append(str(error))
        return True
    return False


def check_columns(parser: DependencyParser, sentence: Sentence, is_tagged: bool) -> None:
    """Refuse a sentence without any tag where the parser looks at tags: its answer would be worth nothing."""
    if "upos" in parser.columns and is_untagged(sentence):
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
        (text, sentence.layout)
        for sentence, ranked in parsed
        for text in (
            [write_tree(sentence, one, rank, scores, options.k > 1) for rank, one in enumerate(ranked, 1)]
            or [sentence.text]  # too long to be parsed: as it is
        )
    )


def write_tree(sentence: Sentence, answer: Parse, rank: int, scores: bool, is_ranked: bool) -> str:
    """Return a sentence with its tree, and if asked with its score and proof as comments."""
    made = replace(sentence, {"head": list(map(str, answer.heads)), "deprel": answer.relations})
    proof = [f"# rank = {rank}"] if is_ranked else []
    proof += [
        f"# parse_score = {answer.score:.6g}",
        f"# parse_bound = {answer.bound:.6g}",
        f"# parse_status = {answer.status.value}",
    ]
    proof += [f"# parse_claim = {answer.claim}"] if is_ranked else []
    return insert_comments(made, proof if scores else [])


def show_trees(parsed: Iterable[tuple[Sentence, list[Parse]]]) -> Iterator[str]:
    """Yield drawings of trees."""
    for sentence, ranked in parsed:
        yield from (f"{answer.value.pretty(sentence.words)}\n\n" for answer in ranked)
