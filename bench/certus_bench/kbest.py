"""``certus bench kbest``: what lists of paths cost, on the lattices of trained taggers and on drawn ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Group

from certus.chain import METHODS, Chain, IterativeViterbiAStar, Viterbi
from certus.errors import InvalidInput
from certus.models.loading import load
from certus.models.tagger import Tagger
from certus_bench.corpora import CORPORA, CorpusFiles, select_mean_length
from certus_bench.entries import Entry, enter_method, prepare_calls
from certus_bench.harness.benchmark import Benchmark, BenchmarkReport, Tell, keep_quiet
from certus_bench.harness.claims import Claim
from certus_bench.harness.environment import describe_machine
from certus_bench.harness.options import Data, Seconds, Seed, check_data, flag_quick, split_names
from certus_bench.harness.tables import add_title, format_number, make_table
from certus_bench.harness.timing import Call
from certus_bench.lattices import Sample, draw
from certus_bench.referee import Row, time_entries
from certus_bench.tagger.decoders import score_sentences

TRAINED = ("conll2000", "ewt", "czech-xpos", "bosque-xpos")  # 316, 321, 1,427 and 4,522 labels
DRAWN = tuple(
    f"{kind} {size}"
    for kind in ("peaked", "flat", "ties")
    for size in ("45x23", "319x23", "443x12", "2602x22")
)
KS = (1, 5, 20, 100)
K = 5
EPOCHS = 10
# Huang et al. (2012), section 4.4: what the sources of the lower bound are worth, and how long lists are.
ABLATIONS = {
    "iterative, k' = k": IterativeViterbiAStar(listed=1),
    "iterative, k' = 2k": IterativeViterbiAStar(listed=2),
    "iterative, k' = 4k": IterativeViterbiAStar(listed=4),
    "iterative, ends too": IterativeViterbiAStar(ends=True),
    "iterative, ends, no first list": IterativeViterbiAStar(first=False, ends=True),
    "iterative, neither": IterativeViterbiAStar(first=False),
}
_ROUNDS = 7  # the time of a sentence is the median of so many calls
_FEW_LABELS = 500  # methods that keep k ways to every label are timed up to here
_MEAN = 3.0  # five paths over one in the mean: the most that is promised,
_TAIL = 6.0  # the same for 95 of 100 sentences,
_BEHIND = 1.1  # and what auto may take over the best of the others


@dataclass(frozen=True, kw_only=True)
class KBestPlan:
    """What to time."""

    data: Path | None = None
    lattices: tuple[str, ...] = (*TRAINED, *DRAWN)
    ks: tuple[int, ...] = KS
    sentences: int = 300  # of each corpus, for the cost of five paths
    few: int = 10  # of each kind of lattice, for the comparison of methods
    seconds: float = 0.3  # budget for each cell of that comparison
    models: Path | None = None  # where trained taggers are kept, if anywhere
    limit: int | None = None  # the most sentences to learn from
    seed: int = 0

    def hurry(self) -> KBestPlan:
        """Return the same plan with a tenth of the sentences."""
        return replace(self, sentences=30, few=3, seconds=self.seconds / 10, limit=500)


def make_plan(
    data: Data = None,
    lattices: Annotated[
        str, typer.Option(help=f"Corpora and drawn lattices, of: {', '.join((*TRAINED, *DRAWN))}.")
    ] = "",
    ks: Annotated[str, typer.Option(help="How many paths, separated by commas.")] = "",
    models: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Keep trained taggers here, and use those that are there."),
    ] = None,
    seconds: Seconds = 0.3,
    quick: Annotated[bool, flag_quick("Learn from 500 sentences, and time 30 and 3.")] = False,
    seed: Seed = 0,
) -> KBestPlan:
    """Time lists of the k best paths: auto beside the other methods, and five paths beside one.

    Averaged perceptrons are trained on CoNLL-2000, English, Czech and Portuguese, and score held-out
    sentences; other lattices are drawn. Every list is compared with that of Viterbi A*. Iterative Viterbi A*
    is also timed with other sources of its lower bound, and with lists of k' = k, 2k and 4k paths.
    """
    chosen = split_names(lattices) or ((*TRAINED, *DRAWN) if data else DRAWN)
    for name in chosen:
        if name not in TRAINED:
            _parse_drawn(name)
    if data is not None:
        check_data(data)
    elif any(name in TRAINED for name in chosen):
        raise InvalidInput("corpora are needed: give their folder by --data, or in CERTUS_DATA")
    wanted = tuple(int(text) for text in split_names(ks)) if ks else KS
    plan = KBestPlan(data=data, lattices=chosen, ks=wanted, models=models, seconds=seconds, seed=seed)
    return plan.hurry() if quick else plan


@dataclass(frozen=True)
class ListTimes:
    """What five paths cost over one, on the sentences of a trained tagger."""

    lattice: str
    labels: int
    sentences: int
    one: float  # mean seconds of one path,
    many: float  # and of five
    tail: float  # the ratio of the two that 95 of 100 sentences stay below

    @property
    def ratio(self) -> float:
        """The mean time of five paths over that of one."""
        return self.many / self.one


@dataclass
class KBestReport(BenchmarkReport):
    """The times of lists."""

    plan: KBestPlan
    lists: list[ListTimes] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)


def run(plan: KBestPlan, tell: Tell = keep_quiet) -> KBestReport:
    """Time what a plan asks for."""
    report = KBestReport(plan, describe_machine({}))
    for n, name in enumerate(plan.lattices):
        tell(f"{name}: preparing", n / len(plan.lattices))
        if name in TRAINED:
            tagger = _train(plan, CORPORA[name])
            sentences = list(CORPORA[name].read(_require(plan.data), "dev"))
            step = max(1, len(sentences) // plan.sentences)
            spread = [tagger.emissions(sentence) for sentence in sentences[::step][: plan.sentences]]
            tell(f"{name}: {K} paths and one", (n + 0.3) / len(plan.lattices))
            report.lists.append(time_lists(report, name, tagger.chain, spread))
            sample = score_sentences(tagger, select_mean_length(sentences, plan.few))
        else:
            kind, labels, length = _parse_drawn(name)
            sample = draw(kind, labels, length, sentences=plan.few, seed=plan.seed, dtype="float64")
        able = [entry for k in plan.ks for entry in choose_entries(k, sample.labels)]
        tell(f"{name}: methods", (n + 0.5) / len(plan.lattices))
        rows, failures = time_entries(sample, name, name, able, plan.seconds)
        report.rows += rows
        report.fail(failures)
    return report


def _require(data: Path | None) -> Path:
    if data is None:
        raise InvalidInput("corpora are needed: give their folder by --data, or in CERTUS_DATA")
    return data


def _parse_drawn(name: str) -> tuple[str, int, int]:
    if name not in DRAWN:
        raise InvalidInput(f"unknown lattice {name!r}; choose from: {', '.join((*TRAINED, *DRAWN))}")
    kind, _, size = name.partition(" ")
    labels, _, length = size.partition("x")
    return kind, int(labels), int(length)


def _train(plan: KBestPlan, corpus: CorpusFiles) -> Tagger:
    """Train a perceptron on a corpus without what is held out, or load the one that was kept."""
    kept = plan.models / f"{corpus.name}.certus" if plan.models else None
    if kept and kept.is_file():
        loaded: Tagger = load(kept)
        return loaded
    tagger = Tagger(corpus.target, "perceptron", epochs=EPOCHS)
    tagger.fit(corpus.read(_require(plan.data), "learn", plan.limit))
    if kept:
        kept.parent.mkdir(parents=True, exist_ok=True)
        tagger.save(kept)
    return tagger


def choose_entries(k: int, labels: int) -> list[Entry]:
    """Return what is timed for a k: auto, and all other methods that may come near it."""
    if k == 1:
        return [
            enter_method("auto", "auto"),
            enter_method("viterbi", Viterbi(sparse=False)),
            enter_method("viterbi (listed pairs)", Viterbi(sparse=True)),
            *(enter_method(name, name) for name in ("staggered", "carpediem")),
            replace(enter_method("staggered (no counts)", "staggered"), load=_stagger_uncounted),
        ]
    small = labels <= _FEW_LABELS
    names = [name for name, method in METHODS.items() if method.many and (small or not method.keeps_ways)]
    return [
        *(enter_method(name, name, k) for name in names if small or name != "kbest-astar"),
        *(enter_method(name, method, k) for name, method in ABLATIONS.items()),
    ]


def _stagger_uncounted(sample: Sample) -> list[Call]:
    """Return calls of staggered decoding that do not know how often labels were seen."""
    return prepare_calls("staggered", 1, replace(sample, prior=None))


def time_lists(report: KBestReport, name: str, chain: Chain, sentences: Sequence[NDArray[Any]]) -> ListTimes:
    """Time the best path and the five best, sentence after sentence, in turns."""
    times: dict[int, list[list[float]]] = {1: [], K: []}
    for _ in range(_ROUNDS):
        for k, rounds in times.items():
            taken = []
            for emissions in sentences:
                begin = perf_counter()
                chain.decode(emissions, k=k)
                taken.append(perf_counter() - begin)
            rounds.append(taken)
    for index, emissions in enumerate(sentences):
        first, best = chain.decode(emissions, k=K).scores[0], chain.decode(emissions).score
        if not np.isclose(first, best, rtol=1e-6, atol=1e-6):
            report.fail([f"auto, {name}, sentence {index}: the first of {K} scores {first}, the best {best}"])
    one, many = (np.median(times[k], axis=0) for k in (1, K))
    tail = float(np.quantile(many / one, 0.95))
    return ListTimes(name, chain.labels, len(sentences), float(one.mean()), float(many.mean()), tail)


def compare_auto(rows: Sequence[Row], lattice: str, k: int) -> tuple[float, str] | None:
    """Return auto's time over that of the best other method, and that method; None if they were not timed."""
    cells = [row for row in rows if row.lattice == lattice and row.k == k]
    auto = [row.spread.median for row in cells if row.method == "auto"]
    others = [(row.spread.median, row.method) for row in cells if row.method != "auto"]
    if not auto or not others:
        return None
    best, method = min(others)
    return auto[0] / best, method


