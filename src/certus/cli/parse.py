"""``certus parse``: the trees of sentences."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from certus.annotation.penn import escape_words
from certus.annotation.tokenizer import PENN
from certus.annotation.trees import prepare_tree
from certus.cli.options import ParseOptions
from certus.cli.outputs import check_outputs
from certus.cli.progress import is_watched, watch_items
from certus.cli.streams import (
    deliver,
    is_file,
    is_typed,
    make_raw_text,
    open_tagger,
    parse_text,
    sort_out,
    wants_view,
)
from certus.cli.wording import format_count
from certus.errors import InvalidInput
from certus.formats import brackets, read
from certus.models.dependency_parser import DependencyParser
from certus.models.loading import find_default_parser, load
from certus.models.parser import ConstituencyParser
from certus.solution import Status
from certus.storage.files import check_encoding

if TYPE_CHECKING:
    from certus.syntax.joint.parsing import JointParser

BATCH, FEW = 256, 32  # sentences parsed together; fewer where somebody watches


def run(model: str | None, inputs: list[str], options: ParseOptions) -> None:
    """Parse the inputs and write trees out."""
    check_encoding(options.encoding)
    chosen, names = sort_out(model, inputs)
    given = find_default_parser() if chosen is None else chosen
    outputs = {"output": options.output}
    if options.certificate is not None:
        outputs["certificate"] = options.certificate
    check_outputs(outputs, [given, options.with_tagger, *names])
    parser: Any = open_parser(given)
    if not isinstance(parser, ConstituencyParser):
        if options.certificate is not None:
            raise InvalidInput("--certificate is of constituency parsers: leave it out")
        from certus.cli.dependencies import run as find_dependencies

        find_dependencies(parser, names, options, is_default=chosen is None)
        return
    if options.seconds is not None:
        raise InvalidInput("--seconds is of dependency parsers: leave it out")
    if options.certificate is not None:
        from certus.cli.certificates import certify_tree, check_alone, write_certificates

        check_alone(options, "with_tagger")
        certify = partial(certify_tree, parser.grammar)
    if options.with_tagger is not None:
        parser = join_tagger(parser, options.with_tagger, options)
    else:
        for name, value in (("--weight", options.weight), ("--pruning", options.pruning)):
            if value is not None:
                raise InvalidInput(f"{name} is that of the tagger: name one by --with-tagger")
    waiting, watched = is_typed(names), "-" not in names and is_watched(options.output)
    options = replace(options, pretty=wants_view(names, options))
    sentences = read_words(names, options)
    if watched:
        sentences = watch_items(sentences)
    if options.certificate is not None:
        sentences = write_certificates(sentences, options.certificate, certify)
    tally = Tally()
    found = parse_sentences(parser, sentences, options, 1 if waiting else FEW if watched else BATCH, tally)
    deliver(write_trees(found, options), options.output, options.encoding, waiting)
    if not options.quiet:
        print(tally.summarize(), file=sys.stderr)


def open_parser(path: str) -> ConstituencyParser | DependencyParser:
    """Open a parser, and nothing else."""
    model = load(path)
    if not isinstance(model, ConstituencyParser | DependencyParser):
        raise InvalidInput(f"{path} holds no parser; train one with certus train parser")
    return model


class JoinedParser:
    """A parser that agrees with a tagger on the tags, in the place of one that parses alone."""

    def __init__(self, parser: JointParser) -> None:
        self._parser = parser

    def parse_batch(self, sentences: list[list[str]], *, threads: int, **_: Any) -> list[Any]:
        """Parse sentences; one tree each."""
        return self._parser.parse_batch(sentences, cover=True, threads=threads)


def join_tagger(parser: ConstituencyParser, path: str, options: ParseOptions) -> JoinedParser:
    """Put a parser and a tagger together."""
    from certus.syntax.joint.parsing import PRUNING, WEIGHT, JointParser

    if options.k > 1:
        raise InvalidInput("a parser with a tagger finds one tree for a sentence: leave -k out")
    tagger = open_tagger(path)
    weight = WEIGHT if options.weight is None else options.weight
    pruning = PRUNING if options.pruning is None else options.pruning
    return JoinedParser(JointParser(parser.grammar, tagger, weight=weight, pruning=pruning))


def read_words(inputs: Iterable[str], options: ParseOptions) -> Iterator[list[str]]:
    """Read the words of sentences: of trees as they are, of text as a treebank writes them."""
    format, encoding = options.format, options.encoding
    raw = make_raw_text(options, options.tokens or PENN)
    for name in inputs:
        if format == "brackets" or (format is None and brackets.looks_bracketed(name)):
            for number, tree in enumerate(brackets.read(name, encoding=encoding), 1):
                left = prepare_tree(tree)
                if left is None:
                    raise InvalidInput(f"tree {number} of {name} has no words")
                yield left.words
        elif is_file(name):
            read_text = partial(read, tokens=raw.tokens, sentences=raw.sentences)
            yield from (escape_words(s.words) for s in read_text(name, format, encoding=encoding))
        else:
            yield from (escape_words(s.words) for s in parse_text(name, raw))


class Tally:
    """How many trees are proven to be the best, and which sentences have none."""

    def __init__(self) -> None:
        self.sentences = 0
        self.proven = 0
        self.proven_in_lattice = 0
        self.covered: list[int] = []

    def add(self, proven: bool, derived: bool, *, in_lattice: bool = False) -> None:
        """Count a sentence; ``in_lattice`` if its tree is proven the best by the tagger's lattice only."""
        self.sentences += 1
        self.proven += proven
        self.proven_in_lattice += in_lattice
        if not derived:
            self.covered.append(self.sentences)

    def summarize(self) -> str:
        """Say it in a line."""
        text = f"{format_count(self.sentences, 'sentence')}, {self.proven:,} proven optimal"
        if self.proven_in_lattice:
            text += (
                f", {self.proven_in_lattice:,} proven the best within the tagger's pruned lattice only "
                "(--pruning 0 proves the whole model)"
            )
        if not self.covered:
            return text
        few = ", ".join(map(str, self.covered[:10])) + (", ..." if len(self.covered) > 10 else "")
        return f"{text}; {len(self.covered):,} not derived by the grammar and covered by pieces: {few}"


