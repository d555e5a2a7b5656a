"""``certus parse``: the trees of sentences."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from certus.annotation.trees import prepared
from certus.cli.tag import deliver, is_typed, looks_like_path, open_tagger, typed
from certus.errors import InvalidInput
from certus.formats import brackets, read
from certus.models.loading import load
from certus.models.parser import Parser
from certus.solution import Status
from certus.storage.files import check_encoding
from certus.syntax.constituency.penn import penn_words

if TYPE_CHECKING:
    from certus.syntax.joint.parsing import JointParser

BATCH = 256  # sentences parsed together


def run(
    model: str,
    inputs: list[str],
    *,
    k: int = 1,
    scores: bool = False,
    pretty: bool = False,
    threads: int = 1,
    output: str | None = None,
    format: str | None = None,
    encoding: str = "utf-8",
    quiet: bool = False,
    with_tagger: str | None = None,
    weight: float | None = None,
) -> None:
    """Parse the inputs and write trees out."""
    check_encoding(encoding)
    parser: Any = open_parser(model)
    if with_tagger is not None:
        parser = joined(parser, with_tagger, weight, k)
    elif weight is not None:
        raise InvalidInput("--weight is that of the tagger: name one by --with-tagger")
    names = inputs or ["-"]
    waiting = is_typed(names)
    tally = Tally()
    sentences = words_of(names, format, encoding)
    found = parsed(parser, sentences, k, threads, 1 if waiting else BATCH, tally)
    texts = written(found, scores or k > 1, pretty)
    deliver(texts, output, encoding, waiting)
    if not quiet:
        print(tally.summary(), file=sys.stderr)


def open_parser(path: str) -> Parser:
    """Open a parser, and nothing else."""
    model = load(path)
    if not isinstance(model, Parser):
        raise InvalidInput(f"{path} holds no parser; train one with certus train parser")
    return model


class Joined:
    """A parser that agrees with a tagger on the tags, in the place of one that parses alone."""

    def __init__(self, parser: JointParser) -> None:
        self._parser = parser

    def parse_batch(self, sentences: list[list[str]], k: int, *, threads: int) -> list[Any]:
        """Parse sentences; one tree each."""
        return self._parser.parse_batch(sentences, robust=True, threads=threads)


def joined(parser: Parser, path: str, weight: float | None, k: int) -> Joined:
    """Put a parser and a tagger together."""
    from certus.syntax.joint.parsing import WEIGHT, JointParser

    if k > 1:
        raise InvalidInput("a parser with a tagger finds one tree for a sentence: leave -k out")
    tagger = open_tagger(path)
    return Joined(JointParser(parser.grammar, tagger, weight=WEIGHT if weight is None else weight))


def words_of(inputs: Iterable[str], format: str | None, encoding: str) -> Iterator[list[str]]:
    """Read the words of sentences: of trees as they are, of text as a treebank writes them."""
    for name in inputs:
        if format == "brackets" or (format is None and brackets.looks_bracketed(name)):
            for number, tree in enumerate(brackets.read(name, encoding=encoding), 1):
                left = prepared(tree)
                if left is None:
                    raise InvalidInput(f"tree {number} of {name} has no words")
                yield left.words
        elif name == "-" or os.path.exists(name) or looks_like_path(name):
            yield from (penn_words(s.words) for s in read(name, format, encoding=encoding))
        else:
            yield from (penn_words(s.words) for s in typed(name))


class Tally:
    """How many trees are proven to be the best, and which sentences have none."""

    def __init__(self) -> None:
        self.sentences = 0
        self.proven = 0
        self.covered: list[int] = []

    def add(self, proven: bool, derived: bool) -> None:
        """Count a sentence."""
        self.sentences += 1
        self.proven += proven
        if not derived:
            self.covered.append(self.sentences)

    def summary(self) -> str:
        """Say it in a line."""
        noun = "sentence" if self.sentences == 1 else "sentences"
        text = f"{self.sentences:,} {noun}, {self.proven:,} proven optimal"
        if not self.covered:
            return text
        few = ", ".join(map(str, self.covered[:10])) + (", ..." if len(self.covered) > 10 else "")
        return f"{text}; {len(self.covered):,} not derived by the grammar and covered by pieces: {few}"


def parsed(
    parser: Any, sentences: Iterator[list[str]], k: int, threads: int, batch: int, tally: Tally
) -> Iterator[list[Any]]:
    """Parse sentences, so many together, and yield the solutions of each."""
    while several := list(islice(sentences, batch)):
        for words, answer in zip(several, parser.parse_batch(several, k, threads=threads), strict=True):
            if k == 1:
                tally.add(answer.optimal, answer.status is not Status.INFEASIBLE)
                yield [answer]
            else:
                found = bool(len(answer))
                tally.add(found, found)
                yield list(answer) if found else [parser.parse(words)]


def written(found: Iterable[list[Any]], scores: bool, pretty: bool) -> Iterator[str]:
    """Write the solutions of sentences: a tree a line, if asked after its rank, score and status."""
    for several in found:
        for rank, one in enumerate(several, 1):
            tree = one.value.pretty() if pretty else str(one.value)
            before = f"{rank}\t{one.score:.6g}\t{one.status.value}" if scores else ""
            yield before + ("\n" if before and pretty else "\t" if before else "") + tree + "\n"
            if pretty:
                yield "\n"
        if len(several) > 1 and not pretty:
            yield "\n"