def lay_out(report: KBestReport) -> Iterator[Group]:
    """Yield the cost of five paths, and a table of methods for each k."""
    if report.lists:
        table = make_table(
            "trained on", "labels", "sentences", "one path, µs", f"{K} paths, µs", "mean", "95 %"
        )
        for times in report.lists:
            table.add_row(
                times.lattice,
                f"{times.labels:,}",
                str(times.sentences),
                *(f"{seconds * 1e6:.1f}" for seconds in (times.one, times.many)),
                *(f"{ratio:.2f}×" for ratio in (times.ratio, times.tail)),
            )
        yield add_title(
            f"auto, {K} paths over one: ratio of means, and the 95th percentile of sentences", table
        )
    for k in report.plan.ks:
        yield _lay_out_methods(report, k)


def _lay_out_methods(report: KBestReport, k: int) -> Group:
    lattices = report.plan.lattices
    table = make_table("method", *lattices)
    rows = [row for row in report.rows if row.k == k]
    for method in dict.fromkeys(row.method for row in rows):
        cells = {row.lattice: row for row in rows if row.method == method}
        table.add_row(
            method,
            *(
                f"{format_number(cells[name].spread.median * 1e6)}{'*' if cells[name].once else ''}"
                if name in cells
                else "–"
                for name in lattices
            ),
        )
    table.caption = "* so slow that one call on one sentence had to do"
    return add_title(f"k={k}: µs per sentence, median", table)


def make_claims(report: KBestReport) -> list[Claim]:
    """Return every claim with what the report says about it."""
    claims = []
    for times in report.lists:
        where = f"{times.lattice}, {times.labels:,} labels"
        text = f"{K} paths over one, auto, {where}"
        claims.append(Claim(f"{text}: mean", _MEAN, False, times.ratio))
        claims.append(Claim(f"{text}: 95 of 100 sentences", _TAIL, False, times.tail))
    for k in report.plan.ks:
        found = {name: compare_auto(report.rows, name, k) for name in report.plan.lattices}
        known = [(*ratio, name) for name, ratio in found.items() if ratio is not None]
        if known:
            ratio, method, name = max(known)
            text = f"auto's time over the best other method's, k={k} (worst: {name}, {method})"
            claims.append(Claim(text, _BEHIND, False, ratio))
    return claims


BENCHMARK = Benchmark(name="kbest", make_plan=make_plan, run=run, lay_out=lay_out, make_claims=make_claims)
