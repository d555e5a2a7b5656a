"""Trains a parser on a treebank and measures it: F1, speed by length, repeated parsing, k best, a rival.

The first 3,500 trees of ``treebank/wsj_sample.mrg`` are learned from, the rest are the test. All choices of
the parser were made on trees 3,150 to 3,500, with a parser of those before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

from certus.errors import InvalidInput
from certus.formats import brackets
from certus.models.parser import Parser
from certus.syntax import Tree, TreeReport, prepared
from certus_bench import parse_rivals
from certus_bench.claims import Claim
from certus_bench.environment import describe
from certus_bench.report import conclude, titled
from certus_bench.timing import Spread

FILE = Path("treebank") / "wsj_sample.mrg"
TRAIN = 3500
LENGTHS = ((1, 10), (11, 19), (20, 25), (26, 40), (41, 1000))
USUAL = (20, 25)
ROUNDS = 20  # of repeated parsing
SENTENCES = 60  # of each length, at most

Tell = Callable[[str, float], None]


@dataclass
class Report:
    """What was found; times are in seconds.

    Attributes:
        reading: of all trees.
        training: of estimating the grammar, trees read.
        symbols: of the grammar, and its rules.
        test: the scores.
        proven: the share of test sentences whose tree is proven to be the best.
        lengths: by the range of lengths, the time of a sentence.
        threads: sentences a second by the number of threads, with the making of trees.
        five: the time of five trees at the usual length.
        first: the time of the first maximisation of a part, and of the later ones.
        rival: NLTK's ViterbiParser, if it is installed.
    """

    trees: int = 0
    reading: float = 0.0
    training: float = 0.0
    symbols: tuple[int, int] = (0, 0)
    test: TreeReport = field(default_factory=TreeReport)
    proven: float = 0.0
    lengths: dict[tuple[int, int], Spread] = field(default_factory=dict)
    threads: dict[int, float] = field(default_factory=dict)
    five: Spread | None = None
    first: Spread | None = None
    later: Spread | None = None
    rival: parse_rivals.Duel | None = None
    machine: dict[str, Any] = field(default_factory=dict)


def run(data: Path, tell: Tell, train: int = TRAIN) -> Report:
    """Measure everything."""
    path = data / FILE
    if not path.is_file():
        raise InvalidInput(f"there is no {path}: docs/benchmarks.md says which corpora are needed")
    report = Report(machine=describe(parse_rivals.versions()))
    tell("reading trees", 0.0)
    began = perf_counter()
    trees = list(brackets.read(path))
    report.reading, report.trees = perf_counter() - began, len(trees)
    tell("estimating a grammar", 0.1)
    began = perf_counter()
    parser = Parser().fit(trees[:train])
    report.training = perf_counter() - began
    rules = parser.grammar.rules
    report.symbols = len(parser.grammar.symbols), len(rules[0]) + len(rules[2])
    test = [tree for tree in map(prepared, trees[train:]) if tree is not None]
    tell("parsing the test", 0.4)
    _quality(report, parser, test)
    tell("timing", 0.6)
    _speed(report, parser, test)
    tell("parsing again and again", 0.8)
    _again(report, parser, _of_length(test, USUAL))
    tell("the rival", 0.9)
    report.rival = parse_rivals.duel([tree for tree in map(prepared, trees[:train]) if tree is not None])
    return report


def _quality(report: Report, parser: Parser, test: Sequence[Tree]) -> None:
    sentences = [tree.words for tree in test]
    answers = parser.parse_batch(sentences)
    for tree, answer in zip(test, answers, strict=True):
        report.test.add(tree, answer.value)
    report.proven = float(np.mean([answer.optimal for answer in answers]))
    for threads in (1, 2):
        began = perf_counter()
        parser.parse_batch(sentences, threads=threads)
        report.threads[threads] = len(sentences) / (perf_counter() - began)


def _of_length(test: Sequence[Tree], lengths: tuple[int, int]) -> list[list[str]]:
    found = [tree.words for tree in test]
    return [words for words in found if lengths[0] <= len(words) <= lengths[1]][:SENTENCES]


def _speed(report: Report, parser: Parser, test: Sequence[Tree]) -> None:
    for lengths in LENGTHS:
        sentences = _of_length(test, lengths)
        if sentences:
            report.lengths[lengths] = _timed([partial(parser.parse, words) for words in sentences])
    usual = _of_length(test, USUAL)
    if usual:
        report.five = _timed([partial(parser.parse, words, 5) for words in usual])


def _timed(calls: Sequence[Callable[[], Any]], rounds: int = 3) -> Spread:
    """Time calls; the time of each is the least of some."""
    best = []
    for call in calls:
        times = []
        for _ in range(rounds):
            began = perf_counter()
            call()
            times.append(perf_counter() - began)
        best.append(min(times))
    return Spread.of(best)


def _again(report: Report, parser: Parser, sentences: Sequence[Sequence[str]]) -> None:
    """Maximise parts under adjustments that drift as those of a relaxation do: a few tags at a time."""
    rng = np.random.default_rng(0)
    first, later = [], []
    for words in sentences:
        part = parser.part(words)
        began = perf_counter()
        part.maximize({})
        first.append(perf_counter() - began)
        adjust = np.zeros(part.spaces["tags"])
        for _ in range(ROUNDS):
            rows = rng.integers(len(words), size=2)
            adjust[rows, rng.integers(adjust.shape[1], size=2)] += rng.normal(size=2)
            began = perf_counter()
            part.maximize({"tags": adjust})
            later.append(perf_counter() - began)
    if first:
        report.first, report.later = Spread.of(first), Spread.of(later)


def claims(report: Report) -> list[Claim]:
    """Return what has to hold."""
    usual = report.lengths.get(USUAL)
    rival = report.rival
    ratio = report.five.median / usual.median if report.five and usual else None
    return [
        Claim("reading 4,000 trees", 1.0, False, report.reading * 4000 / max(report.trees, 1), "s"),
        Claim("F1 on test, trained on 3,500 trees", 80.0, True, 100 * report.test.total.f1, "%"),
        Claim("tags right on test", 94.5, True, 100 * report.test.total.tags.accuracy, "%"),
        Claim("test sentences with a proven tree", 99.0, True, 100 * report.proven, "%"),
        Claim(
            "a sentence of 20 to 25 words, median",
            5.0,
            False,
            None if usual is None else 1e3 * usual.median,
            "ms",
        ),
        Claim("five trees over one, the same sentences", 2.0, False, ratio),
        Claim(
            "parsing again under other adjustments, median",
            1.0,
            False,
            None if report.later is None else 1e3 * report.later.median,
            "ms",
        ),
        Claim(
            "faster than NLTK's ViterbiParser, same grammar",
            100,
            True,
            None if rival is None else rival.ratio,
        ),
        Claim("scores equal to NLTK's", 100, True, None if rival is None else 100 * rival.equal, "%"),
    ]


def show(report: Report, console: Console) -> None:
    """Print what was found."""
    symbols, rules = report.symbols
    console.print(
        f"{report.trees:,} trees read in {report.reading:.2f} s; grammar of {symbols:,} symbols and "
        f"{rules:,} rules in {report.training:.1f} s"
    )
    console.print(_scores(report))
    console.print(_times(report))
    rates = ", ".join(f"{rate:,.0f}/s with {n}" for n, rate in report.threads.items())
    console.print(f"the whole test: sentences {rates} thread(s)")
    if report.rival is not None:
        console.print(report.rival.line())
    conclude(console, claims(report), report.machine)


def _scores(report: Report) -> Any:
    table = Table(box=box.SIMPLE_HEAD)
    for name in ("", "trees", "F1 %", "precision", "recall", "exact", "tags", "crossing"):
        table.add_column(name, justify="left" if not name else "right", no_wrap=True)
    for name, found in (("all", report.test.total), ("at most 40 words", report.test.short)):
        if not found.sentences:
            continue
        figures = (
            found.f1,
            found.spans.precision,
            found.spans.recall,
            found.exact.accuracy,
            found.tags.accuracy,
        )
        crossing = f"{found.crossing / found.sentences:.2f}"
        table.add_row(name, f"{found.sentences:,}", *(f"{100 * x:.2f}" for x in figures), crossing)
    return titled("scores on test, as evalb has them", table)


def _times(report: Report) -> Any:
    table = Table(box=box.SIMPLE_HEAD)
    for name in ("", "ms", "quartiles"):
        table.add_column(name, justify="left" if not name else "right", no_wrap=True)
    rows: list[tuple[str, Spread | None]] = [
        (f"{low} to {high} words" if high < 1000 else f"{low} words or more", spread)
        for (low, high), spread in report.lengths.items()
    ]
    span = f"{USUAL[0]} to {USUAL[1]} words"
    rows += [
        (f"{span}, five trees", report.five),
        (f"{span}, as a part: the first time", report.first),
        (f"{span}, as a part: again", report.later),
    ]
    for name, spread in rows:
        if spread is not None:
            low, middle, high = (f"{1e3 * x:.3g}" for x in (spread.low, spread.median, spread.high))
            table.add_row(name, middle, f"{low}–{high}")
    return titled("time of a sentence, median", table)


def as_json(report: Report) -> dict[str, Any]:
    """Return all of a report as what JSON can hold; times are in seconds."""
    return {
        "trees": report.trees,
        "reading": report.reading,
        "training": report.training,
        "symbols": report.symbols,
        "test": report.test.as_dict(),
        "proven": report.proven,
        "lengths": [{"words": words, **asdict(spread)} for words, spread in report.lengths.items()],
        "threads": report.threads,
        "five": None if report.five is None else asdict(report.five),
        "first": None if report.first is None else asdict(report.first),
        "later": None if report.later is None else asdict(report.later),
        "rival": None if report.rival is None else asdict(report.rival),
        "claims": [claim.as_json() for claim in claims(report)],
        "machine": report.machine,
    }
