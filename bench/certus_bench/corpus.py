"""``certus bench corpus``: few sentences to learn from, many to label, with consistency and without.

Rush et al. 2012, table 4 and figure 3. As in the paper, what pruning left is searched exactly; what it takes
to prove answers for the whole model is measured beside it.
"""

from __future__ import annotations

import dataclasses
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Group

from certus.annotation.sentence import replace
from certus.corpus import METHODS, Consistent, Limits, tag
from certus.errors import CertusError, InvalidInput
from certus.evaluation import compare
from certus.evaluation.significance import measure_differences
from certus.formats import Sentence, Target, read
from certus.models.tagger import Tagger
from certus_bench.harness import pictures
from certus_bench.harness.benchmark import Benchmark, BenchmarkReport, Tell, keep_quiet
from certus_bench.harness.claims import Claim, divide
from certus_bench.harness.environment import TAG_COMMAND, describe_machine
from certus_bench.harness.options import Data, flag_quick, require_data, split_names
from certus_bench.harness.tables import add_title, make_table
from certus_bench.harness.timing import Spread, time_call

SIZES = (50, 100, 200, 500)  # sentences learned from: Rush et al. 2012, table 4
TARGETS = ("upos", "xpos")
PROVEN = "upos"  # proofs for the whole model of xpos take minutes and gigabytes, and do not end in time
PARTS = ("dev", "test")
FOLDER = "ud/en_ewt"


@dataclass(frozen=True, kw_only=True)
class CorpusPlan:
    """What to measure."""

    data: Path  # the folder that the corpora lie in; UD English EWT in ud/en_ewt
    part: str = "test"  # what is labelled: ``test``, or ``dev`` while one is still choosing
    sizes: tuple[int, ...] = SIZES  # how many sentences are learned from
    targets: tuple[str, ...] = TARGETS  # what is predicted
    order: int = 2  # of the pruned CRF; 2 looks back as far as the paper's trigram tagger
    repeats: int = 3  # how often each thing is timed
    begin: int = max(SIZES)  # the sentence of the training file that the text begins with,
    text: int = 12_000  # and how many sentences serve as text

    def __post_init__(self) -> None:
        """Refuse what cannot be run, before any time is spent."""
        unknown = sorted(set(self.targets) - set(TARGETS))
        if unknown:
            raise InvalidInput(f"there is no target {unknown[0]!r}; there are {', '.join(TARGETS)}")
        if not all(1 <= size <= self.begin for size in self.sizes):
            raise InvalidInput(f"taggers learn from 1 to {self.begin} sentences; those behind serve as text")
        if self.part not in PARTS:
            raise InvalidInput(f"there is no part {self.part!r} to label; there are {', '.join(PARTS)}")
        for name in ("train", self.part):
            if not self.file(name).is_file():
                raise InvalidInput(f"there is no {self.file(name)}: name the folder by --data or CERTUS_DATA")

    def file(self, name: str) -> Path:
        """Return where a part of the corpus lies."""
        return self.data / FOLDER / f"{name}.conllu"

    def hurry(self) -> CorpusPlan:
        """Return the plan of a quick run."""
        few: dict[str, Any] = {"sizes": self.sizes[:1], "targets": self.targets[:1]}
        return dataclasses.replace(self, **few, order=1, repeats=1, text=1000)


def make_plan(
    data: Data = None,
    part: Annotated[
        str, typer.Option(help="What to label: test, or dev while one is choosing.")
    ] = CorpusPlan.part,
    targets: Annotated[str, typer.Option(help="What to predict: upos, xpos; both by default.")] = "",
    sizes: Annotated[
        str,
        typer.Option(
            help="Numbers of sentences to learn from, separated by commas; 50,100,200,500 by default."
        ),
    ] = "",
    order: Annotated[int, typer.Option(help="The order of the pruned CRF.", min=1, max=5)] = CorpusPlan.order,
    quick: Annotated[bool, flag_quick("Make one small run: for a first look, not for figures.")] = False,
) -> CorpusPlan:
    """Learn from 50 to 500 sentences, label a test set, and see what consistency across sentences brings.

    Accuracy, error reduction, proofs, iterations and time, without further text and with (Rush et al. 2012,
    table 4 and figure 3). The last table holds the promises of the documentation against this machine.
    """
    plan = CorpusPlan(
        data=require_data(data),
        part=part,
        sizes=_parse_sizes(sizes) or SIZES,
        targets=split_names(targets) or TARGETS,
        order=order,
    )
    return plan.hurry() if quick else plan