def parse_sentences(
    parser: Any, sentences: Iterator[list[str]], options: ParseOptions, batch: int, tally: Tally
) -> Iterator[list[Any]]:
    """Parse sentences in batches, and yield the solutions of each."""
    k, threads = options.k, options.threads
    while several := list(islice(sentences, batch)):
        answers = parser.parse_batch(several, k=k, cover=True, infeasible="return", threads=threads)
        for words, answer in zip(several, answers, strict=True):
            if k == 1:
                derived, in_lattice = answer.status is not Status.INFEASIBLE, is_proven_in_lattice(answer)
                tally.add(answer.optimal, derived, in_lattice=in_lattice)
                yield [answer]
            else:
                found = bool(len(answer))
                tally.add(found, found)
                yield list(answer) if found else [parser.parse(words, cover=True)]


def is_proven_in_lattice(answer: Any) -> bool:
    """Whether a tree is proven the best of a pruned lattice, and not of the whole model."""
    return not answer.optimal and getattr(answer, "lattice_optimal", False)


def write_trees(found: Iterable[list[Any]], options: ParseOptions) -> Iterator[str]:
    """Write the solutions of sentences: one tree per line, if asked after its rank, score and status."""
    scores, pretty = options.scores or options.k > 1, options.pretty
    for several in found:
        for rank, one in enumerate(several, 1):
            tree = one.value.pretty() if pretty else str(one.value)
            status = "optimal in lattice" if is_proven_in_lattice(one) else one.status.value
            if one.optimal and rank > 1:
                status += " but for better ranks"
            before = f"{rank}\t{one.score:.6g}\t{status}" if scores else ""
            yield before + ("\n" if before and pretty else "\t" if before else "") + tree + "\n"
            if pretty:
                yield "\n"
        if len(several) > 1 and not pretty:
            yield "\n"
