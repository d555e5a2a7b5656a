"""A short attack on every kind of problem; ``make attack`` is the long one. And the judge is judged."""

from __future__ import annotations

from typing import Any

import pytest

from certus import Infeasible, KBest, Solution, Status
from tests.attack.attack import Exact, Question, Truth
from tests.attack.judge import judge
from tests.attack.kinds import SMOKE
from tests.attack.watchdog import Plan, run

TRUTH = Truth({(0,): Exact(1.0, 0.0), (1,): Exact(2.0, 0.0), (2,): Exact(2.0, 0.0)})
NOTHING = Truth({})


@pytest.mark.parametrize(("kind", "problems"), SMOKE.items())
def test_no_answer_is_worse_than_claimed(kind: str, problems: int) -> None:
    outcome = run(Plan(kind, problems=problems, patience=60))
    assert not outcome.findings, "\n".join(finding.text for finding in outcome.findings.values())
    assert outcome.problems == problems


def test_lies_errors_crashes_and_hangs_are_found() -> None:
    outcome = run(Plan("planted:Planted", problems=12, patience=2))
    assert {(method, kind) for method, kind in outcome.findings} == {
        ("solver 1", "false proof"),
        ("solver 1", "low bound"),
        ("solver 2", "error ZeroDivisionError"),
        ("solver 3", "crash"),
        ("solver 4", "hang"),
    }
    assert outcome.counts["solver 0", "proven"] > 0
    assert "PlantedProblem(defect=3)" in outcome.findings["solver 3", "crash"].text


def make(value: tuple[int, ...], score: float, bound: float, status: Status = Status.OPTIMAL) -> Any:
    made = Solution(value, score, bound, Status.FEASIBLE)
    made.status = status  # which the constructor would refuse to some of these lies
    return made


@pytest.mark.parametrize(
    ("answer", "faults"),
    [
        (make((1,), 2.0, 2.0), set()),
        (make((2,), 2.0, 2.0), set()),
        (make((0,), 1.0, 2.5, Status.SECONDS), {"unproven"}),
        (make((0,), 1.0, 1.0), {"false proof", "low bound"}),
        (make((0,), 1.0, 1.5, Status.NODES), {"low bound", "unproven"}),
        (make((1,), 2.5, 2.5), {"wrong score"}),
        (make((3,), 2.0, 2.0), {"invented"}),
        (make((1,), 2.0, 3.0), {"status"}),
        (make((1,), 2.0, 2.0, Status.NODES), {"status", "unproven"}),
        (make((), -float("inf"), -float("inf"), Status.INFEASIBLE), {"not infeasible"}),
        (KBest([make((1,), 2.0, 2.0), make((2,), 2.0, 2.0), make((0,), 1.0, 1.0)], exhausted=True), set()),
        (KBest([make((1,), 2.0, 2.0), make((0,), 1.0, 1.0)]),
         {"false proof", "low bound", "wrong list", "unproven"}),
        (KBest([make((1,), 2.0, 2.0), make((1,), 2.0, 2.0), make((0,), 1.0, 1.0)], exhausted=True),
         {"false proof", "low bound", "invented"}),
        (KBest([make((1,), 2.0, 2.0), make((2,), 2.0, 2.0)], exhausted=True), {"false proof", "wrong list"}),
    ],
)  # fmt: skip
def test_what_is_wrong_with_an_answer_is_named(answer: Any, faults: set[str]) -> None:
    k = 4 if isinstance(answer, KBest) else 1
    verdict = judge(Question("planted", lambda: answer, k=k, exact=True, infeasible="return"), TRUTH)
    assert {fault.kind for fault in verdict.faults} == faults


@pytest.mark.parametrize("mode", ["raise", "return"])
def test_infeasible_is_raised_exactly_where_it_was_asked_for(mode: Any) -> None:
    def refuse() -> Any:
        raise Infeasible("nothing is allowed")

    impossible = make((), -float("inf"), -float("inf"), Status.INFEASIBLE)
    for truth, ask, right in [
        (NOTHING, refuse, mode == "raise"),
        (NOTHING, lambda: impossible, mode == "return"),
        (TRUTH, refuse, False),
        (TRUTH, lambda: impossible, False),
    ]:
        verdict = judge(Question("planted", ask, exact=True, infeasible=mode), truth)
        assert (not verdict.faults) == right