def _parse_sizes(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(name) for name in split_names(text))
    except ValueError:
        raise InvalidInput(f"sizes must be whole numbers, separated by commas: {text!r} are not") from None


@dataclass(frozen=True)
class WholeModel:
    """The same problem with what pruning drops bounded, and searched where it might be needed."""

    accuracy: float  # in percent
    certified: float  # percent of sentences
    optimal: bool
    score: float  # over that of the labels found without
    tagging: float  # seconds, sentence by sentence, answers proven
    consistent: float  # seconds of all of it


@dataclass(frozen=True)
class ConsistencyRow:
    """A tagger learned from few sentences, by itself and with consistency."""

    target: str  # what is predicted
    size: int  # sentences that were learned from
    text: int  # sentences of unannotated text that were given
    base: float  # accuracy in percent, sentence by sentence
    model: float  # accuracy in percent with consistency
    base_unknown: float  # of words that were not learned from
    model_unknown: float  # likewise
    p: float  # how often chance alone makes a difference as large as that between base and model
    certified: float  # percent of all sentences, added ones too, whose labels are proven
    nodes: int  # word types that should agree
    constrained: int  # words of these
    components: int  # of the problem
    iterations: int  # over the corpus
    tagging: Spread  # seconds, sentence by sentence, of all sentences that were given
    consistent: Spread  # seconds of all of it with consistency
    # of ``certus tag`` from file to file, and with ``--consistent``; None if not timed
    command: tuple[float, float] | None
    # the time of each iteration, as a share of loading, in which all sentences are decoded
    shares: list[float]
    whole: WholeModel | None = None  # of PROVEN, without text

    @property
    def reduction(self) -> float:
        """How many percent of the errors are gone."""
        return _reduce_errors(self.base, self.model)

    @property
    def unknown_reduction(self) -> float:
        """How many percent of the errors on unknown words are gone."""
        return _reduce_errors(self.base_unknown, self.model_unknown)

    @property
    def cost(self) -> float:
        """Of everything, over tagging sentence by sentence; both from words in memory to labels."""
        return self.consistent.median / self.tagging.median

    @property
    def command_cost(self) -> float | None:
        """The same of the command, from file to file."""
        return None if self.command is None else self.command[1] / self.command[0]


def _reduce_errors(before: float, after: float) -> float:
    return 100 * (after - before) / (100 - before) if before < 100 else 0.0


@dataclass(frozen=True)
class Steps:
    """One problem, solved in two ways."""

    method: str  # one of ``certus.corpus.METHODS``
    size: int  # sentences that were learned from
    gaps: list[float]  # the bound over the best score known, after each iteration
    solved: int  # pieces of sentences that were decoded, all iterations together
    certified: float  # percent of sentences
    seconds: float  # of all iterations


@dataclass
class CorpusReport(BenchmarkReport):
    """Taggers learned from few sentences, and how fast the bound falls."""

    plan: CorpusPlan
    rows: list[ConsistencyRow] = field(default_factory=list)
    steps: list[Steps] = field(default_factory=list)


def run(plan: CorpusPlan, tell: Tell = keep_quiet) -> CorpusReport:
    """Measure what a plan asks for."""
    report = CorpusReport(plan, describe_machine({}))
    corpus = _Sentences(plan)
    jobs = [(target, size) for target in plan.targets for size in plan.sizes]
    for n, (target, size) in enumerate(jobs):
        tagger = Tagger(target, order=plan.order).fit(corpus.train[:size])
        for count in dict.fromkeys((0, plan.text)):
            tell(f"{target}, {size} sentences, {count:,} of text", (n + 0.5 * (count > 0)) / len(jobs))
            report.rows.append(corpus.measure(tagger, target, size, count))
        if target == plan.targets[0]:
            report.steps += [corpus.count_steps(tagger, method, size) for method in METHODS]
    return report


