"""Measures refinement HMMs, part by part: ``certus bench refinement``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from certus.learn.refinement import (
    PAPER,
    Features,
    PlainHmm,
    Refinement,
    Smoothing,
    SpectralRefinement,
    Unigram,
)
from certus_bench.environment import describe
from certus_bench.refinement import chunking, consistency
from certus_bench.refinement.plan import Plan, Report, Trained

Tell = Callable[[str, float], None]
Job = tuple[str, Callable[[], Trained]]


def run(plan: Plan, tell: Tell = lambda _, __: None) -> Report:
    """Measure what a plan asks for.

    Args:
        plan: what to do.
        tell: called with a line about what is being measured and the share of the work that is done.
    """
    if plan.parts != ["consistency"]:
        assert plan.data is not None
        for part in ("train", "test"):
            chunking.CORPUS.file(plan.data, part)
    report = Report(plan, describe({}))
    for n, part in enumerate(plan.parts):

        def step(text: str, share: float, n: int = n) -> None:
            tell(text, (n + share) / len(plan.parts))

        _MEASURES[part](report, step)
    return report


def spectral(hidden: int, features: Features | None = None, smoothing: Smoothing | None = None) -> Refinement:
    """Return the estimator that is measured; what its labels lack is in the diagnostics, not warned about."""
    return SpectralRefinement(hidden, features=features, smoothing=smoothing, deficient="ignore")


def _states(report: Report, tell: Tell) -> None:
    """Measure accuracy over the number of hidden states (figure 5), and the baselines (figure 8)."""
    plan = report.plan
    data = chunking.read(plan)
    _do(report, tell, _models("states", data, plan, plan.spectral_states, plan.em_states))


def _words(report: Report, tell: Tell) -> None:
    """Measure the same with frequent words as observations."""
    plan = report.plan
    data = chunking.read(plan, words=True)
    few = (8,) if plan.quick else (8, 16)
    _do(report, tell, _models("words", data, plan, few, (8,)))


def _models(
    part: str, data: chunking.Data, plan: Plan, spectral_states: tuple[int, ...], em_states: tuple[int, ...]
) -> Iterator[Job]:
    yield "unigram", partial(chunking.train, part, "unigram", 1, Unigram(), data)
    yield "HMM", partial(chunking.train, part, "HMM", 1, PlainHmm(), data)
    for hidden in spectral_states:
        yield f"spectral({hidden})", partial(chunking.train, part, "spectral", hidden, spectral(hidden), data)
    for hidden in em_states:
        yield f"EM({hidden})", partial(chunking.train_em, part, hidden, data, plan)


def _ablation(report: Report, tell: Tell) -> None:
    """Measure what features and smoothing bring (figure 7), at the number of states that is best on dev."""
    best = report.best("states", "spectral", 8)
    hidden = best.hidden if best else 8
    data = chunking.read(report.plan)
    without_pos = replace(PAPER, destiny="a[-1]*x[-1] a[-1] x[-1] pp")
    bare = replace(PAPER, future="a[1]*x[0] a[1] x[0]", past="a[-1]*x[-1] a[-1] x[-1]",
                   destiny="a[-1]*x[-1] a[-1] x[-1]")  # fmt: skip
    changes: dict[str, Refinement] = {
        "our templates": spectral(hidden),
        "the paper's templates": spectral(hidden, PAPER),
        "the paper's, no pos": spectral(hidden, without_pos),
        "the paper's, no np, pp, pos": spectral(hidden, bare),
        "our templates, hardly smoothed": spectral(hidden, smoothing=Smoothing(pairs=1.0, seen=1.0)),
        "our templates, not scaled": SpectralRefinement(
            hidden, rare=1e9, tolerance=1e-12, deficient="ignore"
        ),
    }
    jobs = [
        (what, partial(chunking.train, "ablation", what, hidden, model, data))
        for what, model in changes.items()
    ]
    _do(report, tell, iter(jobs))


def _do(report: Report, tell: Tell, jobs: Iterator[Job]) -> None:
    listed = list(jobs)
    for n, (what, job) in enumerate(listed):
        tell(f"{what} on {chunking.CORPUS.name}", n / len(listed))
        report.trained.append(job())


_MEASURES: dict[str, Callable[[Report, Tell], None]] = {
    "consistency": consistency.measure,
    "states": _states,
    "ablation": _ablation,
    "words": _words,
}
