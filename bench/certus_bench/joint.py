"""``certus bench joint``: parsing and tagging jointly, the tables and figures of Rush et al. (2010)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

from certus.annotation.trees import Tree, prepare_tree
from certus.errors import InvalidInput
from certus.evaluation.evalb import compare
from certus.formats import brackets, build
from certus.models.parser import ConstituencyParser
from certus.models.tagger import Tagger
from certus.relax import Subgradient
from certus.solution import Solution
from certus.syntax.constituency.grammar import Grammar
from certus.syntax.joint.parsing import JointParse, JointParser, parse_fixed, parse_jointly
from certus_bench.harness.benchmark import Benchmark, Tell, keep_quiet, tell_part
from certus_bench.harness.environment import describe_machine, find_versions
from certus_bench.harness.options import Data, flag_quick, require_data
from certus_bench.harness.timing import time_call
from certus_bench.joint_arrays import write_arrays
from certus_bench.joint_program import solve_program
from certus_bench.joint_report import (
    AFTER_K,
    FIXED,
    JOINT,
    KS,
    PAPER,
    PATIENCE,
    PROOF,
    AtK,
    JointPlan,
    JointReport,
    K,
    Quality,
    Solved,
    Timed,
    lay_out,
    make_claims,
    paint,
)


def make_plan(
    data: Data = None,
    quick: Annotated[bool, flag_quick("Learn from 600 trees, test on 40: a first look.")] = False,
) -> JointPlan:
    """Parse and tag jointly, as Rush et al. (2010): iterations, certificates, accuracy, times beside HiGHS.

    Learns from the first 3,500 trees of the treebank and tests on the others. The last table holds the
    promises of the documentation against this machine. HiGHS (certus[ilp]) takes most of the time.
    """
    plan = JointPlan(data=require_data(data))
    return plan.hurry() if quick else plan


@dataclass(frozen=True)
class Models:
    """What is tested, and on what."""

    grammar: Grammar  # learned from all trees but those of the test
    tagger: Tagger  # likewise; of order 2
    weight: float  # of the tagger, chosen by models that had not seen the end of the training trees
    test: list[Tree]  # trees to compare with

    @property
    def parser(self) -> JointParser:
        """Both together."""
        return JointParser(self.grammar, self.tagger, weight=self.weight)


def learn_models(plan: JointPlan, report: JointReport, tell: Tell) -> Models:
    """Choose the weight on trees held out, then learn from all."""
    tell("reading the treebank", 0.0)
    trees = list(brackets.read(plan.file))
    if len(trees) <= plan.train:
        raise InvalidInput(
            f"{plan.file} has {len(trees)} trees; the benchmark learns from {plan.train} of them"
        )
    train, rest = trees[: plan.train], trees[plan.train :]
    held_out = train[-plan.held_out :]
    tell("learning without the trees held out", 0.05)
    grammar, tagger = _fit_both(plan, train[: -plan.held_out])
    tell("choosing the weight", 0.3)
    trials = try_weights(grammar, tagger, held_out)
    report.tuning = [(trial.weight, 100 * trial.f1, 100 * trial.tags) for trial in trials]
    report.weight = choose_trial(trials).weight
    tell("learning from all", 0.8)
    grammar, tagger = _fit_both(plan, train)
    test = [tree for tree in map(prepare_tree, islice(rest, plan.test)) if tree is not None]
    return Models(grammar, tagger, report.weight, test)


def _fit_both(plan: JointPlan, trees: Sequence[Tree]) -> tuple[Grammar, Tagger]:
    """Learn separately, as in the paper."""
    plain = [tree for tree in map(prepare_tree, trees) if tree is not None]
    sentences = [build(tree.words, {"xpos": tree.tags}) for tree in plain]
    tagger = Tagger("xpos", "pruned-crf", order=2, epochs=plan.epochs)
    return ConstituencyParser().fit(trees).grammar, tagger.fit(sentences)


if TYPE_CHECKING:
    from certus.models.tagger import Tagger
    from certus.syntax.constituency.grammar import Grammar

WEIGHTS = (0.5, 1.0, 1.5, 2.0, 3.0, 5.0)


@dataclass(frozen=True)
class Trial:
    """How good trees are with one weight."""

    weight: float  # of the tagger's score
    f1: float  # of labelled brackets, from 0 to 1
    tags: float  # accuracy of the tags, from 0 to 1


def try_weights(
    grammar: Grammar,
    tagger: Tagger,
    trees: Iterable[Tree],
    *,
    weights: Sequence[float] = WEIGHTS,
    **options: Any,
) -> list[Trial]:
    """Parse the words of trees with several weights; ``choose_trial`` chooses among what comes out.

    Args:
        grammar: as for ``parse_jointly``, and learned from other trees.
        tagger: likewise.
        trees: to compare with.

    Other args:
        weights: to try.
        **options: of ``parse_jointly``.
    """
    gold = [tree for tree in map(prepare_tree, trees) if tree is not None]
    if not gold or not len(weights):
        raise InvalidInput("to choose a weight takes at least one tree to compare with and one weight to try")
    words = [tree.words for tree in gold]
    trials = []
    for weight in weights:
        answers = parse_jointly(grammar, tagger, words, weight=weight, cover=True, **options)
        report = compare(gold, [answer.tree for answer in answers]).total
        trials.append(Trial(float(weight), report.f1, report.tags.accuracy))
    return trials


def choose_trial(trials: Sequence[Trial]) -> Trial:
    """Return the trial whose brackets and tags are best, by the mean of the two errors' shares.

    Brackets are wrong ten times as often as tags; taken as shares of their mean over the trials, both count
    alike. The first of equals is returned.
    """
    f1 = sum(1 - trial.f1 for trial in trials) or 1.0
    tags = sum(1 - trial.tags for trial in trials) or 1.0
    return min(trials, key=lambda trial: (1 - trial.f1) / f1 + (1 - trial.tags) / tags)


_ROOT: dict[str, Any] = {"max_nodes": 1, "tighten": False}  # the relaxation alone
_WAYS: dict[str, dict[str, Any]] = {
    PAPER: {"optimizer": Subgradient(rule="halving", step=0.5), "max_iterations": PATIENCE, **_ROOT},
    PROOF: {},
}
SHORTEST, LONGEST = 15, 25  # words of the sentences that HiGHS gets
CLOSE = 1e-5  # what HiGHS may be off by: its feasibility tolerance, times the numbers of a sentence


def run(plan: JointPlan, tell: Tell = keep_quiet) -> JointReport:
    """Measure what a plan asks for."""
    report = JointReport(plan, describe_machine(find_versions("highspy")))
    models = learn_models(plan, report, tell_part(tell, 0.0, 0.2))
    answers = {
        method: _solve_all(models, report, method, tell_part(tell, 0.2 + 0.23 * n, 0.43 + 0.23 * n))
        for n, method in enumerate(_WAYS)
    }
    tell("fixed tags", 0.66)
    fixed = parse_fixed(models.grammar, models.tagger, [tree.words for tree in models.test])
    after = _stop_after(models, answers[PAPER], K)
    for what, found in ((FIXED, fixed), (AFTER_K, after), (JOINT, answers[PROOF])):
        report.quality.append(_measure_quality(what, models.test, found))
    tell("stopping after K iterations", 0.68)
    report.curve = [_measure_after(models, answers[PAPER], after, k) for k in KS]
    time_beside_highs(models, report, tell_part(tell, 0.75, 1.0))
    return report


def _solve_all(models: Models, report: JointReport, method: str, tell: Tell) -> list[JointParse[Tree]]:
    answers = []
    for n, tree in enumerate(models.test):
        tell(f"{method}: sentence {n + 1} of {len(models.test)}", n / len(models.test))
        call = partial(models.parser.parse, tree.words, cover=True, **_WAYS[method])
        seconds, found = time_call(call)
        answers.append(found)
        if found.pruning is None:
            continue  # no tree has tags that the tagger knows: there is nothing to solve
        report.solved.append(
            Solved(n, len(tree.words), method, found.iterations, found.nodes, found.lattice_optimal,
                   found.score, found.lattice_bound, seconds, found.pruning)
        )  # fmt: skip
    compare_proofs(report, method)
    return answers


def compare_proofs(report: JointReport, method: str) -> None:
    """Proven answers of different ways have to be equally good."""
    proven = {row.sentence: row.score for row in report.select(PAPER) if row.proven}
    for row in report.select(method):
        other = proven.get(row.sentence)
        if row.proven and other is not None and abs(row.score - other) > 1e-6:
            report.failures.append(
                f"{method} proves {row.score} for sentence {row.sentence}, and {PAPER} {other}"
            )


def _stop_after(models: Models, solved: Sequence[JointParse[Tree]], k: int) -> list[JointParse[Tree]]:
    """Return the answers after at most k iterations of the paper's method."""
    limits = {**_WAYS[PAPER], "max_iterations": k}
    return [
        found
        if found.pruning is None or (found.lattice_optimal and found.iterations <= k)
        else models.parser.parse(tree.words, cover=True, **limits)
        for tree, found in zip(models.test, solved, strict=True)
    ]