class _Sentences:
    """The sentences of the benchmark, read once."""

    def __init__(self, plan: CorpusPlan) -> None:
        self.plan = plan
        self.train = list(islice(read(plan.file("train")), plan.begin + plan.text))
        self.gold = list(read(plan.file(plan.part)))
        self.added = self.train[plan.begin :]

    def measure(self, tagger: Tagger, target: str, size: int, count: int) -> ConsistencyRow:
        """Measure one tagger with so much text."""
        text = self.added[:count]
        tagger.proof = False
        tagging, apart = _time_repeatedly(lambda: tagger.tag_batch([*self.gold, *text]), self.plan.repeats)
        consistent, found = _time_repeatedly(lambda: tag(tagger, self.gold, text=text), self.plan.repeats)
        known = {word for sentence in self.train[:size] for word in sentence.words}
        reports = [
            compare(self.gold, _fill_labels(self.gold, tagger.target, labels), known)
            for labels in ([answer.labels for answer in apart[: len(self.gold)]], found.labels)
        ]
        base, model = (report.accuracies[target] for report in reports)
        p = next(test.p for test in measure_differences(reports[1], reports[0]) if test.name == target)
        return ConsistencyRow(
            target=target,
            size=size,
            text=len(text),
            base=100 * base.accuracy,
            model=100 * model.accuracy,
            base_unknown=100 * base.unknown.accuracy,
            model_unknown=100 * model.unknown.accuracy,
            p=p,
            **_describe_problem(found),
            tagging=tagging,
            consistent=consistent,
            command=self._time_commands(tagger, text),
            shares=_compute_shares(found),
            whole=self._prove(tagger, target, found.score) if target == PROVEN and not text else None,
        )

    def _prove(self, tagger: Tagger, target: str, score: float) -> WholeModel:
        """Label the sentences with proofs for the whole model; ``score`` is what was found without."""
        tagger.proof = True
        tagging, _ = time_call(lambda: tagger.tag_batch(self.gold))
        consistent, found = time_call(lambda: tag(tagger, self.gold))
        report = compare(self.gold, _fill_labels(self.gold, tagger.target, found.labels))
        accuracy = 100 * report.accuracies[target].accuracy
        certified = 100 * found.stats["certified"]
        return WholeModel(accuracy, certified, found.optimal, found.score - score, tagging, consistent)

    def _time_commands(self, tagger: Tagger, text: Sequence[Sentence]) -> tuple[float, float]:
        """Time the command from file to file: all files sentence by sentence, then with consistency."""
        with tempfile.TemporaryDirectory() as folder:
            model, more = str(Path(folder) / "model.certus"), Path(folder) / "text.txt"
            tagger.save(model)
            more.write_text("".join(" ".join(s.words) + "\n" for s in text), encoding="utf-8")
            gold, out = str(self.plan.file(self.plan.part)), str(Path(folder) / "out.conllu")
            extra = [str(more)] if text else []
            plain = [model, gold, "--unproven", "-o", out]
            apart = [[*plain], *([[model, *extra, "--format", "text", *plain[2:]]] if text else [])]
            whole = [*plain, "--consistent", *(["--text", *extra] if text else [])]
            times = [
                (sum(_time_command(command) for command in apart), _time_command(whole))
                for _ in range(self.plan.repeats)
            ]
            middle = len(times) // 2
            return sorted(t[0] for t in times)[middle], sorted(t[1] for t in times)[middle]

    def count_steps(self, tagger: Tagger, method: str, size: int) -> Steps:
        """Solve the problem without text in one way."""
        tagger.proof = False
        found = tag(tagger, self.gold, limits=Limits(method=method))
        best = tag(tagger, self.gold).score
        seconds = sum(iteration.seconds for iteration in found.trace)
        gaps = [iteration.bound - best for iteration in found.trace]
        solved = sum(iteration.solved for iteration in found.trace)
        return Steps(method, size, gaps, solved, 100 * found.stats["certified"], seconds)


