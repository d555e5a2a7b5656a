"""``certus bench refinement``: refinement HMMs, spectrally and by EM (Stratos et al. 2013).

Consistency on sentences of a known model, accuracy over hidden states, ablation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Group
from rich.text import Text

from certus.errors import InvalidInput
from certus.formats import Sentence
from certus.learn.refinement import (
    PAPER,
    EmRefinement,
    Features,
    Labelled,
    Observed,
    Parameters,
    PlainHmm,
    Refinement,
    Smoothing,
    SpectralRefinement,
    Unigram,
)
from certus.learn.refinement.sampling import sample
from certus_bench.corpora import CORPORA
from certus_bench.harness import pictures
from certus_bench.harness.benchmark import Benchmark, BenchmarkReport, Tell, keep_quiet, tell_part
from certus_bench.harness.claims import Claim, divide, get_figure, subtract
from certus_bench.harness.environment import describe_machine
from certus_bench.harness.options import Data, check_data, flag_quick, split_names
from certus_bench.harness.tables import add_title, make_table, warn_of_quick
from certus_bench.harness.timing import time_call

PARTS = ("consistency", "states", "ablation", "words")
_HURRY = 1000  # sentences that a quick run learns from


@dataclass(frozen=True, kw_only=True)
class RefinementPlan:
    """What to measure."""

    data: Path | None  # the folder that the corpora lie in; None if no part needs one
    only: frozenset[str] = frozenset()  # names of parts; all if empty
    quick: bool = False  # little data, few iterations: for a first look, not for figures

    def __post_init__(self) -> None:
        """Refuse what cannot be run, before any time is spent."""
        unknown = sorted(self.only - set(PARTS))
        if unknown:
            raise InvalidInput(f"there is no part {unknown[0]!r}; there are {', '.join(PARTS)}")
        if self.data is None and self.parts != ["consistency"]:
            raise InvalidInput(
                "where are the corpora? Give their folder by --data, or in CERTUS_DATA; only the part "
                "consistency does without"
            )
        if self.data is not None:
            check_data(self.data)

    @property
    def parts(self) -> list[str]:
        """The parts to run."""
        return [part for part in PARTS if not self.only or part in self.only]

    @property
    def limit(self) -> int | None:
        """The most sentences to learn from."""
        return _HURRY if self.quick else None

    @property
    def samples(self) -> tuple[int, ...]:
        """How many sentences are drawn from the known model, one estimate each."""
        return (300, 1_000, 3_000) if self.quick else (300, 1_000, 3_000, 10_000, 30_000, 100_000)

    @property
    def spectral_states(self) -> tuple[int, ...]:
        """Hidden states of spectral models."""
        return (1, 4, 8) if self.quick else (1, 2, 4, 8, 12, 16, 24, 32)

    @property
    def em_states(self) -> tuple[int, ...]:
        """Hidden states of models estimated by EM."""
        return (4, 8) if self.quick else (2, 4, 8, 16, 24, 32)

    @property
    def restarts(self) -> int:
        """Of EM."""
        return 1 if self.quick else 3

    @property
    def iterations(self) -> int:
        """Of each restart of EM."""
        return 30 if self.quick else 200


def make_plan(
    data: Data = None,
    only: Annotated[
        str,
        typer.Option(
            help="Parts by name (consistency, states, ablation, words), separated by commas; all by default."
        ),
    ] = "",
    quick: Annotated[bool, flag_quick("Take little data and few iterations: a first look.")] = False,
) -> RefinementPlan:
    """Estimate refinement HMMs spectrally and by EM, and compare them: error, accuracy, training time.

    Consistency is measured on sentences drawn from a known model; accuracy on chunk tags of CoNLL-2000, with
    parts of speech as observations. The corpus does not come with Certus. Everything is chosen on the last
    tenth of train; the claims are about test.
    """
    return RefinementPlan(data=data, only=frozenset(split_names(only)), quick=quick)


@dataclass(frozen=True)
class MarginalError:
    """How far the marginals of an estimate are from those of the known model."""

    what: str  # the estimate
    sentences: int  # it was made from
    relative: float  # the norm of the difference over the norm of the truth, averaged over samples
    seconds: float  # to estimate, on average


@dataclass(frozen=True)
class TrainedRefinement:
    """A model that was trained, and how good it is."""

    part: str  # of the benchmark
    what: str  # unigram, HMM, spectral or EM; or what was changed
    hidden: int  # states per label
    dev: float  # accuracy in percent
    test: float
    seconds: float  # of training, all restarts together, looks at dev left out
    # test sentences that the model gave no positive total, and that were labelled with its memory damped
    # or by the plain HMM
    mended: int = 0
    chosen: tuple[int, int] | None = None  # of EM, the restart and iteration that dev chose
    restarts: int = 1  # that the seconds are of


@dataclass
class RefinementReport(BenchmarkReport):
    """The errors of estimates from drawn sentences, and the models that were trained."""

    plan: RefinementPlan
    errors: list[MarginalError] = field(default_factory=list)
    trained: list[TrainedRefinement] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """Return all of it as what JSON can hold."""
        return {**super().as_dict(), "slope": self.slope}

    def select_rows(self, part: str, what: str) -> list[TrainedRefinement]:
        """Return the models of a part that go by a name, fewest states first."""
        rows = [row for row in self.trained if row.part == part and row.what == what]
        return sorted(rows, key=lambda row: row.hidden)

    def find_best(self, part: str, what: str, least: int = 1) -> TrainedRefinement | None:
        """Return the model with at least so many states that is best on dev."""
        rows = [row for row in self.select_rows(part, what) if row.hidden >= least]
        return max(rows, key=lambda row: row.dev, default=None)

    @property
    def slope(self) -> float | None:
        """Of the logarithm of the error over that of the sample, for the spectral estimate."""
        found = [row for row in self.errors if row.what == "spectral"]
        if len(found) < 2:
            return None
        sizes, errors = [row.sentences for row in found], [row.relative for row in found]
        return float(np.polyfit(np.log(sizes), np.log(errors), 1)[0])


LABELS, HIDDEN, OBSERVATIONS = 4, 3, 12
_FEATURES = Features(
    future="a[1]*x[1] x[0] a[1]", past="a[-1]*x[-1] a[-1] x[-1]", destiny="a[-1]*x[-1] a[1]*x[1]"
)
_SEEDS = 3
_TEST = 500  # sentences that marginals are compared on


def draw_known_model() -> Parameters:
    """Return the model that sentences are drawn from."""
    return Parameters.random(LABELS, HIDDEN, OBSERVATIONS, seed=1, concentration=0.3)


def make_bare_spectral() -> Refinement:
    """Return the estimator without smoothing: nothing but the moments."""
    return SpectralRefinement(
        HIDDEN,
        features=_FEATURES,
        smoothing=Smoothing(pairs=0.0, seen=0.0),
        tolerance=1e-4,
        rare=0.0,
        deficient="ignore",
    )


def measure_consistency(report: RefinementReport, tell: Tell) -> None:
    """Estimate the model from samples of each size."""
    model = draw_known_model()
    test = sample(model, _TEST, seed=10_000)
    asked = [observations for observations, _ in test.list_sentences()]
    truth = model.operators.compute_sums(Observed(test.observations, test.offsets)).marginals
    makers: dict[str, Callable[[], Refinement]] = {
        "spectral": make_bare_spectral,
        "EM": lambda: EmRefinement(HIDDEN, iterations=50),
        "plain HMM": PlainHmm,
    }
    steps = [(size, what) for size in report.plan.samples for what in makers]
    for n, (size, what) in enumerate(steps):
        tell(f"{what} from {size:,} drawn sentences", n / len(steps))
        errors, seconds = [], []
        for seed in range(_SEEDS):
            sentences = sample(model, size, seed=seed).list_sentences()
            names = [str(a) for a in range(LABELS)]
            taken, fitted = time_call(partial(makers[what]().fit, sentences, labels=names))
            seconds.append(taken)
            errors.append(_compute_error(fitted, asked, truth))
        report.errors.append(MarginalError(what, size, float(np.mean(errors)), float(np.mean(seconds))))


def _compute_error(fitted: Refinement, asked: list[Sequence[str]], truth: NDArray[np.float64]) -> float:
    found = np.concatenate([answer.probabilities for answer in fitted.marginals(asked)])
    return float(np.linalg.norm(found - truth) / np.linalg.norm(truth))


CORPUS = CORPORA["conll2000-chunk"]
_FREQUENT = 100  # a word that occurs as often is observed with its part of speech
_EVERY = 10  # iterations of EM between two looks at dev


@dataclass(frozen=True)
class ChunkData:
    """Sentences to learn from, to choose by (the last tenth of the training data) and to judge on."""

    learn: list[Labelled]
    dev: list[Labelled]
    test: list[Labelled]


def read_chunks(plan: RefinementPlan, *, words: bool = False) -> ChunkData:
    """Read the corpus; observations are parts of speech, with the word where ``words`` and it is frequent.

    A label that is not in what was learned from cannot be predicted; its tokens stay, and count as wrong.
    """
    assert plan.data is not None
    root: Path = plan.data
    parts = {name: list(CORPUS.read(root, name, plan.limit)) for name in ("learn", "dev", "test")}
    seen = Counter(word for sentence in parts["learn"] for word in sentence.words)
    frequent = {word for word, count in seen.items() if count >= _FREQUENT} if words else set()
    made = {name: [_observe(sentence, frequent) for sentence in part] for name, part in parts.items()}
    return ChunkData(**made)


def _observe(sentence: Sentence, frequent: set[str]) -> Labelled:
    tags, words = sentence.columns["pos"], sentence.words
    seen = [f"{tag}/{word}" if word in frequent else tag for tag, word in zip(tags, words, strict=True)]
    return seen, sentence.columns["chunk"]


def train_model(part: str, what: str, hidden: int, model: Refinement, data: ChunkData) -> TrainedRefinement:
    """Train a model, and judge it."""
    seconds, _ = time_call(partial(model.fit, data.learn))
    accuracy, mended = _judge_on_test(model, data.test)
    return TrainedRefinement(part, what, hidden, model.measure_accuracy(data.dev), accuracy, seconds, mended)


def train_em(part: str, hidden: int, data: ChunkData, plan: RefinementPlan) -> TrainedRefinement:
    """Train by EM; dev chooses restart and iteration, and looking at it does not count as training."""
    looks: list[tuple[float, int, int, Parameters]] = []
    looking = 0.0

    def watch(restart: int, iteration: int, value: float, model: EmRefinement) -> None:
        nonlocal looking
        if iteration % _EVERY == 0:
            taken, accuracy = time_call(partial(model.measure_accuracy, data.dev))
            looks.append((accuracy, restart, iteration, model.parameters))
            looking += taken

    model = EmRefinement(
        hidden, iterations=plan.iterations, restarts=plan.restarts, tolerance=-1.0, watch=watch
    )
    seconds, _ = time_call(partial(model.fit, data.learn))
    dev, restart, iteration, model.parameters = max(looks, key=lambda look: look[0])
    accuracy, mended = _judge_on_test(model, data.test)
    return TrainedRefinement(
        part, "EM", hidden, dev, accuracy, seconds - looking, mended, (restart, iteration), plan.restarts
    )


def _judge_on_test(model: Refinement, test: Sequence[Labelled]) -> tuple[float, int]:
    """Return the accuracy on test, and how many sentences the model gave no positive total."""
    found = model.marginals([observations for observations, _ in test])
    right = sum(
        model.names.labels[a] == label
        for answer, (_, labels) in zip(found, test, strict=True)
        for a, label in zip(answer.best(), labels, strict=True)
    )
    tokens = sum(len(labels) for _, labels in test)
    return 100 * right / tokens, sum(answer.level > 0 for answer in found)


Job = tuple[str, Callable[[], TrainedRefinement]]


def run(plan: RefinementPlan, tell: Tell = keep_quiet) -> RefinementReport:
    """Measure what a plan asks for."""
    if plan.parts != ["consistency"]:
        assert plan.data is not None
        for part in ("train", "test"):
            CORPUS.file(plan.data, part)
    report = RefinementReport(plan, describe_machine({}))
    for n, part in enumerate(plan.parts):
        _MEASURES[part](report, tell_part(tell, n / len(plan.parts), (n + 1) / len(plan.parts)))
    return report


def make_spectral(
    hidden: int, features: Features | None = None, smoothing: Smoothing | None = None
) -> Refinement:
    """Return the estimator that is measured; what its labels lack is in the diagnostics, not warned about."""
    return SpectralRefinement(hidden, features=features, smoothing=smoothing, deficient="ignore")


def measure_states(report: RefinementReport, tell: Tell) -> None:
    """Measure accuracy over the number of hidden states (figure 5), and the baselines (figure 8)."""
    plan = report.plan
    data = read_chunks(plan)
    _do_jobs(report, tell, _list_models("states", data, plan, plan.spectral_states, plan.em_states))


def measure_words(report: RefinementReport, tell: Tell) -> None:
    """Measure the same with frequent words as observations."""
    plan = report.plan
    data = read_chunks(plan, words=True)
    few = (8,) if plan.quick else (8, 16)
    _do_jobs(report, tell, _list_models("words", data, plan, few, (8,)))


def _list_models(
    part: str,
    data: ChunkData,
    plan: RefinementPlan,
    spectral_states: tuple[int, ...],
    em_states: tuple[int, ...],
) -> Iterator[Job]:
    yield "unigram", partial(train_model, part, "unigram", 1, Unigram(), data)
    yield "HMM", partial(train_model, part, "HMM", 1, PlainHmm(), data)
    for hidden in spectral_states:
        yield (
            f"spectral({hidden})",
            partial(train_model, part, "spectral", hidden, make_spectral(hidden), data),
        )
    for hidden in em_states:
        yield f"EM({hidden})", partial(train_em, part, hidden, data, plan)


def measure_ablation(report: RefinementReport, tell: Tell) -> None:
    """Measure what features and smoothing bring (figure 7), at the number of states that is best on dev."""
    best = report.find_best("states", "spectral", 8)
    hidden = best.hidden if best else 8
    data = read_chunks(report.plan)
    without_pos = replace(PAPER, destiny="a[-1]*x[-1] a[-1] x[-1] pp")
    bare = replace(PAPER, future="a[1]*x[0] a[1] x[0]", past="a[-1]*x[-1] a[-1] x[-1]",
                   destiny="a[-1]*x[-1] a[-1] x[-1]")  # fmt: skip
    changes: dict[str, Refinement] = {
        "our templates": make_spectral(hidden),
        "the paper's templates": make_spectral(hidden, PAPER),
        "the paper's, no pos": make_spectral(hidden, without_pos),
        "the paper's, no np, pp, pos": make_spectral(hidden, bare),
        "our templates, hardly smoothed": make_spectral(hidden, smoothing=Smoothing(pairs=1.0, seen=1.0)),
        "our templates, not scaled": SpectralRefinement(
            hidden, rare=1e9, tolerance=1e-12, deficient="ignore"
        ),
    }
    jobs = [
        (what, partial(train_model, "ablation", what, hidden, model, data)) for what, model in changes.items()
    ]
    _do_jobs(report, tell, iter(jobs))


def _do_jobs(report: RefinementReport, tell: Tell, jobs: Iterator[Job]) -> None:
    listed = list(jobs)
    for n, (what, job) in enumerate(listed):
        tell(f"{what} on {CORPUS.name}", n / len(listed))
        report.trained.append(job())


_MEASURES: dict[str, Callable[[RefinementReport, Tell], None]] = {
    "consistency": measure_consistency,
    "states": measure_states,
    "ablation": measure_ablation,
    "words": measure_words,
}


LEAST = 8  # hidden states from which on the spectral estimate has to be good


def make_claims(report: RefinementReport) -> list[Claim]:
    """Return every claim with what the report says about it."""
    return [*_claim_consistent(report), *_claim_accurate(report)]


def _claim_consistent(report: RefinementReport) -> Iterator[Claim]:
    yield Claim("slope of log error over log sample, spectral, known model", -0.4, False, report.slope, "")
    found = [row.relative for row in report.errors if row.what == "spectral"]
    falls = [late < early for early, late in pairwise(found)]
    share = 100 * sum(falls) / len(falls) if falls else None
    text = "steps of the sample at which the relative error of marginals falls"
    yield Claim(text, 100, True, share, "%")


def _claim_accurate(report: RefinementReport) -> Iterator[Claim]:
    plain = next(iter(report.select_rows("states", "HMM")), None)
    large = [row for row in report.select_rows("states", "spectral") if row.hidden >= LEAST]
    gain = min(row.test for row in large) - plain.test if plain and large else None
    text = f"accuracy of spectral over the plain HMM, least over m ≥ {LEAST}, test"
    yield Claim(text, 0, True, gain, "points")
    ours, theirs = report.find_best("states", "spectral", LEAST), report.find_best("states", "EM")
    lag = subtract(get_figure(theirs, "test"), get_figure(ours, "test"))
    text = f"accuracy that the best spectral (m ≥ {LEAST}) lacks of the best EM, both chosen on dev, test"
    yield Claim(text, 0.5, False, lag, "points")
    for row in large:
        same = [em for em in report.select_rows("states", "EM") if em.hidden == row.hidden]
        if same:
            text = f"accuracy that spectral({row.hidden}) lacks of EM({row.hidden}), test"
            yield Claim(text, 0.5, False, same[0].test - row.test, "points")
    ratio = divide(get_figure(theirs, "seconds"), get_figure(ours, "seconds"))
    yield Claim("training time of the best EM, all restarts, over that of the best spectral", 5, True, ratio)


_TITLES = {
    "states": "chunk tags from parts of speech, CoNLL-2000: accuracy by hidden states (figures 5 and 8)",
    "ablation": "what features and smoothing bring (figure 7)",
    "words": "chunk tags from parts of speech and frequent words",
}


def lay_out(report: RefinementReport) -> Iterator[Group | Text]:
    """Yield every table of a report."""
    if report.plan.quick:
        yield warn_of_quick("the figures say nothing")
    if report.errors:
        yield _lay_out_errors(report)
    for part, title in _TITLES.items():
        rows = [row for row in report.trained if row.part == part]
        if rows:
            yield _lay_out_models(title, rows)


def _lay_out_errors(report: RefinementReport) -> Group:
    ways = dict.fromkeys(row.what for row in report.errors)
    table = make_table("sentences", *ways, "spectral, s", "EM, s")
    for size in dict.fromkeys(row.sentences for row in report.errors):
        found = {row.what: row for row in report.errors if row.sentences == size}
        seconds = (f"{found[way].seconds:.2f}" for way in ("spectral", "EM"))
        table.add_row(f"{size:,}", *(f"{row.relative:.4f}" for row in found.values()), *seconds)
    slope = "" if report.slope is None else f"; slope of spectral {report.slope:.2f}"
    return add_title(f"relative error of marginals, sentences drawn from a known model{slope}", table)


def _lay_out_models(title: str, rows: list[TrainedRefinement]) -> Group:
    names = ("m", "dev, %", "test, %", "training, s", "mended", "restart, iteration")
    table = make_table("model", *names)
    for row in rows:
        choice = "" if row.chosen is None else f"{row.chosen[0] + 1} of {row.restarts}, {row.chosen[1]}"
        cells = (f"{row.dev:.2f}", f"{row.test:.2f}", f"{row.seconds:.2f}", str(row.mended or ""), choice)
        table.add_row(row.what, str(row.hidden), *cells)
    return add_title(title, table)


_COLOURS = {"spectral": pictures.TEAL, "EM": pictures.RED, "plain HMM": pictures.GREY}


def paint(report: RefinementReport) -> Any:
    """Draw the error over the size of the sample, and the accuracy over hidden states."""
    panels = [
        panel
        for panel, rows in (
            (_draw_errors, report.errors),
            (_draw_states, report.select_rows("states", "spectral")),
        )
        if rows
    ]
    if not panels:
        raise pictures.NothingToDraw("run the part consistency or states")
    figure = pictures.make_figure(5.2 * len(panels), 4.2)
    for axes, panel in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
        panel(axes, report)
    return figure


def _draw_errors(axes: Any, report: RefinementReport) -> None:
    for what in dict.fromkeys(row.what for row in report.errors):
        rows = [row for row in report.errors if row.what == what]
        slope = f", slope {report.slope:.2f}" if what == "spectral" and report.slope is not None else ""
        xs, ys = [row.sentences for row in rows], [row.relative for row in rows]
        _draw_line(axes, xs, ys, what, what + slope)
    pictures.make_logarithmic(axes, (row.sentences for row in report.errors))
    x, y = "sentences drawn from a known model", "relative error of marginals"
    pictures.dress_axes(axes, "Consistency", x, y)


def _draw_states(axes: Any, report: RefinementReport) -> None:
    for what in ("spectral", "EM"):
        rows = report.select_rows("states", what)
        _draw_line(axes, [row.hidden for row in rows], [row.dev for row in rows], what, what)
    for row in report.select_rows("states", "HMM"):
        axes.axhline(row.dev, color=_COLOURS["plain HMM"], linestyle=":", linewidth=1.4, label="plain HMM")
    title = "Chunk tags from parts of speech"
    pictures.dress_axes(axes, title, "hidden states (m)", "accuracy on dev, %")


def _draw_line(axes: Any, xs: list[int], ys: list[float], what: str, name: str) -> None:
    axes.plot(xs, ys, color=_COLOURS[what], linewidth=2.0, marker="o", markersize=4, label=name)


BENCHMARK = Benchmark(
    name="refinement", make_plan=make_plan, run=run, lay_out=lay_out, make_claims=make_claims, paint=paint
)
