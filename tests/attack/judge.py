"""Compares what the library answered with the truth: one function for all kinds of problems."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

from certus import Infeasible, InvalidInput, KBest, Solution, Status
from tests.attack.attack import Exact, Question, Truth

FAULTS = (
    "false proof",  # optimal, or all there are, but it is not
    "not infeasible",  # nothing is allowed, it says, but something is
    "low bound",  # below the optimum
    "wrong score",  # not that of the structure
    "invented",  # a structure that is not allowed, does not exist, or was listed before
    "wrong list",  # too many, too few, not in order
    "status",  # optimal without score and bound meeting, or they meet and it is not optimal
    "unproven",  # by a method that promises a proof
    "mismatch",  # answers that are neither a Solution nor a KBest
    "error",  # an exception that the input does not call for
    "crash",  # the process died
    "hang",  # no answer within the patience of the watchdog
)


class Fault(NamedTuple):
    """Something wrong with an answer."""

    kind: str
    detail: str


class Verdict(NamedTuple):
    """What a question came to."""

    proven: bool
    faults: list[Fault]


def judge(question: Question, truth: Truth) -> Verdict:
    """Ask a question and judge the answer."""
    truth = question.truth or truth
    try:
        answer = question.ask()
    except Infeasible as error:
        return Verdict(True, list(_judge_infeasible(question, truth, str(error))))
    except Exception as error:  # whatever it is, it is a finding
        if question.may_refuse and isinstance(error, InvalidInput) and question.may_refuse in str(error):
            return Verdict(False, [])
        return Verdict(False, [Fault("error", f"{type(error).__name__}: {error}")])
    if isinstance(answer, list):
        return Verdict(False, [Fault("mismatch", detail) for detail in answer])
    if isinstance(answer, KBest):
        proven = all(solution.optimal for solution in answer)
        return Verdict(proven, list(_judge_list(question, truth, answer)))
    proven = answer.optimal or answer.status is Status.INFEASIBLE
    return Verdict(proven, list(_judge_one(question, truth, answer)))


def _judge_infeasible(question: Question, truth: Truth, message: str) -> Iterator[Fault]:
    best = truth.list_best(1)
    if best:
        yield Fault("not infeasible", f"Infeasible, but a structure scores {best[0].score!r}: {message}")
    elif question.infeasible == "return":
        yield Fault("status", f'infeasible="return", but Infeasible was raised: {message}')


def _judge_one(question: Question, truth: Truth, answer: Solution[Any]) -> Iterator[Fault]:
    best = truth.list_best(1)
    if answer.status is Status.INFEASIBLE:
        if best:
            yield Fault("not infeasible", f"status INFEASIBLE, but a structure scores {best[0].score!r}")
        elif question.infeasible == "raise":
            yield Fault("status", 'infeasible="raise", but status INFEASIBLE was returned')
        if not answer.score == answer.bound == -math.inf:
            yield Fault("status", f"INFEASIBLE with score {answer.score!r} and bound {answer.bound!r}")
        return
    if (question.exact or question.settles) and not best:
        yield Fault("unproven", f"nothing is allowed, but the answer is {answer!r}")
    elif question.exact and not answer.optimal:
        yield Fault("unproven", f"{answer!r} with bound {answer.bound!r}")
    rest = best[0] if best else None
    yield from _judge_ranked(question, truth, answer, rest)
    if not answer.optimal and math.isfinite(answer.score) and answer.bound <= answer.score:
        yield Fault("status", f"{answer.status.name}, but bound {answer.bound!r} <= score {answer.score!r}")


def _judge_ranked(
    question: Question, truth: Truth, answer: Solution[Any], rest: Exact | None
) -> Iterator[Fault]:
    """Judge an answer where ``rest`` is the best of the structures that were not listed before it."""
    exact = None
    if answer.score > -math.inf or answer.optimal:  # a NaN is not: a merge of links that nothing scores
        exact = truth.find(question.read(answer.value))
        if exact is None:
            yield Fault("invented", f"{answer!r} is not an allowed structure")
        elif not abs(answer.score - exact.score) <= exact.rounding:
            yield Fault("wrong score", f"score {answer.score!r}, but {answer!r} scores {exact.score!r}")
    rounding = truth.slack + (exact.rounding if exact else 0.0) + (rest.rounding if rest else 0.0)
    if rest is not None and not answer.bound >= rest.score - rounding:
        yield Fault("low bound", f"bound {answer.bound!r}, but a structure scores {rest.score!r}")
    if answer.optimal:
        if rest is not None and exact is not None and not exact.score >= rest.score - rounding:
            yield Fault("false proof", f"optimal at {exact.score!r}, but a structure scores {rest.score!r}")
        if not abs(answer.bound - answer.score) <= rounding:
            yield Fault("status", f"optimal, but score {answer.score!r} and bound {answer.bound!r}")
    if answer.bound < answer.score - rounding:
        yield Fault("status", f"bound {answer.bound!r} below score {answer.score!r}")


def _judge_list(question: Question, truth: Truth, answer: KBest[Any]) -> Iterator[Fault]:
    best = truth.list_best(question.k + 1)
    exists = min(len(best), question.k)
    if not best and question.infeasible == "raise" and (question.exact or answer.exhausted):
        yield Fault("status", 'infeasible="raise", but nothing was raised where nothing is allowed')
    if len(answer) > question.k:
        yield Fault("wrong list", f"{len(answer)} structures, but k is {question.k}")
    if question.exact and len(answer) != exists:
        yield Fault("wrong list", f"{len(answer)} of {exists} structures; k is {question.k}")
    if answer.exhausted and len(best) > len(answer):
        yield Fault("false proof", f"exhausted after {len(answer)}, but there are more")
    if question.exact and exists < question.k and not answer.exhausted:
        yield Fault("unproven", f"all {exists} structures are listed, but exhausted is False")
    seen = set()
    left = [exact.score for exact in best]
    # Ranks are found by how much they lose to the best: they are as exact as the largest sum of the list.
    rounding = max((exact.rounding for exact in best), default=0.0)
    for rank, solution in enumerate(answer, 1):
        structure = question.read(solution.value)
        rest = Exact(left[0], rounding) if left else None
        yield from _judge_ranked(question, truth, solution, rest)
        if question.exact and not solution.optimal:
            yield Fault("unproven", f"rank {rank}: {solution!r}")
        exact = truth.find(structure)
        if structure in seen:
            yield Fault("invented", f"rank {rank} repeats {solution!r}")
        elif exact is not None and exact.score in left:
            left.remove(exact.score)
        seen.add(structure)
    scores = [float(score) for score in answer.scores]
    if any(a < b - rounding for a, b in itertools.pairwise(scores)):
        yield Fault("wrong list", f"scores are not decreasing: {scores}")