def _time_repeatedly(call: Callable[[], Any], repeats: int) -> tuple[Spread, Any]:
    """Time a call, and return its last answer."""
    taken = [time_call(call) for _ in range(repeats)]
    return Spread.of([seconds for seconds, _ in taken]), taken[-1][1]


def _time_command(arguments: Sequence[str]) -> float:
    command = partial(subprocess.run, [*TAG_COMMAND, *arguments], capture_output=True, text=True, check=False)
    seconds, done = time_call(command)
    if done.returncode:
        raise CertusError(f"certus tag failed: {done.stderr.strip()}")
    return seconds


def _fill_labels(gold: Sequence[Sentence], target: Target, labels: Sequence[Sequence[str]]) -> list[Sentence]:
    return [replace(one, target.fill(one, own)) for one, own in zip(gold, labels, strict=True)]


def _describe_problem(found: Consistent) -> dict[str, Any]:
    names = ("nodes", "constrained", "components", "iterations")
    return {"certified": 100 * found.stats["certified"], **{name: found.stats[name] for name in names}}


def _compute_shares(found: Consistent) -> list[float]:
    return [iteration.seconds / found.stats["load_seconds"] for iteration in found.trace]


def make_claims(report: CorpusReport) -> list[Claim]:
    """Return every claim with what the report says about it."""
    least = min((row.certified for row in report.rows), default=None)
    proofs = Claim("sentences certified among what pruning left (least)", 99, True, least, "%")
    least = min((row.whole.certified for row in report.rows if row.whole), default=None)
    whole = Claim(
        f"sentences certified for the whole model, {PROVEN} (least, without text)", 99, True, least, "%"
    )
    return [*_claim_errors(report), proofs, whole, *_claim_costs(report)]


def _claim_errors(report: CorpusReport) -> Iterator[Claim]:
    for target in TARGETS:
        for size in SIZES:
            rows = [row for row in report.rows if (row.target, row.size) == (target, size)]
            least = min((row.unknown_reduction for row in rows), default=None)
            text = f"errors on unknown words gone, {target}, {size} sentences (least, with and without text)"
            yield Claim(text, 0.01, True, least, "%")
    largest = max((row.p for row in report.rows), default=None)
    yield Claim("chance of such a difference in accuracy (largest)", 0.05, False, largest, "")


def _claim_costs(report: CorpusReport) -> Iterator[Claim]:
    rows = report.rows
    memory = [(row.tagging.median, row.consistent.median) for row in rows]
    commands = [row.command for row in rows if row.command is not None]
    over = "time over sentence by sentence, without proof for the whole model"
    for what, pairs in (("from words in memory", memory), ("of certus tag", commands)):
        ratio = divide(sum(pair[1] for pair in pairs), sum(pair[0] for pair in pairs))
        yield Claim(f"{over}, {what}, all runs together", 2, False, ratio)
    last = max((row.shares[-1] for row in rows if row.shares), default=None)
    yield Claim("the last iteration's time over the first round of decoding (largest)", 0.05, False, last)


_SHOWN = (1, 2, 5, 10, 20, 50, 100, 200)  # iterations


def lay_out(report: CorpusReport) -> Iterator[Group]:
    """Yield every table of a report."""
    yield _lay_out_accuracy(report)
    yield _lay_out_problems(report)
    yield _lay_out_proofs(report)
    if report.steps:
        yield _lay_out_steps(report)


def _name_row(row: ConsistencyRow) -> str:
    return f"{row.target}, {row.size}" + (", text" if row.text else "")


