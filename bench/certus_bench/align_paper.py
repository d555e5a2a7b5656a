"""Tables 1 to 3 and figures 7a and 7b of Chang et al. (2014), by LR, CONS, dual decomposition and our search.

The models are those of the paper: two HMMs, trained by EM with agreement (Liang et al. 2006), without priors.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import certus
from certus.align import (
    ADJACENT,
    FULL,
    Agreement,
    Alignment,
    DualDecomposition,
    Exact,
    Link,
    ViterbiRelaxation,
    align_matrix,
    symmetrize,
)
from certus.align.methods import AlignMethod
from certus.align.potentials import Potentials
from certus.align.problem import AgreementProblem, read_problem
from certus.evaluation.links import compare_links
from certus.evaluation.phrases import compare_phrases
from certus.formats.parallel import SentencePair
from certus.formats.pharaoh import GoldLinks
from certus_bench.align_program import solve_program
from certus_bench.harness.benchmark import Tell, tell_part
from certus_bench.harness.timing import time_call

GROUPS = {"1–20": (1, 20), "21–40": (21, 40), "41–60": (41, 60)}  # words of the longer side
LIMIT = 5.0  # seconds per pair
PAPER_HMM: dict[str, Any] = {"model": "hmm", "sparse": 0.0, "spelling": 0.0, "stems": 0.0, "null": 0.2}
# Soft agreement over the HMMs' own scores, which are larger than the logarithms of posteriors.
PRICED = Agreement(adjacent=-2.0, apart=-4.0, alone=-3.0)
SOLVERS: dict[str, tuple[AlignMethod, Agreement]] = {
    "LR from 0": (ViterbiRelaxation(constrained_iterations=0, start="zero"), ADJACENT),
    "LR from 0, steps × 10": (
        ViterbiRelaxation(constrained_iterations=0, start="zero", step=10.0),
        ADJACENT,
    ),
    "LR": (ViterbiRelaxation(constrained_iterations=0), ADJACENT),
    "CONS from 0": (ViterbiRelaxation(start="zero"), ADJACENT),
    "CONS from 0, steps × 10": (ViterbiRelaxation(start="zero", step=10.0), ADJACENT),
    "CONS": (ViterbiRelaxation(), ADJACENT),
    "D&M": (DualDecomposition(), ADJACENT),
    "exact": (Exact(), ADJACENT),
    "exact, full": (Exact(), FULL),
    "exact, soft": (Exact(), PRICED),
}
SLOW = ("LR from 0", "LR from 0, steps × 10", "CONS from 0", "CONS from 0, steps × 10")
POINTS = (1, 10, 25, 50, 100, 200, 300, 400)  # iterations that figure 7 is printed at
CURVES = ("LR from 0", "LR")


@dataclass
class SolverRow:
    """What one solver did with one group of pairs (table 1)."""

    solver: str
    words: str
    pairs: int
    proven: int
    exact: int  # whose score is that of the best answer
    mean: float  # seconds
    median: float
    slowest: float
    constraints: float | None  # put back, on average where LR did not suffice (table 3)


@dataclass
class ProgramRow:
    """One pair, by an integer program and by our search."""

    words: tuple[int, int]
    program_seconds: float
    program_proven: bool
    seconds: float
    same: bool  # whether the scores are the same


@dataclass
class AccuracyRow:
    """Links and phrase pairs against the gold ones (table 2)."""

    model: str
    merge: str
    aer: float
    aer_held_out: float
    precision: float
    recall: float
    phrase_precision: float
    phrase_recall: float
    phrase_f1: float


@dataclass
class Curve:
    """Figure 7: averages over pairs after each iteration, scores relative to the best."""

    solver: str
    dual: list[float]
    primal: list[float]
    intersection: list[float]
    space: list[float]


@dataclass
class PaperReport:
    """All of it."""

    solvers: list[SolverRow] = field(default_factory=list)
    programs: list[ProgramRow] = field(default_factory=list)
    accuracy: list[AccuracyRow] = field(default_factory=list)
    curves: list[Curve] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class PaperPlan:
    """How many pairs."""

    long: int  # of each group of lengths
    slow: int  # of each group, for what begins at 0
    programs: int  # solved by HiGHS, too
    program_seconds: float
    tuning: int  # gold pairs that figures are also given without


def join_pairs(pairs: list[SentencePair], least: int, most: int, count: int) -> list[SentencePair]:
    """Return pairs whose longer side has so many words, made of as many of the given ones as that takes."""
    found: list[SentencePair] = []
    source: list[str] = []
    target: list[str] = []
    for pair in pairs:
        source, target = source + pair.source, target + pair.target
        longest = max(len(source), len(target))
        if least <= longest <= most:
            found.append(SentencePair(source, target, pair.line))
        if longest >= least:
            source, target = [], []
    return found[:count]


def run(
    plan: PaperPlan, aligner: certus.Aligner, test: list[SentencePair], gold: list[GoldLinks], tell: Tell
) -> PaperReport:
    """Decode the two HMMs of an aligner in all ways."""
    report = PaperReport()
    _compare_solvers(report, plan, aligner, test, tell_part(tell, 0, 0.7))
    tell("integer programs", 0.7)
    _solve_programs(report, plan, aligner, test)
    tell("table 2", 0.9)
    _judge_links(report, plan, [aligner.potentials(pair.source, pair.target) for pair in test], gold)
    return report


def _compare_solvers(
    report: PaperReport, plan: PaperPlan, aligner: certus.Aligner, test: list[SentencePair], tell: Tell
) -> None:
    traced: dict[str, list[tuple[Alignment, float]]] = {name: [] for name in CURVES}
    for group, (words, (least, most)) in enumerate(GROUPS.items()):
        pairs = join_pairs(test, least, most, plan.long)
        all_problems = [aligner.potentials(pair.source, pair.target).arguments for pair in pairs]
        hard = [False] * len(all_problems)
        best_scores = {
            agreement: [align_matrix(**one, agreement=agreement).score for one in all_problems]
            for agreement in (ADJACENT, FULL, PRICED)
        }
        for number, (name, (method, agreement)) in enumerate(SOLVERS.items()):
            problems = all_problems[: plan.slow] if name in SLOW else all_problems
            if not problems:
                continue
            tell(f"{name}, {words} words", (group + number / len(SOLVERS)) / len(GROUPS))
            timed = [
                time_call(partial(align_matrix, **one, agreement=agreement, method=method, seconds=LIMIT))
                for one in problems
            ]
            answers = [found for _, found in timed]
            best = best_scores[agreement][: len(problems)]
            report.failures += _find_wrong(name, answers, best)
            if name == "LR":
                hard = [not found.optimal for found in answers]
            if name in traced:
                traced[name] += zip(answers, best, strict=True)
            report.solvers.append(_summarize(name, words, timed, best, hard))
    report.curves = [_average(name, found) for name, found in traced.items() if found]


def _find_wrong(name: str, answers: list[Alignment], best: list[float]) -> list[str]:
    wrong = (
        found.bound < score - 1e-6 or found.score > score + 1e-6 or (found.optimal and found.gap > 1e-6)
        for found, score in zip(answers, best, strict=True)
    )
    return [f"{name}: a bound is too low, or a score too high"] if any(wrong) else []


def _summarize(
    name: str, words: str, timed: list[tuple[float, Alignment]], best: list[float], hard: list[bool]
) -> SolverRow:
    seconds = [taken for taken, _ in timed]
    constraints = [
        found.stats["constraints"] for (_, found), is_hard in zip(timed, hard, strict=True) if is_hard
    ] if name == "CONS" else []  # fmt: skip
    return SolverRow(
        name,
        words,
        len(timed),
        sum(found.optimal for _, found in timed),
        sum(found.score >= score - 1e-6 for (_, found), score in zip(timed, best, strict=True)),
        float(np.mean(seconds)),
        float(np.median(seconds)),
        max(seconds),
        float(np.mean(constraints)) if constraints else None,
    )


def _average(name: str, traced: list[tuple[Alignment, float]]) -> Curve:
    """Return averages over pairs; a search that ended stays where it was."""

    def extend(values: NDArray[np.float64] | None, best: float) -> NDArray[np.float64]:
        assert values is not None
        found = np.full(POINTS[-1], values[-1])
        found[: len(values)] = values
        return found - best

    def average(what: str, *, relative: bool = True) -> list[float]:
        rows = [extend(getattr(one.trace, what), best if relative else 0.0) for one, best in traced]
        return [float(x) for x in np.mean(rows, 0)]

    return Curve(
        name, average("dual"), average("primal"), average("intersection"), average("space", relative=False)
    )


def _solve_programs(
    report: PaperReport, plan: PaperPlan, aligner: certus.Aligner, test: list[SentencePair]
) -> None:
    """Hold our search against HiGHS on pairs of 21 to 30 words, spread over the file."""
    fitting = [pair for pair in test if 21 <= max(len(pair.source), len(pair.target)) <= 30]
    step = max(1, len(fitting) // max(plan.programs, 1))
    for pair in fitting[::step][: plan.programs]:
        given = aligner.potentials(pair.source, pair.target)
        seconds, found = time_call(partial(align_matrix, **given.arguments, agreement=ADJACENT))
        problem = make_problem(given)
        taken, program = time_call(
            partial(
                solve_program,
                problem.source,
                problem.target,
                problem.source_steps,
                problem.target_steps,
                ADJACENT,
                plan.program_seconds,
            )
        )
        same = program.score is not None and abs(program.score - found.score) < 1e-4
        if program.proven and not same:
            report.failures.append("an integer program has another best score")
        words = len(pair.source), len(pair.target)
        report.programs.append(ProgramRow(words, taken, program.proven, seconds, same))


def make_problem(given: Potentials) -> AgreementProblem:
    """Return the problem of a pair, laid out."""
    null = given.forward_null, given.backward_null
    return read_problem(
        given.forward, given.backward, null, given.forward_steps, given.backward_steps, ADJACENT
    )


def _find_paths(given: Potentials) -> tuple[list[Link], list[Link]]:
    """Return the links of each direction's best path by itself."""
    problem = make_problem(given)
    found: list[list[Link]] = []
    for choices, steps in (
        (problem.target, problem.target_steps),
        (problem.source, problem.source_steps),
    ):
        if not choices.size:
            found.append([])
            continue
        assert steps is not None
        labels = certus.Chain(steps, start=steps[0]).decode(choices).labels
        found.append([(int(value) - 1, word) for word, value in enumerate(labels) if value])
    return found[0], [(word, value) for value, word in found[1]]


