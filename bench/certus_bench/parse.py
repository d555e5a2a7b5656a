"""``certus bench parse``: a parser learned from a treebank, and its F1, speed, k best and repeated parsing.

The first 3,500 trees of ``treebank/wsj_sample.mrg`` are learned from, the rest are the test. All choices of
the parser were made on trees 3,150 to 3,500, with a parser of those before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from math import log
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Group

from certus.errors import InvalidInput
from certus.formats import brackets
from certus.models.parser import ConstituencyParser
from certus.syntax import Grammar, GrammarOptions, Tree, TreeReport, prepare_tree
from certus.syntax.constituency.pcfg import Counts, count, transform_trees
from certus_bench.harness.benchmark import Benchmark, BenchmarkReport, Tell
from certus_bench.harness.claims import Claim, divide, get_figure
from certus_bench.harness.environment import describe_machine, find_versions
from certus_bench.harness.options import Data, require_data
from certus_bench.harness.tables import add_title, make_table
from certus_bench.harness.timing import Spread, time_call

FILE = Path("treebank") / "wsj_sample.mrg"
LENGTHS = ((1, 10), (11, 19), (20, 25), (26, 40), (41, 1000))
USUAL = (20, 25)
ROUNDS = 20  # of repeated parsing
SENTENCES = 60  # of each length, at most


@dataclass(frozen=True, kw_only=True)
class ParsePlan:
    """What to learn from; the other trees are tested."""

    data: Path  # the folder that the treebank lies in
    train: int = 3500  # trees, from the beginning

    def __post_init__(self) -> None:
        """Refuse what cannot be run, before any time is spent."""
        if not self.file.is_file():
            raise InvalidInput(f"there is no {self.file}: docs/benchmarks.md says which corpora are needed")

    @property
    def file(self) -> Path:
        """The treebank."""
        return self.data / FILE


def make_plan(
    data: Data = None,
    train: Annotated[
        int, typer.Option(min=1, help="How many trees to learn from; the rest is tested.")
    ] = ParsePlan.train,
) -> ParsePlan:
    """Train a parser on the Penn Treebank sample and measure it: F1, speed, k best, repeated parsing.

    NLTK's ViterbiParser parses a few short sentences with the same small grammar, if it is installed.
    """
    return ParsePlan(data=require_data(data), train=train)


@dataclass(frozen=True)
class LengthSpread(Spread):
    """The time of sentences of some lengths."""

    words: tuple[int, int]  # the fewest and the most


@dataclass(frozen=True)
class Duel:
    """How long both took for a sentence, in seconds, and how often their scores are equal."""

    rules: int
    sentences: int
    ours: float
    theirs: float
    equal: float

    @property
    def ratio(self) -> float:
        """How much faster ours is."""
        return self.theirs / self.ours

    def describe(self) -> str:
        """Say it in a line."""
        return (
            f"NLTK's ViterbiParser, {self.rules:,} rules, {self.sentences} sentences of {DUEL_LENGTHS[0]} to "
            f"{DUEL_LENGTHS[1]} words: "
            f"{1e3 * self.theirs:,.0f} ms per sentence, ours {1e3 * self.ours:.2f} ms"
        )


@dataclass
class ParseReport(BenchmarkReport):
    """What was found; times are in seconds."""

    plan: ParsePlan
    trees: int = 0
    reading: float = 0.0  # of all trees
    training: float = 0.0  # of estimating the grammar, trees read
    symbols: tuple[int, int] = (0, 0)  # of the grammar, and its rules
    test: TreeReport = field(default_factory=TreeReport)
    proven: float = 0.0  # the share of test sentences whose tree is proven to be the best
    lengths: list[LengthSpread] = field(default_factory=list)
    threads: dict[int, float] = field(default_factory=dict)  # sentences per second by threads, trees made
    five: Spread | None = None  # five trees at the usual length
    first: Spread | None = None  # the first maximisation of a part ...
    later: Spread | None = None  # ... and the later ones
    rival: Duel | None = None  # NLTK's ViterbiParser, if it is installed

    @property
    def usual(self) -> Spread | None:
        """The time of sentences of the usual length."""
        return next((found for found in self.lengths if found.words == USUAL), None)


def run(plan: ParsePlan, tell: Tell) -> ParseReport:
    """Measure everything."""
    report = ParseReport(plan, describe_machine(find_versions("nltk")))
    tell("reading trees", 0.0)
    report.reading, trees = time_call(lambda: list(brackets.read(plan.file)))
    report.trees = len(trees)
    tell("estimating a grammar", 0.1)
    report.training, parser = time_call(lambda: ConstituencyParser().fit(trees[: plan.train]))
    rules = parser.grammar.rules
    report.symbols = len(parser.grammar.symbols), len(rules[0]) + len(rules[2])
    learned, test = (
        [tree for tree in map(prepare_tree, part) if tree is not None]
        for part in (trees[: plan.train], trees[plan.train :])
    )
    tell("parsing the test", 0.4)
    _measure_quality(report, parser, test)
    tell("timing", 0.6)
    _measure_speed(report, parser, test)
    tell("parsing again and again", 0.8)
    _parse_again(report, parser, _select_by_length(test, USUAL))
    tell("the rival", 0.9)
    report.rival = run_duel(learned)
    return report


def _measure_quality(report: ParseReport, parser: ConstituencyParser, test: Sequence[Tree]) -> None:
    sentences = [tree.words for tree in test]
    answers = parser.parse_batch(sentences, cover=True)
    for tree, answer in zip(test, answers, strict=True):
        report.test.add(tree, answer.value)
    report.proven = float(np.mean([answer.optimal for answer in answers]))
    for threads in (1, 2):
        seconds, _ = time_call(partial(parser.parse_batch, sentences, cover=True, threads=threads))
        report.threads[threads] = len(sentences) / seconds


def _select_by_length(test: Sequence[Tree], lengths: tuple[int, int]) -> list[list[str]]:
    found = [tree.words for tree in test]
    return [words for words in found if lengths[0] <= len(words) <= lengths[1]][:SENTENCES]


def _measure_speed(report: ParseReport, parser: ConstituencyParser, test: Sequence[Tree]) -> None:
    for lengths in LENGTHS:
        sentences = _select_by_length(test, lengths)
        if sentences:
            spread = _time_calls([partial(parser.parse, words) for words in sentences])
            report.lengths.append(LengthSpread(spread.median, spread.low, spread.high, lengths))
    usual = _select_by_length(test, USUAL)
    if usual:
        report.five = _time_calls([partial(parser.parse, words, k=5) for words in usual])


def _time_calls(calls: Sequence[Callable[[], Any]], rounds: int = 3) -> Spread:
    """Time calls; the time of each is the least of some."""
    return Spread.of([min(time_call(call)[0] for _ in range(rounds)) for call in calls])


def _parse_again(report: ParseReport, parser: ConstituencyParser, sentences: Sequence[Sequence[str]]) -> None:
    """Maximise parts under adjustments that drift as those of a relaxation do: a few tags at a time."""
    rng = np.random.default_rng(0)
    first, later = [], []
    for words in sentences:
        part = parser.part(words)
        first.append(time_call(partial(part.maximize, {}))[0])
        adjust = np.zeros(part.spaces["tags"])
        for _ in range(ROUNDS):
            rows = rng.integers(len(words), size=2)
            adjust[rows, rng.integers(adjust.shape[1], size=2)] += rng.normal(size=2)
            later.append(time_call(partial(part.maximize, {"tags": adjust}))[0])
    if first:
        report.first, report.later = Spread.of(first), Spread.of(later)


# The rival, on one small grammar, with which it takes half a second per sentence.

DUEL_TREES = 300  # that the grammar is made of
DUEL_SENTENCES = 5
DUEL_LENGTHS = (5, 9)


def run_duel(trees: Sequence[Tree]) -> Duel | None:
    """Parse a few sentences with both; None where NLTK is not installed."""
    if not find_spec("nltk"):
        return None
    options = GrammarOptions(vertical=1, horizontal=1, direction="right", splits=(), min_hidden=1)
    learned = trees[:DUEL_TREES]
    counts = count(transform_trees(learned, options))
    short, long = DUEL_LENGTHS
    sentences = [tree.words for tree in learned if short <= len(tree.words) <= long][:DUEL_SENTENCES]
    if not sentences:
        return None
    mine, theirs = _make_grammar(counts), _make_nltk(counts)
    ours = [time_call(partial(mine.parse, words)) for words in sentences]
    others = [time_call(partial(_parse_by_nltk, theirs, words)) for words in sentences]
    equal = [
        bool(np.isclose(best.score, log(other.prob())))
        for (_, best), (_, other) in zip(ours, others, strict=True)
    ]
    mine_median, other_median = (
        float(np.median([seconds for seconds, _ in found])) for found in (ours, others)
    )
    rules = len(counts.binary) + len(counts.unary) + len(counts.words)
    return Duel(rules, len(sentences), mine_median, other_median, float(np.mean(equal)))


def _make_grammar(counts: Counts) -> Grammar:
    total = counts.symbols
    words: dict[str, dict[str, float]] = {}
    for (word, tag), number in counts.words.items():
        words.setdefault(tag, {})[word] = log(number / total[tag])
    return Grammar.of_rules(
        [(a, b, c, log(number / total[a])) for (a, b, c), number in counts.binary.items()],
        [(a, b, log(number / total[a])) for (a, b), number in counts.unary.items()],
        words,
    )


def _make_nltk(counts: Counts) -> Any:
    from nltk.grammar import PCFG, Nonterminal, ProbabilisticProduction
    from nltk.parse import ViterbiParser

    total = counts.symbols
    rules = [
        ProbabilisticProduction(
            Nonterminal(rule[0]), [Nonterminal(s) for s in rule[1:]], prob=n / total[rule[0]]
        )
        for found in (counts.binary, counts.unary)
        for rule, n in found.items()
    ]
    rules += [
        ProbabilisticProduction(Nonterminal(tag), [word], prob=n / total[tag])
        for (word, tag), n in counts.words.items()
    ]
    return ViterbiParser(PCFG(Nonterminal("TOP"), rules))


def _parse_by_nltk(parser: Any, words: list[str]) -> Any:
    return next(iter(parser.parse(words)))


# What is told of a report.


def make_claims(report: ParseReport) -> list[Claim]:
    """Return what has to hold."""
    usual, total, rival = report.usual, report.test.total, report.rival
    ratio = divide(get_figure(report.five, "median"), get_figure(usual, "median"))
    one, again = (None if found is None else 1e3 * found.median for found in (usual, report.later))
    equal = None if rival is None else 100 * rival.equal
    return [
        Claim("reading 4,000 trees", 1.0, False, report.reading * 4000 / max(report.trees, 1), "s"),
        Claim("F1 on test, trained on 3,500 trees", 80.0, True, 100 * total.f1, "%"),
        Claim("tags right on test", 94.5, True, 100 * total.tags.accuracy, "%"),
        Claim("test sentences with a proven tree", 99.0, True, 100 * report.proven, "%"),
        Claim("a sentence of 20 to 25 words, median", 5.0, False, one, "ms"),
        Claim("five trees over one, the same sentences", 2.0, False, ratio),
        Claim("parsing again under other adjustments, median", 1.0, False, again, "ms"),
        Claim("faster than NLTK's ViterbiParser, same grammar", 100, True, get_figure(rival, "ratio")),
        Claim("scores equal to NLTK's", 100, True, equal, "%"),
    ]


def lay_out(report: ParseReport) -> Iterator[Group | str]:
    """Yield what was found."""
    symbols, rules = report.symbols
    yield (
        f"{report.trees:,} trees read in {report.reading:.2f} s; grammar of {symbols:,} symbols and "
        f"{rules:,} rules in {report.training:.1f} s"
    )
    yield _lay_out_scores(report)
    yield _lay_out_times(report)
    rates = ", ".join(f"{rate:,.0f}/s with {n}" for n, rate in report.threads.items())
    yield f"the whole test: sentences {rates} threads"
    if report.rival is not None:
        yield report.rival.describe()


def _lay_out_scores(report: ParseReport) -> Group:
    table = make_table("", "trees", "F1 %", "precision", "recall", "exact", "tags", "crossing")
    for name, found in (("all", report.test.total), ("at most 40 words", report.test.short)):
        if found.sentences:
            spans, shares = found.spans, (found.exact.accuracy, found.tags.accuracy)
            figures = (found.f1, spans.precision, spans.recall, *shares)
            crossing = f"{found.crossing / found.sentences:.2f}"
            table.add_row(name, f"{found.sentences:,}", *(f"{100 * x:.2f}" for x in figures), crossing)
    return add_title("scores on test, as evalb has them", table)


def _lay_out_times(report: ParseReport) -> Group:
    table = make_table("", "ms", "quartiles")
    rows: dict[str, Spread | None] = {}
    for found in report.lengths:
        low, high = found.words
        rows[f"{low} to {high} words" if high < 1000 else f"{low} words or more"] = found
    span = f"{USUAL[0]} to {USUAL[1]} words"
    rows[f"{span}, five trees"] = report.five
    rows[f"{span}, as a part: the first time"] = report.first
    rows[f"{span}, as a part: again"] = report.later
    for name, spread in rows.items():
        if spread is not None:
            low_ms, ms, high_ms = (f"{1e3 * x:.3g}" for x in (spread.low, spread.median, spread.high))
            table.add_row(name, ms, f"{low_ms}–{high_ms}")
    return add_title("time of a sentence, median", table)


BENCHMARK = Benchmark(name="parse", make_plan=make_plan, run=run, lay_out=lay_out, make_claims=make_claims)
