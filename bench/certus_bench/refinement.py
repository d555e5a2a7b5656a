"""``certus bench refinement``: refinement HMMs, spectrally and by EM (Stratos et al. 2013).

Consistency on sentences of a known model, accuracy over hidden states, ablation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray

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
from certus_bench.harness.benchmark import Benchmark, Tell, keep_quiet, tell_part
from certus_bench.harness.environment import describe_machine
from certus_bench.harness.options import Data, flag_quick, split_names
from certus_bench.harness.significance import count_disagreements
from certus_bench.harness.timing import time_processor
from certus_bench.refinement_report import (
    PARTS,
    MarginalError,
    RefinementPlan,
    RefinementReport,
    TrainedRefinement,
    lay_out,
    make_claims,
    paint,
)


def make_plan(
    data: Data = None,
    only: Annotated[
        str,
        typer.Option(help=f"Parts by name ({', '.join(PARTS)}), separated by commas; all by default."),
    ] = "",
    quick: Annotated[bool, flag_quick("Take little data and few iterations: a first look.")] = False,
) -> RefinementPlan:
    """Estimate refinement HMMs spectrally and by EM, and compare them: error, accuracy, training time.

    Consistency is measured on sentences drawn from a known model; accuracy on chunk tags of CoNLL-2000, with
    parts of speech as observations. The corpus does not come with Certus. Everything is chosen on the last
    tenth of train; the claims are about test.
    """
    return RefinementPlan(data=data, only=frozenset(split_names(only)), quick=quick)


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
            taken, fitted = time_processor(partial(makers[what]().fit, sentences, labels=names))
            seconds.append(taken)
            errors.append(_compute_error(fitted, asked, truth))
        report.errors.append(MarginalError(what, size, float(np.mean(errors)), float(np.mean(seconds))))


def _compute_error(fitted: Refinement, asked: list[Sequence[str]], truth: NDArray[np.float64]) -> float:
    found = np.concatenate([answer.probabilities for answer in fitted.marginals(asked)])
    return float(np.linalg.norm(found - truth) / np.linalg.norm(truth))


CORPUS = CORPORA["conll2000-chunk"]
_FREQUENT = 100  # a word that occurs as often is observed with its part of speech
_EVERY = 10  # iterations of EM between two looks at dev
_STARTS = 5  # seeds of the EM that is best on dev
# What McNemar's test compares in the ablation.
_TESTED = (
    ("our templates", "the paper's templates"),
    ("the paper's templates", "the paper's, no pos"),
    ("the paper's templates", "the paper's, no np, pp, pos"),
    ("our templates", "our templates, hardly smoothed"),
    ("our templates", "our templates, not scaled"),
)


@dataclass(frozen=True)
class ChunkData:
    """Sentences to learn from, to choose by (the last tenth of the training data) and to judge on."""

    learn: list[Labelled]
    dev: list[Labelled]
    test: list[Labelled]
    # which sentences of test have no mistake, by part and name of the model
    right: dict[str, NDArray[np.bool_]] = field(default_factory=dict)


def read_chunks(plan: RefinementPlan, *, words: bool = False) -> ChunkData:
    """Read the corpus; observations are parts of speech, with the word where ``words`` and it is frequent.

    A label that is not in what was learned from cannot be predicted; its tokens stay, and count as wrong.
    """
    assert plan.data is not None
    root: Path = plan.data
    parts = {name: list(CORPUS.read(root, name, plan.limit)) for name in ("learn", "dev", "test")}
    seen = Counter(word for sentence in parts["learn"] for word in sentence.words)
    frequent = {word for word, count in seen.items() if count >= _FREQUENT} if words else set()
    learn, dev, test = ([_observe(sentence, frequent) for sentence in part] for part in parts.values())
    return ChunkData(learn, dev, test)


def _observe(sentence: Sentence, frequent: set[str]) -> Labelled:
    tags, words = sentence.columns["pos"], sentence.words
    seen = [f"{tag}/{word}" if word in frequent else tag for tag, word in zip(tags, words, strict=True)]
    return seen, sentence.columns["chunk"]


def train_model(part: str, what: str, hidden: int, model: Refinement, data: ChunkData) -> TrainedRefinement:
    """Train a model, and judge it."""
    seconds, _ = time_processor(partial(model.fit, data.learn))
    name = f"{what}({hidden})" if part == "states" else what
    accuracy, mended, data.right[name] = _judge_on_test(model, data.test)
    return TrainedRefinement(part, what, hidden, model.measure_accuracy(data.dev), accuracy, seconds, mended)


def train_em(
    part: str, hidden: int, data: ChunkData, plan: RefinementPlan, seed: int = 0
) -> TrainedRefinement:
    """Train by EM; dev chooses restart and iteration, and looking at it does not count as training."""
    looks: list[tuple[float, int, int, Parameters]] = []
    looking = 0.0

    def watch(restart: int, iteration: int, value: float, model: EmRefinement) -> None:
        nonlocal looking
        if iteration % _EVERY == 0:
            taken, accuracy = time_processor(partial(model.measure_accuracy, data.dev))
            looks.append((accuracy, restart, iteration, model.parameters))
            looking += taken

    model = EmRefinement(
        hidden, iterations=plan.iterations, restarts=plan.restarts, tolerance=-1.0, seed=seed, watch=watch
    )
    seconds, _ = time_processor(partial(model.fit, data.learn))
    dev, restart, iteration, model.parameters = max(looks, key=lambda look: look[0])
    accuracy, mended, data.right[f"EM({hidden})"] = _judge_on_test(model, data.test)
    return TrainedRefinement(
        part, "EM", hidden, dev, accuracy, seconds - looking, mended, (restart, iteration), plan.restarts
    )


def _judge_on_test(model: Refinement, test: Sequence[Labelled]) -> tuple[float, int, NDArray[np.bool_]]:
    """Return accuracy, how many sentences have no positive total, and which ones have no mistake."""
    found = model.marginals([observations for observations, _ in test])
    wrong = np.array(
        [
            sum(model.names.labels[a] != label for a, label in zip(answer.best(), labels, strict=True))
            for answer, (_, labels) in zip(found, test, strict=True)
        ]
    )
    tokens = sum(len(labels) for _, labels in test)
    return 100 * (1 - int(wrong.sum()) / tokens), sum(answer.level > 0 for answer in found), wrong == 0


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
    usual = smoothing or Smoothing()
    return SpectralRefinement(hidden, features=features, smoothing=usual, deficient="ignore")


def measure_states(report: RefinementReport, tell: Tell) -> None:
    """Measure accuracy over the number of hidden states (figure 5), and the baselines (figure 8)."""
    plan = report.plan
    data = read_chunks(plan)
    _do_jobs(report, tell, _list_models("states", data, plan, plan.spectral_states, plan.em_states))
    ours, theirs = (report.find_best("states", what) for what in ("spectral", "EM"))
    assert ours is not None
    assert theirs is not None
    for other in (f"EM({theirs.hidden})", "HMM(1)"):
        report.tests.append(count_disagreements(f"spectral({ours.hidden})", other, data.right))


def measure_seeds(report: RefinementReport, tell: Tell) -> None:
    """Measure EM from several seeds, at the number of states that is best on dev."""
    best = report.find_best("states", "EM")
    hidden = best.hidden if best else report.plan.em_states[-1]
    data = read_chunks(report.plan)
    train = partial(train_em, "seeds", hidden, data, report.plan)
    _do_jobs(report, tell, ((f"EM({hidden}), seed {n}", partial(train, n)) for n in range(_STARTS)))


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
            hidden, smoothing=Smoothing(), rare=1e9, tolerance=1e-12, deficient="ignore"
        ),
    }
    jobs = [
        (what, partial(train_model, "ablation", what, hidden, model, data)) for what, model in changes.items()
    ]
    _do_jobs(report, tell, iter(jobs))
    report.tests += [count_disagreements(one, other, data.right) for one, other in _TESTED]


def _do_jobs(report: RefinementReport, tell: Tell, jobs: Iterator[Job]) -> None:
    listed = list(jobs)
    for n, (what, job) in enumerate(listed):
        tell(f"{what} on {CORPUS.name}", n / len(listed))
        report.trained.append(job())


_MEASURES: dict[str, Callable[[RefinementReport, Tell], None]] = {
    "consistency": measure_consistency,
    "states": measure_states,
    "seeds": measure_seeds,
    "ablation": measure_ablation,
    "words": measure_words,
}


BENCHMARK = Benchmark(
    name="refinement", make_plan=make_plan, run=run, lay_out=lay_out, make_claims=make_claims, paint=paint
)
