"""``certus bench latent``: latent-dynamic CRFs on the tasks of Sun & Tsujii (2009), tables and figures."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Group
from rich.text import Text

from certus.annotation.columns import select_columns
from certus.annotation.sentence import replace
from certus.chain.spans import find_spans
from certus.errors import InvalidInput
from certus.formats import Sentence, read
from certus.latent import BHP, BMP, LDI, MBR, Inference
from certus.learn.decoder import find_starts
from certus.learn.progress import Progress
from certus.models.tagger import Tagger
from certus.ragged import Ragged
from certus_bench.harness import pictures
from certus_bench.harness.benchmark import Benchmark, BenchmarkReport, Tell, keep_quiet, tell_part
from certus_bench.harness.claims import Claim, divide, get_figure, subtract
from certus_bench.harness.environment import describe_machine
from certus_bench.harness.options import Data, Seed, check_data, flag_quick, require_data, split_names
from certus_bench.harness.tables import add_title, make_table, warn_of_quick
from certus_bench.harness.timing import time_call


def _list_single(name: str, offsets: Sequence[int]) -> list[str]:
    return [name.format(offset) for offset in offsets]


def _list_runs(name: str, size: int, first: int, last: int) -> list[str]:
    """List runs of so many neighbours that lie between two offsets."""
    return [
        " ".join(name.format(offset) for offset in range(begin, begin + size))
        for begin in range(first, last - size + 2)
    ]


def _write_both(templates: Sequence[str]) -> str:
    """Write templates down for single states, then for two in a row."""
    return "\n".join([*templates, *(f"pair {template}" for template in templates)])


_AROUND = range(-2, 3)
_WORDS = [*_list_single("word[{}]", _AROUND), *_list_runs("word[{}]", 2, -1, 1)]

WORDS = _write_both(_WORDS)
"""Table 2, for NP chunking: the five words around and the bigrams of the word with its neighbours."""

_PARTS_OF_SPEECH = [
    *_list_single("pos[{}]", _AROUND),
    *_list_runs("pos[{}]", 2, -2, 2),
    *_list_runs("pos[{}]", 3, -2, 2),
]
# The paper's "orthography mode" is a word's shape here; prefixes and suffixes are named in its section 4.1.
_ORTHOGRAPHY = [
    *_list_single("shape(word[{}])", _AROUND),
    *_list_runs("shape(word[{}])", 2, -2, 2),
    "prefix(word[0], 1..4)",
    "suffix(word[0], 1..4)",
]

RICH = _write_both([*_WORDS, *_PARTS_OF_SPEECH, *_ORTHOGRAPHY])
"""Table 1, for biomedical entities: words, parts of speech and orthography."""


Sentences = list[Sentence]
Parts = tuple[Sentences, Sentences]  # to learn from, and to measure on

_CHUNKS, _ENTITIES, _GENIA = "chunk/conll2000", "ner/jnlpba", "pos/genia"


@dataclass(frozen=True)
class Task:
    """What is learned from what."""

    name: str  # how tables and ``--only`` call it
    title: str  # what it is
    target: str  # the column that is predicted
    latent: int  # states of each label, as in the paper
    # of the Gaussian prior: the power of 10 that is best for the latent model on held-out sentences
    # (docs/papers/sun2009.md); as in the paper, the CRF has it, too
    variance: float
    own_variance: float  # that is best for the CRF
    templates: str  # of features
    min_count: int  # features that occur less often are left out
    files: tuple[str, ...]  # what is read, below the folder of all data
    load: Callable[[Path, int | None, int], Parts]  # reads the sentences, at most so many of each part
    minutes: float  # what learning may take

    def check(self, data: Path) -> None:
        """Make sure that all files are there, before any time is spent."""
        for name in self.files:
            if not (data / name).is_file():
                raise InvalidInput(
                    f"{self.name} needs {data / name}, which is not there; --only leaves tasks out"
                )


def load_noun_phrases(data: Path, limit: int | None, threads: int) -> Parts:
    """CoNLL-2000 with its chunk tags reduced to B-NP, I-NP and O."""
    folder = data / _CHUNKS

    def read_part(name: str) -> Sentences:
        return [keep_noun_phrases(s) for s in islice(read(folder / name), limit)]

    return read_part("train.txt"), read_part("test.txt")


def keep_noun_phrases(sentence: Sentence) -> Sentence:
    """Return a sentence in which all that is no noun phrase is O."""
    tags = (tag if tag.endswith("-NP") else "O" for tag in sentence.column("chunk"))
    return replace(sentence, {"chunk": list(tags)})


def load_entities(data: Path, limit: int | None, threads: int) -> Parts:
    """JNLPBA 2004, all but test to learn from, with parts of speech by a tagger learned from GENIA."""
    folder = data / _ENTITIES
    learned = islice((s for name in ("train", "dev") for s in read(folder / f"{name}.iob2")), limit)
    tagger = Tagger("tag", "perceptron", epochs=5)
    tagger.fit(islice(read(data / _GENIA / "train.tsv"), limit), threads=threads)
    tested = islice(read(folder / "test.iob2"), limit)
    add = partial(add_parts_of_speech, tagger, threads=threads)
    return list(add(list(learned))), list(add(list(tested)))


def add_parts_of_speech(tagger: Tagger, sentences: Sequence[Sentence], threads: int) -> Iterator[Sentence]:
    """Add a column ``pos`` that a tagger fills."""
    for sentence, found in zip(sentences, tagger.tag_batch(sentences, threads=threads), strict=True):
        columns = {**sentence.columns, "pos": list(found.labels)}
        yield Sentence(columns, sentence.text, sentence.rows, sentence.top, sentence.source, sentence.layout)


TASKS: dict[str, Task] = {
    "np": Task(
        "np", "noun phrases of CoNLL-2000, word features", "chunk", latent=5, variance=10.0,
        own_variance=100.0, templates=WORDS, min_count=1,
        files=(f"{_CHUNKS}/train.txt", f"{_CHUNKS}/test.txt"), load=load_noun_phrases, minutes=15,
    ),
    "jnlpba": Task(
        "jnlpba", "biomedical entities of JNLPBA, rich features", "tag", latent=4, variance=0.1,
        own_variance=0.1, templates=RICH, min_count=3,
        files=(*(f"{_ENTITIES}/{name}.iob2" for name in ("train", "dev", "test")), f"{_GENIA}/train.tsv"),
        load=load_entities, minutes=60,
    ),
}  # fmt: skip


STEPS = (1, 2, 3, 5, 10, 20, 30, 50, 100, 250, 1000, 10_000)  # of figures 4 and 5
FEW = 30  # the steps of LDI-A
MANY = 10_000  # what the paper calls exact


@dataclass(frozen=True, kw_only=True)
class LatentPlan:
    """What to measure."""

    data: Path  # the folder that the corpora lie in
    only: frozenset[str] = frozenset()  # the tasks to run; all if it is empty
    quick: bool = False  # learn little from few sentences: for a first look, not for figures
    threads: int = 2  # for learning; inference is timed on one
    seed: int = 0  # of the weights that learning begins from

    def __post_init__(self) -> None:
        """Refuse what cannot be run, before any time is spent."""
        unknown = sorted(self.only - TASKS.keys())
        if unknown:
            raise InvalidInput(f"there is no task {unknown[0]!r} to run; there are {', '.join(TASKS)}")
        check_data(self.data)
        for task in self.tasks:
            task.check(self.data)

    @property
    def tasks(self) -> list[Task]:
        """The tasks to run."""
        return [task for name, task in TASKS.items() if not self.only or name in self.only]

    @property
    def limit(self) -> int | None:
        """The most sentences of each part."""
        return 500 if self.quick else None

    @property
    def epochs(self) -> int:
        """Iterations of L-BFGS."""
        return 30 if self.quick else 200

    @property
    def repeats(self) -> int:
        """How many times inference over all sentences is timed; the median counts."""
        return 3 if self.quick else 5

    @property
    def sampled(self) -> int:
        """Sentences whose latent paths are looked at one by one."""
        return 20 if self.quick else 200


def make_plan(
    data: Data = None,
    only: Annotated[str, typer.Option(help="The task, np or jnlpba; both by default.")] = "",
    quick: Annotated[bool, flag_quick("Learn little from 500 sentences: a first look.")] = False,
    threads: Annotated[int, typer.Option(min=1, help="Threads for learning; inference is timed on one.")] = 2,
    seed: Seed = 0,
) -> LatentPlan:
    """Learn latent-dynamic CRFs and find labels in every way: noun phrases, and biomedical entities.

    The tables and figures of Sun & Tsujii (2009), beside a CRF with the same features. The corpora do not
    come with Certus. All of it takes about a quarter of an hour.
    """
    names = frozenset(split_names(only))
    return LatentPlan(data=require_data(data), only=names, quick=quick, threads=threads, seed=seed)


@dataclass(frozen=True)
class InferenceRow:
    """A way to label the test data (tables 3, 4 and 5)."""

    name: str  # of the model and its inference
    sentences: float  # the share of sentences without a mistake, in percent
    precision: float  # of spans, in percent; so are recall and F1
    recall: float
    f1: float
    seconds: float  # from words to labels, features included, all sentences, one thread
    exact: float  # the share of sentences whose labels are proven best, in percent
    paths: float = 0.0  # latent paths per sentence, on average
    prefixes: float = 0.0  # prefixes of labels per sentence that the label bound expanded, on average


@dataclass(frozen=True)
class Point:
    """LDI stopped after ``steps`` latent paths (figures 4 and 5), with one of its bounds."""

    bound: str
    steps: int
    row: InferenceRow


@dataclass
class TaskReport:
    """What was found on one task."""

    task: str  # its name
    title: str  # what it is
    learned: int  # sentences to learn from
    measured: int  # sentences to measure on
    states: int = 0  # latent states in all
    features: int = 0  # of the latent model
    # of learning, by model: ``latent`` and CRFs by their names; files and features included
    seconds: dict[str, float] = field(default_factory=dict)
    iterations: dict[str, int] = field(default_factory=dict)  # of L-BFGS, by model
    rows: list[InferenceRow] = field(default_factory=list)  # the tables
    points: list[Point] = field(default_factory=list)  # the curves
    # the mass of the best 1, 2, ... latent paths, averaged over sentences (figure 2).
    concentration: list[float] = field(default_factory=list)

    def find_row(self, name: str) -> InferenceRow | None:
        """Return a row of the tables, or None if it was not measured."""
        return next((row for row in self.rows if row.name == name), None)

    def find_point(self, bound: str, steps: int) -> InferenceRow | None:
        """Return a point of the curves, or None if it was not measured."""
        return next((p.row for p in self.points if (p.bound, p.steps) == (bound, steps)), None)


@dataclass
class LatentReport(BenchmarkReport):
    """What was found on each task."""

    plan: LatentPlan
    tasks: list[TaskReport] = field(default_factory=list)

    def find_task(self, name: str) -> TaskReport | None:
        """Return what was found on a task, or None if it was not run."""
        return next((task for task in self.tasks if task.task == name), None)


class Measure:
    """Test sentences, ready to be labelled by any tagger that looks at the same columns.

    Args:
        sentences: annotated ones.
        target: the column that is predicted.
        columns: those that taggers look at.
        repeats: how many times to take the time.
    """

    def __init__(
        self, sentences: Sequence[Sentence], target: str, columns: Sequence[str], repeats: int
    ) -> None:
        self.cells = [select_columns(sentence, columns) for sentence in sentences]
        self._gold = [sentence.column(target) for sentence in sentences]
        self._spans = [set(find_spans(tags)) for tags in self._gold]
        self._first = find_starts(self.cells)
        self._repeats = repeats

    def __call__(self, name: str, tagger: Tagger, inference: Inference | None = None) -> InferenceRow:
        """Label all sentences; of a latent model, by an inference."""
        paths = prefixes = 0.0
        if inference is not None:
            latent = tagger.latent
            latent.inference = inference
            scores, pairs = latent.score_states(self.cells), latent.score_pairs(self.cells)
            answers = latent.chain.infer(Ragged(scores, self._first), inference, pairs=pairs)
            paths = float(np.mean([answer.paths for answer in answers]))
            prefixes = float(np.mean([answer.expanded for answer in answers]))
        taken = [time_call(partial(tagger.decode, self.cells)) for _ in range(self._repeats)]
        found = taken[-1][1]
        names = tagger.labels
        tags = [names[label] for label in found.labels.tolist()]
        each = [tags[begin:end] for begin, end in zip(self._first[:-1], self._first[1:], strict=True)]
        exact = 100 * float(np.asarray(found.optimal, bool).mean())
        return InferenceRow(
            name,
            *self._measure_quality(each),
            median(seconds for seconds, _ in taken),
            exact,
            paths,
            prefixes,
        )

    def _measure_quality(self, found: Sequence[list[str]]) -> tuple[float, float, float, float]:
        """Return sentence accuracy, precision, recall and F1, in percent."""
        right = made = wanted = whole = 0
        for tags, gold, gold_spans in zip(found, self._gold, self._spans, strict=True):
            own = set(find_spans(tags))
            right, made, wanted = right + len(own & gold_spans), made + len(own), wanted + len(gold_spans)
            whole += tags == list(gold)
        precision, recall = right / max(made, 1), right / max(wanted, 1)
        f1 = 2 * right / max(made + wanted, 1)
        return 100 * whole / len(found), 100 * precision, 100 * recall, 100 * f1


TOP = 2000  # latent paths of figure 2
LATENT, OWN = "latent", "CRF, own prior"
# The rows of tables 3, 4 and 5; "mass" stops by the paper's condition alone.
WAYS: dict[str, Inference] = {
    "LDI-A": LDI(steps=FEW),
    "LDI-E": LDI(steps=MANY),
    "LDI-A, mass": LDI(steps=FEW, bound="mass"),
    "LDI-E, mass": LDI(steps=MANY, bound="mass"),
    "BMP": BMP(),
    "BHP": BHP(),
    "LDI-A + MBR": MBR(gain="spans", steps=FEW),
    "100 best + MBR": MBR(gain="spans", best=100),
}


def run(plan: LatentPlan, tell: Tell = keep_quiet) -> LatentReport:
    """Measure what a plan asks for."""
    report = LatentReport(plan, describe_machine({}))
    for n, task in enumerate(plan.tasks):
        step = tell_part(tell, n / len(plan.tasks), (n + 1) / len(plan.tasks))
        report.tasks.append(_measure_task(plan, task, step))
    return report


def _measure_task(plan: LatentPlan, task: Task, tell: Tell) -> TaskReport:
    tell(f"{task.name}: reading", 0.0)
    learned, tested = task.load(plan.data, plan.limit, plan.threads)
    found = TaskReport(task.name, task.title, len(learned), len(tested))
    crfs = {
        name: _learn_model(plan, task, learned, name, variance, found, tell_part(tell, 0.0, 0.1))
        for name, variance in _list_priors(task).items()
    }
    latent = _learn_model(plan, task, learned, LATENT, task.variance, found, tell_part(tell, 0.1, 0.7))
    found.states = len(latent.labels) * task.latent
    found.features = int(latent.description["features"])
    measure = Measure(tested, task.target, latent.columns, plan.repeats)
    for n, (name, inference) in enumerate(WAYS.items()):
        tell(f"{task.name}: {name}", 0.7 + 0.1 * n / len(WAYS))
        found.rows.append(measure(name, latent, inference))
    found.rows += [measure(name, crf) for name, crf in crfs.items()]
    _stop_early(found, measure, latent, tell_part(tell, 0.8, 0.95))
    tell(f"{task.name}: concentration", 0.95)
    found.concentration = measure_concentration(latent, measure.cells[: plan.sampled])
    return found


def _list_priors(task: Task) -> dict[str, float]:
    """Return the variances of CRFs by name: that of the latent model and, if another, their own best."""
    own = {} if task.own_variance == task.variance else {OWN: task.own_variance}
    return {"CRF": task.variance, **own}


def _learn_model(
    plan: LatentPlan,
    task: Task,
    learned: Sentences,
    which: str,
    variance: float,
    found: TaskReport,
    tell: Tell,
) -> Tagger:
    """Learn a model from the same features, by the same optimiser, with a Gaussian prior."""
    common: dict[str, Any] = {"templates": task.templates, "min_count": task.min_count, "epochs": plan.epochs}
    if which == LATENT:
        common |= {"latent": task.latent, "variance": variance, "seed": plan.seed}
        tagger = Tagger(task.target, "latent-crf", **common)
    else:
        tagger = Tagger(task.target, "crf", algorithm="lbfgs", c1=0.0, c2=0.5 / variance, **common)

    def progress(told: Progress) -> None:
        found.iterations[which] = told.epoch
        tell(f"learning, {which}, iteration {told.epoch}, loss {told.loss:.4f}", told.epoch / told.epochs)

    fit = partial(tagger.fit, learned, threads=plan.threads, progress=progress)
    found.seconds[which], _ = time_call(fit)
    return tagger


def _stop_early(found: TaskReport, measure: Measure, latent: Tagger, tell: Tell) -> None:
    """Stop LDI after more and more steps."""
    for bound in ("mass", "label"):
        for n, steps in enumerate(STEPS):
            tell(f"{bound} bound, n = {steps}", (n + len(STEPS) * (bound == "label")) / (2 * len(STEPS)))
            row = measure(f"n={steps}", latent, LDI(steps=steps, bound=bound))
            found.points.append(Point(bound, steps, row))


def measure_concentration(tagger: Tagger, cells: Any) -> list[float]:
    """Return the mass of the best 1, 2, ... latent paths, averaged over sentences."""
    total = np.zeros(TOP)
    for one in cells:
        scores, chain = tagger.latent.score_states([one]), tagger.latent.make_state_chain(one)
        log_z = chain.marginals(scores).log_partition
        masses = [math.exp(path.score - log_z) for path in islice(chain.paths(scores), TOP)]
        total[: len(masses)] += masses
    mass: list[float] = (np.cumsum(total) / max(len(cells), 1)).tolist()
    return mass


EQUAL = 0.1  # points of F1 by which LDI-A and LDI-E may differ


def make_claims(report: LatentReport) -> list[Claim]:
    """Return every claim with what the report says about it.

    A quick run learns too little to say anything about quality, the time of learning, or that of inference
    beside BHP: the less sure a model is, the longer LDI takes.
    """
    return [
        claim for name in TASKS for claim in _claim_of_task(name, report.find_task(name), report.plan.quick)
    ]


def _claim_of_task(name: str, found: TaskReport | None, quick: bool) -> Iterator[Claim]:
    def get(way: str, figure: str) -> float | None:
        return get_figure(found.find_row(way) if found and not quick else None, figure)

    difference = subtract(get("LDI-A", "f1"), get("LDI-E", "f1"))
    apart = None if difference is None else abs(difference)
    yield Claim(f"{name}: LDI-A and LDI-E differ, F1", EQUAL, False, apart, "points")
    for better, worse, by in (
        ("LDI-E", "BHP", 0.01),
        ("LDI-E", "BMP", 0.01),
        ("BHP", "CRF", 0.01),
        ("BMP", "CRF", 0.01),
        ("LDI-E", "CRF", 0.3 if name == "np" else 0.01),
        ("LDI-A + MBR", "LDI-A", 0.01),
        ("100 best + MBR", "LDI-A", 0.01),
    ):
        gain = subtract(get(better, "f1"), get(worse, "f1"))
        yield Claim(f"{name}: {better} above {worse}, F1", by, True, gain, "points")
    ratio = divide(get("LDI-A", "seconds"), get("BHP", "seconds"))
    yield Claim(f"{name}: time of LDI-A (n={FEW}) over that of BHP", 2, False, ratio)
    mass, label = (found.find_point(bound, MANY) if found else None for bound in ("mass", "label"))
    ratio = divide(get_figure(mass, "paths"), get_figure(label, "paths"))
    yield Claim(f"{name}: fewer latent paths by the label bound, n={MANY:,}", 1, True, ratio)
    ratio = divide(get_figure(label, "seconds"), get_figure(mass, "seconds"))
    yield Claim(f"{name}: time of the label bound over that of the mass, n={MANY:,}", 1, False, ratio)
    minutes = found.seconds["latent"] / 60 if found and not quick else None
    yield Claim(f"{name}: learning", TASKS[name].minutes, False, minutes, "min")


_SHOWN = (1, 10, 100, 400, 800, 2000)  # latent paths whose mass is printed


def lay_out(report: LatentReport) -> Iterator[Group | Text]:
    """Yield every table of a report."""
    if report.plan.quick:
        yield warn_of_quick("quality and times say little")
    for task in report.tasks:
        yield _lay_out_ways(task)
        yield _lay_out_curves(task)
        yield _describe_concentration(task)


def _lay_out_ways(task: TaskReport) -> Group:
    """Tables 3, 4 and 5 of the paper."""
    table = make_table("", "S.A.", "Pre.", "Rec.", "F1", "seconds", "exact %", "paths", "prefixes")
    for row in task.rows:
        figures = (f"{x:.2f}" for x in (row.sentences, row.precision, row.recall, row.f1, row.seconds))
        table.add_row(row.name, *figures, f"{row.exact:.1f}", f"{row.paths:,.1f}", f"{row.prefixes:,.1f}")
    learned = ", ".join(
        f"{name} {task.seconds[name]:.0f} s ({task.iterations[name]} iterations)" for name in task.seconds
    )
    table.caption = (
        f"{task.learned:,} sentences to learn from, {task.measured:,} to test; {task.states} latent states, "
        f"{task.features:,} features; learning: {learned}"
    )
    return add_title(f"{task.task}: {task.title}", table)


def _lay_out_curves(task: TaskReport) -> Group:
    """Figures 4 and 5 of the paper, by both bounds."""
    head = (
        f"{what}, {bound}" for what in ("F1", "exact %", "paths", "seconds") for bound in ("mass", "label")
    )
    table = make_table("n", *head)
    for steps in STEPS:
        rows = [task.find_point(bound, steps) for bound in ("mass", "label")]
        cells = [
            "–" if row is None else f"{getattr(row, what):,.{digits}f}"
            for what, digits in (("f1", 2), ("exact", 1), ("paths", 1), ("seconds", 2))
            for row in rows
        ]
        table.add_row(f"{steps:,}", *cells)
    return add_title(f"{task.task}: LDI stopped after n latent paths", table)


def _describe_concentration(task: TaskReport) -> Text:
    """Figure 2 of the paper."""
    shown = [n for n in _SHOWN if n <= len(task.concentration)]
    masses = ", ".join(f"{n:,}: {100 * task.concentration[n - 1]:.1f} %" for n in shown)
    return Text(f"{task.task}: mass of the best latent paths, on average: {masses}\n")


_COLOURS = {"mass": pictures.RED, "label": pictures.TEAL}
_NAMES = {"mass": "stopped by the mass that remains (the paper)", "label": "by the label bound, too"}
_CURVES = {
    "f1": "F1 (%)",
    "exact": "proven best (%)",
    "paths": "latent paths per sentence",
    "seconds": "seconds in all",
}


def paint(report: LatentReport) -> Any:
    """Draw a row for each task: LDI over the number of steps, and how concentrated probability is."""
    count = len(report.tasks)
    figure = pictures.make_figure(16, 3.1 * count + 0.4, dpi=120)
    rows = figure.subplots(count, len(_CURVES) + 1, squeeze=False)
    for axes, task in zip(rows, report.tasks, strict=True):
        for panel, (what, label) in zip(axes, _CURVES.items(), strict=False):
            _draw_curve(panel, task, what)
            pictures.dress_axes(
                panel, f"{task.task}: {label}", "n, the most latent paths", size=10, legend=False
            )
        mass = [100 * x for x in task.concentration]
        axes[-1].plot(range(1, len(mass) + 1), mass, color=pictures.BLUE)
        axes[-1].set_ylim(0, 100)
        title = f"{task.task}: mass of best paths (%)"
        pictures.dress_axes(axes[-1], title, "best latent paths", size=10, legend=False)
    figure.legend(*rows[0][0].get_legend_handles_labels(), loc="outside upper left", ncols=2, frameon=False)
    return figure


def _draw_curve(axes: Any, task: TaskReport, what: str) -> None:
    for bound in ("mass", "label"):
        points = [(p.steps, getattr(p.row, what)) for p in task.points if p.bound == bound]
        xs, ys = zip(*points, strict=True)
        axes.plot(xs, ys, color=_COLOURS[bound], marker="o", markersize=3.5, label=_NAMES[bound])
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    if what == "paths":
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    if what == "seconds":
        axes.set_ylim(bottom=0)


BENCHMARK = Benchmark(
    name="latent", make_plan=make_plan, run=run, lay_out=lay_out, make_claims=make_claims, paint=paint
)
