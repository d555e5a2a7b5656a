"""``certus bench chain``: every way to decode a chain, timed beside the rivals that are installed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Group
from rich.text import Text

from certus.chain import Chain, Method, Viterbi
from certus.errors import InvalidInput
from certus_bench import rivals
from certus_bench.entries import FLOOR, K, list_entries, select_entries
from certus_bench.harness import pictures
from certus_bench.harness.benchmark import Benchmark, BenchmarkReport, Tell, keep_quiet, tell_part
from certus_bench.harness.claims import Claim, divide
from certus_bench.harness.environment import describe_machine
from certus_bench.harness.options import Seconds, Seed, flag_quick, split_names
from certus_bench.harness.tables import add_title, make_table
from certus_bench.harness.timing import Call, Spread, Stopwatch, race
from certus_bench.lattices import Sample, draw
from certus_bench.referee import Referee, Row, Size, find_seconds, time_entries

# Those of both papers: part-of-speech tagging, joint tagging of CoNLL-2000 and CoNLL-2003, supertagging.
SIZES: tuple[Size, ...] = ((45, 23), (319, 23), (443, 12), (2602, 22))
LATTICES = ("peaked", "flat", "ties")


@dataclass(frozen=True, kw_only=True)
class ChainPlan:
    """What to time."""

    sizes: tuple[Size, ...] = SIZES
    lattices: tuple[str, ...] = LATTICES  # generators of ``certus_bench.lattices``
    methods: tuple[str, ...] | None = None  # names of entries; None for the usual ones
    dtype: str = "float64"
    seconds: float = 1.0  # budget for each cell; a call that takes longer is made once
    sentences: int = 20  # how many different ones each cell has
    whole: bool = True  # whether to time batches, threads and the cost of a call, too
    seed: int = 0

    def hurry(self) -> ChainPlan:
        """Return the same plan with a tenth of the time and a quarter of the sentences per cell."""
        return replace(self, seconds=self.seconds / 10, sentences=max(1, self.sentences // 4))


def make_plan(
    sizes: Annotated[
        str, typer.Option(help="Label counts and lengths, such as 45x23,2602x22; all four by default.")
    ] = "",
    lattices: Annotated[str, typer.Option(help="Kinds of scores: peaked, flat, ties; all by default.")] = "",
    methods: Annotated[
        str, typer.Option(help="Methods and rivals by name, separated by commas; the usual ones by default.")
    ] = "",
    dtype: Annotated[str, typer.Option(help="float64, what NumPy makes by default, or float32.")] = "float64",
    seconds: Seconds = 1.0,
    quick: Annotated[bool, flag_quick("Take a tenth of the time, with five sentences per size.")] = False,
    seed: Seed = 0,
) -> ChainPlan:
    """Time every way to decode a sentence, on scores like a trained model's, on flat ones, and with ties.

    Rivals that are installed (pytorch-crf, hmmlearn, dynamax, librosa) decode the same sentences in the same
    run, on one thread. Every answer is compared with the best score; if one differs, the exit code is 1. The
    last table holds the promises of the documentation against this machine. Times on a machine that is busy
    otherwise mean little.
    """
    if dtype not in ("float32", "float64"):
        raise InvalidInput(f"dtype must be float32 or float64, not {dtype!r}")
    names = split_names(methods) or None
    select_entries(names)
    kinds = split_names(lattices) or LATTICES
    for kind in kinds:
        if kind not in LATTICES:
            raise InvalidInput(f"unknown kind of lattice {kind!r}; choose from: {', '.join(LATTICES)}")
    wanted = tuple(_parse_size(text) for text in split_names(sizes)) or SIZES
    plan = ChainPlan(sizes=wanted, lattices=kinds, methods=names, dtype=dtype, seconds=seconds, seed=seed)
    return plan.hurry() if quick else plan


def _parse_size(text: str) -> Size:
    labels, _, length = text.lower().replace("×", "x").partition("x")
    if not (labels.isdecimal() and length.isdecimal() and int(labels) >= 2 and int(length) >= 1):
        raise InvalidInput(
            f"sizes are written LABELSxLENGTH, such as 319x23, with at least 2 labels; not {text!r}"
        )
    return int(labels), int(length)


@dataclass(frozen=True)
class Whole:
    """One figure about whole calls: a batch, threads, the cost of a call."""

    what: str  # a short name, the same in every run
    method: str
    labels: int
    length: int
    spread: Spread  # seconds per sentence
    detail: str  # what exactly was timed


@dataclass
class ChainReport(BenchmarkReport):
    """The times of all ways to decode."""

    plan: ChainPlan
    rows: list[Row] = field(default_factory=list)
    whole: list[Whole] = field(default_factory=list)

    def seconds(self, method: str, size: Size, lattice: str, k: int = 1) -> float | None:
        """Return the median time of a cell, or None if it was not run."""
        return find_seconds(self.rows, method=method, size=size, lattice=lattice, k=k)

    def whole_seconds(self, what: str, method: str, size: Size) -> float | None:
        """Return the median time of a figure about whole calls, or None if it was not run."""
        for item in self.whole:
            if (item.what, item.method, (item.labels, item.length)) == (what, method, size):
                return item.spread.median
        return None


def run(plan: ChainPlan, tell: Tell = keep_quiet) -> ChainReport:
    """Time what a plan asks for; the default takes some minutes."""
    entries = select_entries(plan.methods)
    report = ChainReport(plan, describe_machine(rivals.list_versions(plan.methods)))
    cells = [(lattice, size) for lattice in plan.lattices for size in plan.sizes]
    share = 0.8 if plan.whole else 1.0
    for n, (lattice, size) in enumerate(cells):
        sample = _draw(plan, size, plan.sentences, lattice)
        able = [entry for entry in entries if sample.listed or not entry.listed]
        where = f"{lattice} {_format_size(size)}"
        step = tell_part(tell, share * n / len(cells), share * (n + 1) / len(cells))
        step(f"{where}: preparing", 0.0)

        def tick(index: int, step: Tell = step, where: str = where, names: Sequence[Any] = able) -> None:
            step(f"{where}: {names[index].name}", index / len(names))

        rows, failures = time_entries(sample, lattice, where, able, plan.seconds, tick)
        report.rows += rows
        report.fail(failures)
    if plan.whole:
        time_whole_calls(report, tell_part(tell, share, 1.0))
    return report


def _draw(plan: ChainPlan, size: Size, sentences: int, lattice: str = "peaked") -> Sample:
    return draw(lattice, *size, sentences=sentences, seed=plan.seed, dtype=plan.dtype)


def _format_size(size: Size) -> str:
    return f"{size[0]}×{size[1]}"


# Whole calls: batches, threads, and what a call costs beyond its kernel.

BATCH = 64
CROWD = 1_000
CROWD_SIZE: Size = (319, 23)
CALL_SIZE: Size = (45, 23)
LONG = 100  # sentences' worth of positions in one, for the kernel's own time
# The dense sweep, as in the other tables, and what users get who ask for nothing.
WHOLE_METHODS: dict[str, str | Method] = {"viterbi": Viterbi(sparse=False), "auto": "auto"}


@dataclass(frozen=True)
class Task:
    """A call that decodes all sentences of a sample, or, as ``share`` says, the work of several in one."""

    what: str
    method: str
    call: Call
    sample: Sample
    share: int
    detail: str


def time_whole_calls(report: ChainReport, tell: Tell) -> None:
    """Add the figures about whole calls to a report."""
    plan = report.plan
    parts: list[tuple[str, Callable[[], list[Task]]]] = [
        (f"batches of {BATCH}, {_format_size(size)}", partial(_compare_batches, plan, size))
        for size in plan.sizes
    ]
    parts.append(("the cost of a call", partial(_compare_calls, plan)))
    parts.append((f"threads on a batch of {CROWD}", partial(_compare_threads, plan)))
    for n, (name, make_tasks) in enumerate(parts):
        tell(name, n / len(parts))
        _time_tasks(report, make_tasks())


def _compare_batches(plan: ChainPlan, size: Size) -> list[Task]:
    """Compare a batch with the same sentences one by one."""
    sample = _draw(plan, size, BATCH)
    chain = sample.chain
    detail = f"{BATCH} sentences, peaked, one thread"
    tasks = []
    for name, method in WHOLE_METHODS.items():
        one_by_one, together = _decode_each(chain, sample, method), _decode_batch(chain, sample, method)
        tasks.append(Task("one by one", name, one_by_one, sample, BATCH, detail))
        tasks.append(Task(f"batch of {BATCH}", name, together, sample, BATCH, detail))
    return tasks


def _compare_threads(plan: ChainPlan) -> list[Task]:
    """Compare one thread with two."""
    sample = _draw(plan, CROWD_SIZE, CROWD)
    chain = sample.chain
    detail = f"decode_batch of {CROWD} sentences, peaked"
    return [
        Task(f"threads={n}", name, _decode_batch(chain, sample, method, n), sample, CROWD, detail)
        for name, method in WHOLE_METHODS.items()
        for n in (1, 2)
    ]


def _compare_calls(plan: ChainPlan) -> list[Task]:
    """Compare a call with the time in the kernel, seen in two ways that make calling cost next to nothing.

    In a batch the cost of the call is shared by all sentences, but a result is built for each; a sentence of
    many times the length has one call and one result, but needs more memory. The kernel's own time is at or
    below the smaller of the two.
    """
    crowd = _draw(plan, CALL_SIZE, CROWD, "flat")
    chain = crowd.chain
    few = replace(crowd, sentences=crowd.sentences[:BATCH])
    long = replace(crowd, sentences=(np.concatenate(crowd.sentences[:LONG]),))
    in_batch = f"decode_batch of {CROWD} sentences, one thread: the kernel, and building the results"
    in_long = f"decode of {LONG} sentences' positions in one: the kernel, on more memory"
    tasks = []
    for name in WHOLE_METHODS:
        each, batch, one = (
            _decode_each(chain, few, name), _decode_batch(chain, crowd, name), _decode_each(chain, long, name)
        )  # fmt: skip
        tasks += [
            Task("call", name, each, few, len(few.sentences), "decode(emissions): all of it"),
            Task("in a batch", name, batch, crowd, CROWD, in_batch),
            Task("in a long sentence", name, one, long, LONG, in_long),
        ]
    return tasks


def _decode_each(chain: Chain, sample: Sample, method: str | Method) -> Call:
    decode = partial(chain.decode, method=method)
    return lambda: [decode(emissions) for emissions in sample.sentences]


def _decode_batch(chain: Chain, sample: Sample, method: str | Method, threads: int = 1) -> Call:
    return partial(chain.decode_batch, list(sample.sentences), method=method, threads=threads)


def _time_tasks(report: ChainReport, tasks: Sequence[Task]) -> None:
    """Run the tasks in turns and note the time of a sentence in each."""
    referees: dict[int, Referee] = {}
    watches = []
    for task in tasks:
        referee = referees.get(id(task.sample))
        if referee is None:
            referee = Referee(task.sample, _format_size((task.sample.labels, task.sample.length)))
            referee.prepare([1])
            referees[id(task.sample)] = referee
        check = partial(_check_answers, report, referee, f"{task.method}, {task.what}")
        watches.append(Stopwatch([task.call], check, report.plan.seconds))
    race(watches)
    for task, watch in zip(tasks, watches, strict=True):
        length = task.sample.length * len(task.sample.sentences) // task.share
        spread = watch.spread.scale(1 / task.share)
        report.whole.append(Whole(task.what, task.method, task.sample.labels, length, spread, task.detail))


def _check_answers(report: ChainReport, referee: Referee, name: str, _: int, answers: Sequence[Any]) -> None:
    for index, answer in enumerate(answers):
        referee.compare(name, index, np.array([answer.score]))
    report.fail(referee.failures)


# What is told of a report.

_KIND_COLOURS = {"certus": "cyan", "rival": "yellow", "floor": "dim"}


def lay_out(report: ChainReport) -> Iterator[Group]:
    """Yield a table of times for each kind of lattice and each k, then one about whole calls."""
    for lattice in report.plan.lattices:
        for k in sorted({row.k for row in report.rows if row.lattice == lattice}):
            yield _lay_out_times(report, lattice, k)
    if report.whole:
        yield _lay_out_whole(report)


def format_microseconds(seconds: float) -> str:
    """Write a time in microseconds with three digits that count."""
    value = seconds * 1e6
    return f"{value:,.0f}" if value >= 99.95 else f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"


def _lay_out_times(report: ChainReport, lattice: str, k: int) -> Group:
    """Rows are methods, columns are sizes: the median, and the quartiles beside it."""
    rows = [row for row in report.rows if row.lattice == lattice and row.k == k]
    sizes = report.plan.sizes
    table = make_table("method", *(f"L={labels:,} T={length}" for labels, length in sizes))
    fastest = {
        size: min(
            (row.spread.median for row in rows if row.size == size and row.kind != "floor"), default=0.0
        )
        for size in sizes
    }
    order = [entry.name for entry in list_entries()]
    for method in sorted({row.method for row in rows}, key=order.index):
        cells = {row.size: row for row in rows if row.method == method}
        kind = next(iter(cells.values())).kind
        times = [_format_cell(cells.get(size), fastest[size]) for size in sizes]
        table.add_row(Text(method, _KIND_COLOURS[kind]), *times)
    if any(row.once for row in rows):
        table.caption = "* so slow that one call on one sentence had to do"
    title = f"{lattice} lattices, k={k}: µs per sentence, median [quartiles], {report.plan.dtype}"
    return add_title(title, table)


def _format_cell(row: Row | None, fastest: float) -> Text:
    if row is None:
        return Text("–", "dim")
    text = Text(format_microseconds(row.spread.median), "bold green" if row.spread.median <= fastest else "")
    return text.append("*" if row.once else f" {_format_quartiles(row.spread)}", "not bold dim")


def _format_quartiles(spread: Spread) -> str:
    return f"[{format_microseconds(spread.low)}–{format_microseconds(spread.high)}]"


def _lay_out_whole(report: ChainReport) -> Group:
    table = make_table("L×T", "method", "what", "µs", "", "of what")
    for column, name in zip(table.columns, ("L×T", "method", "what", "µs", "", "of what"), strict=True):
        column.justify, column.no_wrap = "right" if name == "µs" else "left", name != "of what"
    for item in report.whole:
        table.add_row(
            _format_size((item.labels, item.length)),
            Text(item.method, _KIND_COLOURS["certus"]),
            item.what,
            format_microseconds(item.spread.median),
            Text(_format_quartiles(item.spread), "dim"),
            Text(item.detail, "dim"),
        )
    return add_title(f"whole calls: µs per sentence, median [quartiles], {report.plan.dtype}", table)


def make_claims(report: ChainReport) -> list[Claim]:
    """Return every claim with what the report says about it: ratios of times from one run."""
    return [*_claim_dense(report), *_claim_auto(report), *_claim_many(report), *_claim_whole(report)]


def _claim_dense(report: ChainReport) -> Iterator[Claim]:
    for size in SIZES:
        ratios = [
            divide(report.seconds("pytorch-crf", size, lattice), report.seconds("viterbi", size, lattice))
            for lattice in report.plan.lattices
        ]
        known = [ratio for ratio in ratios if ratio is not None]
        text = f"viterbi faster than pytorch-crf, {_format_size(size)} (least over lattices)"
        yield Claim(text, 15, True, min(known, default=None))
    alone = report.whole_seconds("one by one", "viterbi", SIZES[-1])
    together = report.whole_seconds(f"batch of {BATCH}", "viterbi", SIZES[-1])
    where = f"in a batch of {BATCH} than one by one, {_format_size(SIZES[-1])}"
    yield Claim(f"viterbi faster per sentence {where}", 2, True, divide(alone, together))


def _claim_auto(report: ChainReport) -> Iterator[Claim]:
    for size, needed in zip(SIZES[1:], (15, 20, 250), strict=True):
        ratio = divide(report.seconds("viterbi", size, "peaked"), report.seconds("auto", size, "peaked"))
        yield Claim(f"auto faster than viterbi, peaked {_format_size(size)}", needed, True, ratio)
    size = SIZES[-1]
    ratio = divide(report.seconds("auto", size, "peaked"), report.seconds(FLOOR, size, "peaked"))
    yield Claim(f"auto's time over reading the emissions once, peaked {_format_size(size)}", 10, False, ratio)
    for size in SIZES:
        ratio = divide(report.seconds("auto", size, "flat"), report.seconds("viterbi", size, "flat"))
        yield Claim(f"auto's time over viterbi's, flat {_format_size(size)}", 1.25, False, ratio)


def _claim_many(report: ChainReport) -> Iterator[Claim]:
    for size in SIZES:
        ratio = divide(report.seconds("auto", size, "peaked", K), report.seconds("auto", size, "peaked"))
        yield Claim(f"auto's time for k={K} over k=1, peaked {_format_size(size)}", 3, False, ratio)
    for size, needed in ((SIZES[1], 5), (SIZES[-1], 40)):
        rival, auto = (report.seconds(name, size, "peaked", K) for name in ("viterbi-astar", "auto"))
        text = f"auto faster than viterbi-astar, k={K}, peaked {_format_size(size)}"
        yield Claim(text, needed, True, divide(rival, auto))


def _claim_whole(report: ChainReport) -> Iterator[Claim]:
    for method in ("viterbi", "auto"):
        kernel = [
            report.whole_seconds(what, method, CALL_SIZE) for what in ("in a batch", "in a long sentence")
        ]
        least = min((seconds for seconds in kernel if seconds), default=None)
        ratio = divide(report.whole_seconds("call", method, CALL_SIZE), least)
        text = f"a whole call of {method} over its kernel's time, {_format_size(CALL_SIZE)}"
        yield Claim(text, 2.5, False, ratio)
    for method in ("viterbi", "auto"):
        one, two = (report.whole_seconds(f"threads={n}", method, CROWD_SIZE) for n in (1, 2))
        text = f"two threads faster than one, {method}, batch of {CROWD:,}, {_format_size(CROWD_SIZE)}"
        yield Claim(text, 1.7, True, divide(one, two))


_OURS = ("auto", "viterbi", "staggered")
_COLOURS = {
    "auto": pictures.TEAL,
    "viterbi": pictures.BLUE,
    "staggered": pictures.PURPLE,
    "pytorch-crf": pictures.RED,
    "hmmlearn": pictures.ORANGE,
    "dynamax": "#b5838d",
    "librosa": pictures.OLIVE,
    "NumPy": pictures.GREY,
    FLOOR: pictures.PALE,
}
_MEANINGS = {
    "peaked": "like a trained tagger's",
    "flat": "that nothing can be pruned from",
    "ties": "full of ties",
}


def paint(report: ChainReport) -> Any:
    """Draw the k = 1 times of the main methods and the rivals on peaked lattices, or the first ones there."""
    lattice = "peaked" if "peaked" in report.plan.lattices else report.plan.lattices[0]
    lines: dict[str, list[Row]] = {}
    for row in sorted(report.rows, key=lambda row: row.labels):
        if (row.method in _OURS or row.kind != "certus") and row.lattice == lattice and row.k == 1:
            lines.setdefault(row.method, []).append(row)
    figure = pictures.make_figure(8.2, 4.7)
    axes = figure.subplots()
    for method, rows in lines.items():
        _draw_line(axes, method, rows)
    labels = [row.labels for rows in lines.values() for row in rows]
    pictures.make_logarithmic(axes, labels)
    axes.set_xlim(min(labels) * 0.85, max(labels) * 4.2)
    low, high = axes.get_ylim()
    axes.set_ylim(low, high * 4)
    axes.yaxis.set_major_formatter(lambda value, _: _format_time(value))
    title = f"Exact decoding of one sentence, scores {_MEANINGS.get(lattice, lattice)}"
    pictures.dress_axes(axes, title, "labels", "time per token, one core", size=12, legend=False)
    _name_lines(axes, lines)
    return figure


def _time_position(row: Row) -> float:
    """Return the microseconds of a position, so that sentences of different length make one line."""
    return row.spread.median / row.length * 1e6


def _draw_line(axes: Any, method: str, rows: list[Row]) -> None:
    ours, floor = method in _OURS, method == FLOOR
    axes.plot(
        [row.labels for row in rows],
        [_time_position(row) for row in rows],
        color=_COLOURS.get(method, "#555555"),
        linewidth=3.2 if method == "auto" else 2.0 if ours else 1.4,
        linestyle=":" if floor else "-" if ours else "--",
        marker=None if floor else "o",
        markersize=6 if method == "auto" else 4,
        zorder=4 if ours else 2,
    )


def _format_time(microseconds: float) -> str:
    """Write a power of ten of microseconds as people say it."""
    for size, unit in ((1e6, "s"), (1e3, "ms"), (1.0, "µs"), (1e-3, "ns")):
        if microseconds >= size * 0.999:
            return f"{microseconds / size:g} {unit}"
    return f"{microseconds:g} µs"


def _name_lines(axes: Any, lines: dict[str, list[Row]]) -> None:
    """Write each line's name at its right end, moved apart where they would overlap."""
    ends = sorted((_time_position(rows[-1]), rows[-1].labels, method) for method, rows in lines.items())
    low, high = np.log10(axes.get_ylim())
    place = -np.inf
    for time, labels, method in ends:
        place = max(np.log10(time), place + (high - low) * 0.052)
        axes.annotate(
            f"certus {method}" if method in _OURS else method,
            (labels, time),
            xytext=(labels * 1.12, 10**place),
            va="center",
            fontsize=9.5,
            color=_COLOURS.get(method, "#555555"),
            fontweight="bold" if method in _OURS else "normal",
        )


BENCHMARK = Benchmark(
    name="chain", make_plan=make_plan, run=run, lay_out=lay_out, make_claims=make_claims, paint=paint
)
