"""Redoes the experiment of Rush et al. (2010, §7.2): ``certus bench joint``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

from certus.annotation.trees import Tree
from certus.evaluation.evalb import compare
from certus.relax import Subgradient
from certus.solution import Solution
from certus.syntax.joint.parsing import JointParse, parse_fixed
from certus_bench.environment import describe
from certus_bench.joint import program
from certus_bench.joint.claims import AFTER_K, FIXED, JOINT
from certus_bench.joint.models import Models, learn
from certus_bench.joint.plan import KS, PAPER, PATIENCE, PROOF, AtK, K, Plan, Quality, Report, Solved, Timed

Tell = Callable[[str, float], None]

_ROOT: dict[str, Any] = {"max_nodes": 1, "tighten": False}  # the relaxation alone
_PAPERS = Subgradient(rule="halving", step=0.5)
_WAYS: dict[str, dict[str, Any]] = {
    PAPER: {"optimizer": _PAPERS, "max_iterations": PATIENCE, **_ROOT},
    PROOF: {},
}
SHORTEST, LONGEST = 15, 25  # words of the sentences that HiGHS gets
CLOSE = 1e-5  # what HiGHS may be off by: its feasibility tolerance, times the numbers of a sentence


def run(plan: Plan, tell: Tell = lambda _, __: None) -> Report:
    """Measure what a plan asks for.

    Args:
        plan: what to do.
        tell: called with a line about what is being measured and the share of the work that is done.
    """
    report = Report(plan, describe({}))
    models = learn(plan, report, lambda text, share: tell(text, 0.2 * share))
    answers = {}
    for n, method in enumerate(_WAYS):

        def step(text: str, share: float, n: int = n) -> None:
            tell(text, 0.2 + 0.23 * (n + share))

        answers[method] = _solve(models, report, method, step)
    tell("fixed tags", 0.66)
    fixed = parse_fixed(models.grammar, models.tagger, [tree.words for tree in models.test])
    after = _after(models, answers[PAPER], K)
    for what, found in ((FIXED, fixed), (AFTER_K, after), (JOINT, answers[PROOF])):
        report.quality.append(_quality(what, models.test, found))
    tell("stopping after K iterations", 0.68)
    report.curve = [_at(models, answers[PAPER], after, k) for k in KS]
    _time(models, report, lambda text, share: tell(text, 0.75 + 0.25 * share))
    return report


def _solve(models: Models, report: Report, method: str, tell: Tell) -> list[JointParse]:
    answers = []
    for n, tree in enumerate(models.test):
        tell(f"{method}: sentence {n + 1} of {len(models.test)}", n / len(models.test))
        begin = perf_counter()
        found = models.parser.parse(tree.words, robust=True, **_WAYS[method])
        seconds = perf_counter() - begin
        answers.append(found)
        if found.pruning is None:
            continue  # no tree has tags that the tagger knows: there is nothing to solve
        report.solved.append(
            Solved(n, len(tree.words), method, found.iterations, found.nodes, found.optimal, found.score,
                   found.bound, seconds, found.pruning)
        )  # fmt: skip
    _check(report, method)
    return answers


def _check(report: Report, method: str) -> None:
    """Proven answers of different ways have to be equally good."""
    proven = {row.sentence: row.score for row in report.of(PAPER) if row.proven}
    for row in report.of(method):
        other = proven.get(row.sentence)
        if row.proven and other is not None and abs(row.score - other) > 1e-6:
            report.failures.append(
                f"{method} proves {row.score} for sentence {row.sentence}, and {PAPER} {other}"
            )


def _after(models: Models, solved: Sequence[JointParse], k: int) -> list[JointParse]:
    """Return the answers after at most k iterations of the paper's method."""
    limits = {**_WAYS[PAPER], "max_iterations": k}
    return [
        found
        if found.pruning is None or (found.optimal and found.iterations <= k)
        else models.parser.parse(tree.words, robust=True, **limits)
        for tree, found in zip(models.test, solved, strict=True)
    ]


def _at(models: Models, solved: Sequence[JointParse], last: Sequence[JointParse], k: int) -> AtK:
    found = _after(models, solved, k)
    known = [one for one in found if one.pruning is not None]
    return AtK(
        k,
        100 * compare(models.test, [one.tree for one in found]).total.f1,
        100 * sum(one.optimal for one in known) / max(1, len(known)),
        100 * sum(one.tree == other.tree for one, other in zip(found, last, strict=True)) / len(found),
    )


def _quality(what: str, gold: Sequence[Tree], found: Sequence[Solution]) -> Quality:
    spans = compare(gold, [one.value for one in found]).total.spans
    pairs = [
        (a, b)
        for right, one in zip(gold, found, strict=True)
        for a, b in zip(right.tags, one.value.tags, strict=True)
    ]
    return Quality(
        what,
        100 * spans.precision,
        100 * spans.recall,
        100 * spans.f1,
        100 * sum(a == b for a, b in pairs) / len(pairs),
        len(gold),
        sum(not one.optimal and one.bound in (float("inf"), float("-inf")) for one in found),
    )


def _time(models: Models, report: Report, tell: Tell) -> None:
    """Solve the same sentences here and by HiGHS, which is given the forest of all trees."""
    words = [tree.words for tree in models.test if SHORTEST <= len(tree.words) <= LONGEST]
    step = max(1, len(words) // max(1, report.plan.timed))
    chosen = words[::step][: report.plan.timed]
    for n, sentence in enumerate(chosen):
        tell(f"HiGHS: sentence {n + 1} of {len(chosen)}", n / len(chosen))
        begin = perf_counter()
        found = models.parser.parse(sentence)
        ours = perf_counter() - begin
        if found.pruning != models.parser.pruning:
            continue
        problem = next(models.parser.problems(sentence)).packed()
        times, scores, whole, size = [], [found.score], False, 0
        for integer in (False, True):
            begin = perf_counter()
            outcome = program.solve(problem, integer=integer, seconds=report.plan.seconds, give_up=True)
            times.append(perf_counter() - begin)
            if outcome is None:
                continue  # out of time: the time is what it had
            size = outcome.variables
            if integer:
                scores.append(outcome.score)
            else:
                whole = outcome.pair is not None
        cut = _cut(models, sentence, scores)
        difference = max(scores) - min(scores)
        report.timed.append(Timed(len(sentence), ours, times[0], times[1], cut, size, whole, difference))
        if difference > CLOSE * (1 + abs(found.score)):
            report.failures.append(f"HiGHS and Certus differ by {difference:.2g} on: {' '.join(sentence)}")


def _cut(models: Models, words: list[str], scores: list[float]) -> float | None:
    """Time HiGHS on the trees that can be in the best pair.

    The best pair scores at least what the tagger's best tags score with their best tree; no sequence scores
    more than these tags; so no tree of a better pair scores less than that one.
    """
    begin = perf_counter()
    fixed = parse_fixed(models.grammar, models.tagger, [words])[0]
    if not fixed.optimal:
        return None
    problem = next(models.parser.problems(words)).packed(at_least=fixed.score - CLOSE)
    outcome = program.solve(problem, integer=True)
    seconds = perf_counter() - begin
    if outcome is not None:
        scores.append(outcome.score)
    return seconds