def _lay_out_accuracy(report: CorpusReport) -> Group:
    """Lay out accuracies by size of the training data (Rush et al. 2012, table 4)."""
    table = make_table("target, sentences", "base %", "model %", "ER", "unknown base %", "model %", "ER", "p")
    for row in report.rows:
        table.add_row(
            _name_row(row),
            f"{row.base:.2f}", f"{row.model:.2f}", f"{row.reduction:.2f}",
            f"{row.base_unknown:.2f}", f"{row.model_unknown:.2f}", f"{row.unknown_reduction:.2f}",
            f"{row.p:.4f}",
        )  # fmt: skip
    return add_title(f"accuracy on {report.plan.part}; ER: percent of the errors that are gone", table)


def _lay_out_problems(report: CorpusReport) -> Group:
    """Lay out how large the problems are, how they end, and what they cost."""
    table = make_table(
        "target, sentences", "types", "words", "components", "iterations", "certified %", "memory s",
        "all s", "ratio", "command s", "all s", "ratio",
    )  # fmt: skip
    for row in report.rows:
        cells = ["–"] * 3
        if row.command is not None:
            cells = [*(f"{seconds:.2f}" for seconds in row.command), f"{row.command_cost:.2f}×"]
        counts = (f"{count:,}" for count in (row.nodes, row.constrained, row.components, row.iterations))
        times = (f"{seconds:.2f}" for seconds in (row.tagging.median, row.consistent.median))
        table.add_row(_name_row(row), *counts, f"{row.certified:.2f}", *times, f"{row.cost:.2f}×", *cells)
    return add_title(
        "problems, and their cost over sentence by sentence: from words in memory, and of certus tag", table
    )


def _lay_out_proofs(report: CorpusReport) -> Group:
    """Lay out what proofs for the whole model cost, and what they find."""
    table = make_table(
        "target, sentences",
        "model %",
        "score gained",
        "certified %",
        "optimal",
        "tagging s",
        "all s",
        "ratio",
    )
    for row in report.rows:
        if (whole := row.whole) is None:
            continue
        table.add_row(
            _name_row(row), f"{whole.accuracy:.2f}", f"{whole.score:.1f}", f"{whole.certified:.2f}",
            "yes" if whole.optimal else "no", f"{whole.tagging:.2f}", f"{whole.consistent:.2f}",
            f"{whole.consistent / whole.tagging:.1f}×",
        )  # fmt: skip
    return add_title("proven for the whole model, what pruning drops included", table)


def _lay_out_steps(report: CorpusReport) -> Group:
    """Lay out how fast the bound falls, in two ways."""
    table = make_table("sentences, method", *(f"after {n}" for n in _SHOWN), "solved", "certified %", "s")
    for row in report.steps:
        cells = [f"{row.gaps[n - 1]:.2f}" if n <= len(row.gaps) else "" for n in _SHOWN]
        figures = (f"{row.solved:,}", f"{row.certified:.2f}", f"{row.seconds:.2f}")
        table.add_row(f"{row.size}, {row.method}", *cells, *figures)
    return add_title("the bound over the optimum after so many iterations, without text", table)


_COLOURS = (pictures.TEAL, pictures.BLUE, pictures.PURPLE, pictures.ORANGE, pictures.RED)


def paint(report: CorpusReport) -> Any:
    """Draw the time of later iterations relative to the first (Rush et al. 2012, figure 3)."""
    rows = [row for row in report.rows if row.shares and row.target == report.plan.targets[0]]
    if not rows:
        raise pictures.NothingToDraw("no run took an iteration")
    figure = pictures.make_figure(8, 4.4)
    axes = figure.subplots()
    for row in rows:
        colour = _COLOURS[report.plan.sizes.index(row.size) % len(_COLOURS)]
        shares = [100 * share for share in row.shares]
        style = "-" if row.text else ":"
        label = f"{row.size} sentences" + (", text added" if row.text else "")
        axes.plot(range(1, len(shares) + 1), shares, style, color=colour, linewidth=1.8, label=label)
    title = f"EWT {rows[0].target}: iterations get cheap"
    pictures.dress_axes(axes, title, "iteration", "percent of the time of decoding all once")
    return figure


BENCHMARK = Benchmark(
    name="corpus", make_plan=make_plan, run=run, lay_out=lay_out, make_claims=make_claims, paint=paint
)