def _measure_after(
    models: Models, solved: Sequence[JointParse[Tree]], last: Sequence[JointParse[Tree]], k: int
) -> AtK:
    found = _stop_after(models, solved, k)
    known = [one for one in found if one.pruning is not None]
    return AtK(
        k,
        100 * compare(models.test, [one.tree for one in found]).total.f1,
        100 * sum(one.lattice_optimal for one in known) / max(1, len(known)),
        100 * sum(one.tree == other.tree for one, other in zip(found, last, strict=True)) / len(found),
    )


def _measure_quality(what: str, gold: Sequence[Tree], found: Sequence[Solution[Tree]]) -> Quality:
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
        sum(map(_is_unparsed, found)),
    )


def _is_unparsed(answer: Solution[Tree]) -> bool:
    """Whether no tree has tags that the tagger considers."""
    return answer.pruning is None if isinstance(answer, JointParse) else not answer.optimal


def time_beside_highs(models: Models, report: JointReport, tell: Tell) -> None:
    """Solve the same sentences here and by HiGHS, which is given the forest of all trees."""
    words = [tree.words for tree in models.test if SHORTEST <= len(tree.words) <= LONGEST]
    step = max(1, len(words) // max(1, report.plan.timed))
    chosen = words[::step][: report.plan.timed]
    for n, sentence in enumerate(chosen):
        tell(f"HiGHS: sentence {n + 1} of {len(chosen)}", n / len(chosen))
        ours, found = time_call(partial(models.parser.parse, sentence, infeasible="return"))
        if found.pruning != models.parser.pruning:
            continue
        problem = write_arrays(next(models.parser.problems(sentence)))
        times, scores, whole, size = [], [found.score], False, 0
        for integer in (False, True):
            limits: dict[str, Any] = {"seconds": report.plan.seconds, "give_up": True}
            seconds, outcome = time_call(partial(solve_program, problem, integer=integer, **limits))
            times.append(seconds)
            if outcome is None:
                continue  # out of time: the time is what it had
            size = outcome.variables
            if integer:
                scores.append(outcome.score)
            else:
                whole = outcome.pair is not None
        cut = _time_cut_forest(models, sentence, scores)
        difference = max(scores) - min(scores)
        report.highs.append(Timed(len(sentence), ours, times[0], times[1], cut, size, whole, difference))
        if difference > CLOSE * (1 + abs(found.score)):
            report.failures.append(f"HiGHS and Certus differ by {difference:.2g} on: {' '.join(sentence)}")


def _time_cut_forest(models: Models, words: list[str], scores: list[float]) -> float | None:
    """Time HiGHS on the trees that can be in the best pair.

    The best pair scores at least what the tagger's best tags score with their best tree; no sequence scores
    more than these tags; so no tree of a better pair scores less than that one.
    """
    begin = perf_counter()
    fixed = parse_fixed(models.grammar, models.tagger, [words])[0]
    if not fixed.optimal:
        return None
    problem = write_arrays(next(models.parser.problems(words)), at_least=fixed.score - CLOSE)
    outcome = solve_program(problem, integer=True)
    seconds = perf_counter() - begin
    if outcome is not None:
        scores.append(outcome.score)
    return seconds


BENCHMARK = Benchmark(
    name="joint", make_plan=make_plan, run=run, lay_out=lay_out, make_claims=make_claims, paint=paint
)
