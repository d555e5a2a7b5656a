"""Tables 1 to 3 and figures 7a and 7b of Chang et al. (2014), by LR, CONS, dual decomposition and our search.

The models are those of the paper: two HMMs, trained by EM with agreement (Liang et al. 2006), without priors.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Group
from rich.text import Text

import certus
from certus.align import (
    ADJACENT,
    FULL,
    SOFT,
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
from certus_bench.harness import pictures
from certus_bench.harness.benchmark import Tell, tell_part
from certus_bench.harness.tables import add_title, make_table
from certus_bench.harness.timing import time_call

GROUPS = {"1–20": (1, 20), "21–40": (21, 40), "41–60": (41, 60)}  # words of the longer side
LIMIT = 5.0  # seconds per pair
PAPER_HMM: dict[str, Any] = {"model": "hmm", "sparse": 0.0, "spelling": 0.0, "stems": 0.0, "null": 0.2}
SOLVERS: dict[str, tuple[AlignMethod, Agreement]] = {
    "LR from 0": (ViterbiRelaxation(constrained_iterations=0, start="zero"), ADJACENT),
    "LR": (ViterbiRelaxation(constrained_iterations=0), ADJACENT),
    "CONS from 0": (ViterbiRelaxation(start="zero"), ADJACENT),
    "CONS": (ViterbiRelaxation(), ADJACENT),
    "D&M": (DualDecomposition(), ADJACENT),
    "exact": (Exact(), ADJACENT),
    "exact, full": (Exact(), FULL),
    "exact, soft": (Exact(), SOFT),
}
SLOW = ("LR from 0", "CONS from 0")
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
            for agreement in (ADJACENT, FULL, SOFT)
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


def lay_out(report: PaperReport, plan: PaperPlan) -> Iterator[Group]:
    """Yield the tables."""
    table = make_table("solver", "words", "pairs", "proven %", "exact %", "mean s", "median s", "slowest s")
    for row in report.solvers:
        shares = [f"{100 * count / max(row.pairs, 1):.1f}" for count in (row.proven, row.exact)]
        times = [f"{x:.4f}" for x in (row.mean, row.median, row.slowest)]
        table.add_row(Text(row.solver, "cyan"), row.words, str(row.pairs), *shares, *times)
    yield add_title(f"table 1: joint decoding of two HMMs, at most {LIMIT:g} s per pair", table)
    table = make_table("table 3: constraints added where LR does not prove", *GROUPS)
    added = [row.constraints for row in report.solvers if row.solver == "CONS"]
    table.add_row("CONS", *("–" if count is None else f"{count:.1f}" for count in added))
    yield Group(table)
    if report.programs:
        yield _lay_out_programs(report.programs, plan)
    table = make_table("model", "merged by", "AER", "precision", "recall", "phrases: P", "R", "F1")
    for one in report.accuracy:
        figures = (one.precision, one.recall, one.phrase_precision, one.phrase_recall, one.phrase_f1)
        aer = f"{100 * one.aer:.2f} ({100 * one.aer_held_out:.2f})"
        table.add_row(Text(one.model, "cyan"), one.merge, aer, *(f"{100 * x:.1f}" for x in figures))
    yield add_title(f"table 2: links and phrase pairs, % (AER without the first {plan.tuning} pairs)", table)
    yield _lay_out_curves(report.curves)


def _lay_out_programs(rows: list[ProgramRow], plan: PaperPlan) -> Group:
    table = make_table("words", "HiGHS s", "proven", "Certus s", "same score", "HiGHS / Certus")
    for row in rows:
        words = f"{row.words[0]} and {row.words[1]}"
        ratio = f"{row.program_seconds / row.seconds:,.0f}"
        cells = [str(row.program_proven), f"{row.seconds:.4f}", str(row.same), ratio]
        table.add_row(words, f"{row.program_seconds:.1f}", *cells)
    mean = [float(np.mean([getattr(row, name) for row in rows])) for name in ("program_seconds", "seconds")]
    proven = sum(row.program_proven for row in rows)
    table.add_row(
        "mean", f"{mean[0]:.1f}", f"{proven}/{len(rows)}", f"{mean[1]:.4f}", "", f"{mean[0] / mean[1]:,.0f}"
    )
    return add_title(f"integer programs, HiGHS with at most {plan.program_seconds:g} s", table)


def _lay_out_curves(curves: list[Curve]) -> Group:
    table = make_table("figure 7, average", *(f"{point}" for point in POINTS))
    for curve in curves:
        for what in ("dual", "primal", "intersection", "space"):
            values = [getattr(curve, what)[point - 1] for point in POINTS]
            texts = [f"{value:.3f}" if what == "space" else f"{value:+.2f}" for value in values]
            table.add_row(Text(f"{curve.solver}: {what}", "cyan"), *texts)
    return add_title(
        "scores less the best one, and share of transitions left, after so many iterations", table
    )


def paint(report: PaperReport) -> Any:
    """Draw figures 7a and 7b."""
    figure = pictures.make_figure(10.5, 4.4)
    left, right = figure.subplots(1, 2)
    for curve in report.curves:
        style = ":" if curve.solver in SLOW else "-"
        places = range(1, len(curve.dual) + 1)
        for what, colour in (
            ("dual", pictures.RED),
            ("primal", pictures.TEAL),
            ("intersection", pictures.GREY),
        ):
            values = getattr(curve, what)
            left.plot(places, values, style, color=colour, label=f"{what}, {curve.solver}")
        right.plot(places, curve.space, style, color=pictures.BLUE, label=curve.solver)
    left.set_ylim(-100, 100)
    pictures.dress_axes(left, "Bound and scores less the best score", "iteration", "average over pairs")
    pictures.dress_axes(right, "Search space left by pruning", "iteration", "share of transitions")
    return figure