def _judge_links(
    report: PaperReport, plan: PaperPlan, pairs: list[Potentials], gold: list[GoldLinks]
) -> None:
    paths = [_find_paths(given) for given in pairs]
    for merge in ("union", "intersection", "grow-diag"):
        links = [symmetrize(*both, merge) for both in paths]
        report.accuracy.append(_judge("DIR", merge, links, gold, plan))
    for merge in ("union", "intersection", "grow-diag"):
        method: AlignMethod = DualDecomposition(merge=merge)
        links = [align_matrix(**one.arguments, agreement=ADJACENT, method=method).links for one in pairs]
        report.accuracy.append(_judge("D&M", merge, links, gold, plan))
    for name in ("CONS", "exact, full", "exact", "exact, soft"):
        method, agreement = SOLVERS[name]
        links = [align_matrix(**one.arguments, agreement=agreement, method=method).links for one in pairs]
        report.accuracy.append(_judge(name, "", links, gold, plan))


def _judge(
    model: str, merge: str, links: list[tuple[Link, ...]], gold: list[GoldLinks], plan: PaperPlan
) -> AccuracyRow:
    predicted = [GoldLinks(frozenset(one), frozenset(one)) for one in links]
    found, phrases = compare_links(gold, predicted), compare_phrases(gold, predicted)
    held_out = compare_links(gold[plan.tuning :], predicted[plan.tuning :])
    return AccuracyRow(
        model,
        merge,
        found.aer,
        held_out.aer,
        found.precision,
        found.recall,
        phrases.precision,
        phrases.recall,
        phrases.f1,
    )
